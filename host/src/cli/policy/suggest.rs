//! `toolgate policy suggest`

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Context as _;
use jiff::Timestamp;
use serde::Serialize;
use toolgate::policy::ToolFacts;
use toolgate::suggest::{Basis, PastCalls, Suggestions, since};

use super::super::args::Cli;
use super::super::exit::Exit;
use super::super::{render, setup};

/// For programs: also which journal it is from.
#[derive(Debug, Serialize)]
struct Report<'a> {
    journal: &'a Path,
    since: Option<Timestamp>,
    records: usize,
    torn: usize,
    foreign: usize,
    #[serde(flatten)]
    suggestions: &'a Suggestions,
}

pub(crate) async fn run(cli: &Cli, from: Option<&str>) -> anyhow::Result<Exit> {
    let from = from
        .map(|text| since(text, Timestamp::now()))
        .transpose()
        .context("--since")?;
    let builder = setup::builder(&cli.setup)?;
    let journal = builder.journal_file()?;
    let host = builder.build().await?;
    let past = match past_calls(&journal, from) {
        Ok(past) => past,
        Err(error) => {
            render::note(&format!(
                "toolgate: the journal {} cannot be read: {error}",
                journal.display()
            ));
            return Ok(Exit::HostError);
        }
    };
    let tools: Vec<ToolFacts> = host.all_tools().map(|tool| tool.facts().clone()).collect();
    let policy = host.policy();
    let basis = Basis {
        policy: &policy,
        exempt: host.exempt(),
        tools: &tools,
    };
    let suggestions = Suggestions::least(&past.calls, basis);
    if cli.setup.json {
        return render::json(&Report {
            journal: &journal,
            since: from,
            records: past.records,
            torn: past.torn,
            foreign: past.foreign,
            suggestions: &suggestions,
        });
    }
    note_lines(&journal, &past);
    note_left_out(&suggestions);
    match suggestions.to_toml() {
        Some(text) => {
            render::note(
                "none of this is in force: read it, and copy what you want into a configuration",
            );
            render::out(&text);
        }
        None => render::note(&format!(
            "nothing to suggest: no call in {} needed a rule that it lacks",
            journal.display()
        )),
    }
    Ok(Exit::Done)
}

fn past_calls(journal: &Path, from: Option<Timestamp>) -> std::io::Result<PastCalls> {
    let mut past = PastCalls::default();
    let mut reader = BufReader::new(File::open(journal)?);
    past.add(&mut reader, from)?;
    Ok(past)
}

fn note_lines(journal: &Path, past: &PastCalls) {
    for (count, what) in [
        (past.torn, "cut off or not JSON"),
        (past.foreign, "JSON, but no records of calls"),
    ] {
        if count > 0 {
            render::note(&format!(
                "{}: {} passed over: {what}",
                journal.display(),
                counted(count, "line")
            ));
        }
    }
}

fn note_left_out(suggestions: &Suggestions) {
    for (why, count) in &suggestions.left_out {
        render::note(&format!(
            "left out: {} {}",
            counted(*count, "call"),
            why.as_str()
        ));
    }
}

fn counted(count: usize, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {one}{plural}")
}
