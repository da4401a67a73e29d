//! `toolgate approvals`

use std::path::Path;

use jiff::Timestamp;
use toolgate::approval::{
    Confirmed, Entry, Question, Queue, StandingAnswer, StandingAnswers, State, Terminal,
};
use toolgate::model::visible;

use super::args::ApprovalsCommand;
use super::exit::Exit;
use super::render;

/// The most characters of a cell in a table.
const MAX_CELL: usize = 60;

/// Answers for the calls that wait in a state directory.
pub(crate) fn run(state: &Path, command: &ApprovalsCommand, json: bool) -> anyhow::Result<Exit> {
    let queue = || Queue::open(&state.join("approvals"));
    let standing = || StandingAnswers::open(&state.join("standing.json"));
    match command {
        ApprovalsCommand::List => list(&queue()?.list()?, json),
        ApprovalsCommand::Show { id } => show(&queue()?.find(id)?, json),
        ApprovalsCommand::Allow { id, always, yes } => {
            let queue = queue()?;
            let entry = queue.find(id)?;
            if !yes && !confirmed(&entry, *always)? {
                render::note(&format!("{}: nothing was answered", entry.id));
                return Ok(Exit::Denied);
            }
            // By its whole name: what was shown is what is answered.
            if *always {
                always_allowed(&queue, &entry.id, &standing()?, json)
            } else {
                let entry = queue.allow(&entry.id, &person())?;
                let id = &entry.id;
                let line = format!(
                    "{id}: approved once. The same call again runs, if it comes within 10 minutes. To take it back: \
                     toolgate approvals deny {id}"
                );
                said(&entry, json, &line)
            }
        }
        ApprovalsCommand::Deny { id, message } => {
            let entry = queue()?.deny(id, &person(), message.as_deref())?;
            let line = format!("{}: refused. The same call again hears it.", entry.id);
            said(&entry, json, &line)
        }
        ApprovalsCommand::Standing => list_standing(&standing()?.list()?, json),
        ApprovalsCommand::Forget { id } => {
            let forgotten = standing()?.forget(id)?;
            let rule = one_line(&forgotten.rule);
            let line = format!("{}: forgotten. {rule} is asked for again.", forgotten.id);
            said(&forgotten, json, &line)
        }
    }
}

fn always_allowed(
    queue: &Queue,
    id: &str,
    answers: &StandingAnswers,
    json: bool,
) -> anyhow::Result<Exit> {
    let (entry, kept) = queue.allow_always(id, &person(), answers)?;
    let line = format!(
        "{}: approved from now on: {}. To take it back: toolgate approvals forget {}",
        entry.id,
        one_line(&kept.rule),
        kept.id
    );
    said(&kept, json, &line)
}

/// Shows the question at the terminal and asks for a yes there: whoever answers has seen what they answer.
///
/// # Errors
/// There is no terminal.
fn confirmed(entry: &Entry, always: bool) -> anyhow::Result<bool> {
    let holds = match entry.question.always.as_deref().filter(|_| always) {
        Some(rule) => format!("from now on: {}", one_line(rule)),
        None => "once".to_owned(),
    };
    let asked = format!("Approve {} {holds}? [y/N] ", entry.id);
    match Terminal::confirm(&entry.question.text(), &asked) {
        Confirmed::Yes => Ok(true),
        Confirmed::No => Ok(false),
        Confirmed::Nobody => anyhow::bail!(
            "there is no terminal to ask at whether you mean it: look at it with 'toolgate approvals show {0}', then \
             answer with 'toolgate approvals allow {0} --yes'",
            entry.id
        ),
    }
}

/// Who answers, for the journal. It proves nothing: what keeps others from answering are the rights on the files.
fn person() -> String {
    let name = std::env::var("USER").unwrap_or_default();
    let user = rustix::process::getuid().as_raw();
    match name.is_empty() {
        true => format!("user {user}"),
        false => format!("{name}, user {user}"),
    }
}

fn said(value: &impl serde::Serialize, json: bool, line: &str) -> anyhow::Result<Exit> {
    if json {
        return render::json(value);
    }
    render::out(line);
    Ok(Exit::Done)
}

fn list(entries: &[Entry], json: bool) -> anyhow::Result<Exit> {
    if json {
        return render::json(&entries);
    }
    if entries.is_empty() {
        render::note("nothing waits for an answer");
        return Ok(Exit::Done);
    }
    let now = Timestamp::now();
    let mut table = render::table(&[
        "ID",
        "AGE",
        "STATE",
        "EXPIRES",
        "WORKSPACE",
        "TOOL",
        "SUBJECT",
        "WHY",
    ]);
    for entry in entries {
        table.add_row([
            entry.id.as_str(),
            &age(entry.created, now),
            entry.state.as_str(),
            &format!("in {}", age(now, entry.expires)),
            &cell(&entry.question.workspace),
            &cell(&entry.question.tool),
            &cell(&subject(&entry.question)),
            &cell(&entry.question.why()),
        ]);
    }
    render::out(&table.to_string());
    Ok(Exit::Done)
}

/// The first subject, and how many more there are.
fn subject(question: &Question) -> String {
    match question.subjects.as_slice() {
        [] => "-".to_owned(),
        [(_, only)] => only.clone(),
        [(_, first), more @ ..] => format!("{first} (and {} more)", more.len()),
    }
}

fn show(entry: &Entry, json: bool) -> anyhow::Result<Exit> {
    if json {
        return render::json(entry);
    }
    let asked = age(entry.created, Timestamp::now());
    let state = match &entry.state {
        State::Waiting => format!("waiting until {}", seconds(entry.expires)),
        State::Approved { by, at } => format!(
            "approved once by {} at {}, until {}",
            one_line(by),
            seconds(*at),
            seconds(entry.expires)
        ),
        State::Refused { by, at, message } => {
            let words = message.as_deref().map(one_line);
            let words = words.map(|words| format!(": {words}")).unwrap_or_default();
            format!("refused by {} at {}{words}", one_line(by), seconds(*at))
        }
    };
    let id = &entry.id;
    let mut shown = format!(
        "{id}: asked {asked} ago, {state}\n\n{}",
        entry.question.text()
    );
    if entry.state == State::Waiting {
        shown.push_str(&format!("\ntoolgate approvals allow {id}"));
        if let Some(rule) = &entry.question.always {
            let rule = one_line(rule);
            shown.push_str(&format!(
                "\ntoolgate approvals allow {id} --always   # from now on: {rule}"
            ));
        }
        shown.push_str(&format!("\ntoolgate approvals deny {id}\n"));
    } else if matches!(entry.state, State::Approved { .. }) {
        shown.push_str(&format!(
            "\ntoolgate approvals deny {id}   # takes the yes back\n"
        ));
    }
    render::out(&shown);
    Ok(Exit::Done)
}

fn list_standing(answers: &[StandingAnswer], json: bool) -> anyhow::Result<Exit> {
    if json {
        return render::json(&answers);
    }
    if answers.is_empty() {
        render::note("no answer stands");
        return Ok(Exit::Done);
    }
    let now = Timestamp::now();
    let mut table = render::table(&["ID", "AGE", "BY", "WORKSPACE", "BOUND TO", "RULE"]);
    for answer in answers {
        let bound = match answer.files.len() {
            0 => "-".to_owned(),
            1 => "1 file".to_owned(),
            files => format!("{files} files"),
        };
        let workspace = answer.workspace.as_ref();
        let workspace = workspace.map_or_else(
            || "any".to_owned(),
            |path| cell(&path.display().to_string()),
        );
        table.add_row([
            answer.id.as_str(),
            &age(answer.since, now),
            &cell(&answer.by),
            &workspace,
            &bound,
            // Whole: it is what the answer stands for.
            &one_line(&answer.rule),
        ]);
    }
    render::out(&table.to_string());
    Ok(Exit::Done)
}

/// How long ago, in the largest unit.
fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

fn one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n")
}

/// A text in a table: one line, cut in the middle, where `show` shows all of it.
fn cell(text: &str) -> String {
    let line = one_line(text);
    let length = line.chars().count();
    if length <= MAX_CELL {
        return line;
    }
    let half = MAX_CELL / 2;
    let head: String = line.chars().take(half).collect();
    let tail: String = line.chars().skip(length - half).collect();
    format!("{head}…{tail}")
}
