use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::Barrier;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use super::entry::{NO_HOLDS, REMEMBERED, WAITS, YES_HOLDS};
use super::*;
use crate::approval::render::tests::{request, standing};
use crate::approval::sight::look;
use crate::gate::Remembered as _;

fn queue() -> (TempDir, Queue) {
    let scratch = tempfile::tempdir().unwrap();
    let queue = Queue::open(&scratch.path().join("approvals")).unwrap();
    (scratch, queue)
}

fn write(path: &str) -> ApprovalRequest {
    request("Write", json!({"file_path": path, "content": "x"}))
}

fn ask(queue: &Queue, request: &ApprovalRequest) -> Answer {
    queue.take_or_put(request, Timestamp::now()).unwrap()
}

fn pending(queue: &Queue, request: &ApprovalRequest) -> String {
    match ask(queue, request) {
        Answer::Pending { id } => id,
        other => panic!("{other:?}"),
    }
}

fn is_yes(answer: &Answer) -> bool {
    matches!(answer, Answer::Approved { .. })
}

#[tokio::test]
async fn a_question_waits_and_its_answer_is_taken_once() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    let id = match queue.ask(&call).await {
        Answer::Pending { id } => id,
        other => panic!("{other:?}"),
    };
    assert_eq!(pending(&queue, &call), id, "one call, one question");
    assert_eq!(queue.list().unwrap().len(), 1);
    queue.allow(&id, "lara").unwrap();
    match queue.ask(&call).await {
        Answer::Approved { by, always: false } => {
            assert!(by.starts_with("the approval queue (lara, 20"), "{by}");
        }
        other => panic!("{other:?}"),
    }
    assert_ne!(pending(&queue, &call), id);
}

#[test]
fn a_refusal_is_told_once_with_its_words() {
    let (_scratch, queue) = queue();
    let id = pending(&queue, &write("a.txt"));
    queue.deny(&id, "lara", Some("not this file")).unwrap();
    let answer = ask(&queue, &write("a.txt"));
    assert!(matches!(answer, Answer::Refused { message: Some(m), .. } if m == "not this file"));
    pending(&queue, &write("a.txt"));
}

/// Neither another path nor another field is the same call, and neither uses the answer up.
#[test]
fn another_call_takes_no_answer() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    let id = pending(&queue, &call);
    queue.allow(&id, "lara").unwrap();
    let slow = request(
        "Write",
        json!({"file_path": "a.txt", "content": "x", "timeout": 600}),
    );
    for other in [write("b.txt"), slow] {
        assert_ne!(pending(&queue, &other), id);
    }
    assert!(is_yes(&ask(&queue, &call)));
    assert!(!is_yes(&ask(&queue, &call)));
}

#[test]
fn an_answer_is_for_what_was_shown() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    queue.allow(&pending(&queue, &call), "lara").unwrap();
    let mut other = write("b.txt");
    other.ticket.clone_from(&call.ticket);
    other.about.clone_from(&call.about);
    assert!(!is_yes(&ask(&queue, &other)));
}

/// A call as it is asked now.
fn now(path: &Path) -> ApprovalRequest {
    let mut call = write("a.txt");
    call.seen = look(vec![path.to_owned()], true);
    call.ticket = format!("{:?}", call.seen);
    call
}

#[test]
fn a_file_that_changed_is_asked_for_anew_and_the_question_says_so() {
    let (scratch, queue) = queue();
    let path = scratch.path().join("a.txt");
    fs::write(&path, "one\n").unwrap();
    let id = pending(&queue, &now(&path));
    assert_eq!(
        queue.find(&id).unwrap().question.preview().unwrap(),
        "@@ -1 +1 @@\n-one\n+x\n\\ no line feed at the end"
    );
    queue.allow(&id, "lara").unwrap();
    fs::write(&path, "two\n").unwrap();
    let second = pending(&queue, &now(&path));
    assert_ne!(second, id);
    assert_eq!(queue.list().unwrap().len(), 1, "in the old one's place");
    let question = queue.find(&second).unwrap().question;
    let says = format!("the yes of lara to the question '{id}' does not hold: what the call");
    assert!(question.why().contains(&says), "{}", question.why());
    assert!(question.text().contains(&says), "{}", question.text());
    assert_eq!(
        pending(&queue, &now(&path)),
        second,
        "and it keeps its word"
    );
    assert!(queue.find(&second).unwrap().question.earlier.is_some());
    queue.allow(&second, "lara").unwrap();
    assert!(is_yes(&ask(&queue, &now(&path))));
}

#[test]
fn a_yes_does_not_follow_a_link_that_leads_elsewhere() {
    let (scratch, queue) = queue();
    let link = scratch.path().join("link");
    let relink = |to: &str| {
        std::fs::remove_file(&link).ok();
        std::os::unix::fs::symlink(to, &link).unwrap();
    };
    fs::write(scratch.path().join("one"), "same").unwrap();
    fs::write(scratch.path().join("two"), "same").unwrap();
    relink("one");
    queue.allow(&pending(&queue, &now(&link)), "lara").unwrap();
    relink("two");
    assert!(!is_yes(&ask(&queue, &now(&link))));
    queue.allow(&pending(&queue, &now(&link)), "lara").unwrap();
    assert!(is_yes(&ask(&queue, &now(&link))));
}

#[test]
fn a_yes_that_is_over_is_told_of() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    let begun = Timestamp::now();
    let id = pending(&queue, &call);
    queue.allow(&id, "lara").unwrap();
    let late = begun + YES_HOLDS + Duration::from_secs(30);
    queue.list_at(late).unwrap();
    assert!(!is_yes(&queue.take_or_put(&call, late).unwrap()));
    let question = read_or_name(&queue.path_of(&call.about)).unwrap().question;
    let says = format!("the yes of lara to the question '{id}' is over");
    assert!(question.why().contains(&says), "{}", question.why());
}

#[test]
fn one_of_many_takes_the_answer() {
    let (_scratch, queue) = queue();
    for round in 0..20 {
        let call = write(&format!("{round}.txt"));
        queue.allow(&pending(&queue, &call), "lara").unwrap();
        let start = Barrier::new(4);
        let yes = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..4)
                .map(|_| {
                    // Each like a process of its own.
                    let queue = Queue::open(&queue.folder).unwrap();
                    let (start, call) = (&start, &call);
                    scope.spawn(move || {
                        start.wait();
                        is_yes(&ask(&queue, call))
                    })
                })
                .collect();
            racers
                .into_iter()
                .map(|racer| racer.join().unwrap())
                .filter(|yes| *yes)
                .count()
        });
        assert_eq!(yes, 1);
    }
}

/// Without the lock too, only one has the answer: taking it is removing its file.
#[test]
fn an_answer_whose_file_is_gone_is_none() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    let id = pending(&queue, &call);
    let answered = queue.allow(&id, "lara").unwrap();
    let path = queue.path_of(&call.about);
    assert!(is_yes(&take(&path, answered.clone()).unwrap()));
    assert!(take(&path, answered).is_err());
}

#[test]
fn one_of_two_answers_counts() {
    let (_scratch, queue) = queue();
    let id = pending(&queue, &write("a.txt"));
    queue.deny(&id, "lara", None).unwrap();
    let late = queue.allow(&id, "john").unwrap_err().to_string();
    assert!(
        late.contains("was answered already: refused by lara"),
        "{late}"
    );
    assert!(!is_yes(&ask(&queue, &write("a.txt"))));
}

#[test]
fn questions_and_answers_survive_a_restart() {
    let (scratch, queue) = queue();
    let folder = scratch.path().join("approvals");
    let id = pending(&queue, &write("a.txt"));
    drop(queue);
    let person = Queue::open(&folder).unwrap();
    assert_eq!(person.find(&id).unwrap().question.tool, "Write");
    person.allow(&id, "lara").unwrap();
    drop(person);
    assert!(is_yes(&ask(
        &Queue::open(&folder).unwrap(),
        &write("a.txt")
    )));
}

#[test]
fn names_are_found_by_their_beginning_and_near_ones_are_named() {
    let (_scratch, queue) = queue();
    let id = pending(&queue, &write("a.txt"));
    assert_eq!(queue.find(id.get(..5).unwrap()).unwrap().id, id);
    assert_eq!(
        queue.find(&format!(" {} ", id.to_uppercase())).unwrap().id,
        id
    );
    assert!(matches!(queue.find(""), Err(QueueError::Unknown { .. })));
    let near = format!("{}u", id.get(..7).unwrap());
    let unknown = queue.allow(&near, "lara").unwrap_err().to_string();
    assert!(
        unknown.contains(&format!("Did you mean '{id}'?")),
        "{unknown}"
    );
    for n in 0..40 {
        pending(&queue, &write(&format!("{n}.txt")));
    }
    let first: Vec<String> = queue.list().unwrap().into_iter().map(|e| e.id).collect();
    let shared = first
        .iter()
        .map(|id| &id[..1])
        .find(|letter| first.iter().filter(|id| id.starts_with(letter)).count() > 1);
    assert!(matches!(
        queue.find(shared.unwrap()),
        Err(QueueError::Ambiguous { .. })
    ));
    for refused in [
        queue.allow(shared.unwrap(), "lara"),
        queue.deny(shared.unwrap(), "lara", None),
    ] {
        assert!(matches!(refused, Err(QueueError::Ambiguous { .. })));
    }
    assert!(matches!(
        queue.allow("", "lara"),
        Err(QueueError::Unknown { .. })
    ));
    let answered = queue.allow(id.get(..7).unwrap(), "lara").unwrap();
    assert_eq!(answered.id, id);
}

#[test]
fn always_is_kept_at_once_and_only_where_there_is_a_rule() {
    let (scratch, queue) = queue();
    let answers = StandingAnswers::open(&scratch.path().join("standing.json")).unwrap();
    let id = pending(&queue, &write("a.txt"));
    assert!(matches!(
        queue.allow_always(&id, "lara", &answers),
        Err(QueueError::OnlyOnce { .. })
    ));
    let mut call = write("b.txt");
    call.standing = Some(standing("Write(/ws/b.txt)"));
    let id = pending(&queue, &call);
    let (entry, kept) = queue
        .allow_always(id.get(..7).unwrap(), "lara", &answers)
        .unwrap();
    assert_eq!(
        (entry.id, kept.rule.as_str()),
        (id.clone(), "Write(/ws/b.txt)")
    );
    let recalled = || answers.recall(&standing("Write(/ws/b.txt)"));
    assert!(recalled().is_some());
    // One answer, in one place: taken back, nothing is left of it.
    assert!(matches!(queue.find(&id), Err(QueueError::Unknown { .. })));
    answers.forget(&kept.id).unwrap();
    assert!(recalled().is_none() && !is_yes(&ask(&queue, &call)));
}

#[test]
fn always_that_cannot_be_kept_answers_nothing() {
    let (scratch, queue) = queue();
    let answers = StandingAnswers::open(&scratch.path().join("standing.json")).unwrap();
    let mut call = write("b.txt");
    let script = scratch.path().join("script");
    let mut said = standing("Bash(./script)");
    said.files = answers.bind(vec![script.clone()]).unwrap();
    call.standing = Some(said);
    let id = pending(&queue, &call);
    fs::write(&script, "new").unwrap();
    assert!(matches!(
        queue.allow_always(&id, "lara", &answers),
        Err(QueueError::NotKept { .. })
    ));
    assert_eq!(queue.find(&id).unwrap().state, State::Waiting);
    assert!(answers.list().unwrap().is_empty());
}

#[test]
fn a_yes_that_was_not_taken_can_be_taken_back() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    let id = pending(&queue, &call);
    queue.allow(&id, "lara").unwrap();
    queue.deny(&id, "lara", Some("a mistake")).unwrap();
    assert!(matches!(
        queue.allow(&id, "lara"),
        Err(QueueError::Answered { .. })
    ));
    assert!(matches!(
        queue.deny(&id, "lara", None),
        Err(QueueError::Answered { .. })
    ));
    assert!(matches!(ask(&queue, &call), Answer::Refused { .. }));
}

#[test]
fn everything_ends() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    let now = Timestamp::now();
    let second = Duration::from_secs(1);
    let take = |at| queue.take_or_put(&call, at).unwrap();
    let put = |at| match take(at) {
        Answer::Pending { id } => id,
        other => panic!("{other:?}"),
    };
    let yes = |at| State::Approved {
        by: "lara".to_owned(),
        at,
    };
    // A question.
    let id = put(now);
    let late = queue.answer(&id, yes(now + WAITS), now + WAITS);
    assert!(matches!(late, Err(QueueError::Over { .. })));
    assert_eq!(put(now + WAITS - second), id);
    let second_id = put(now + WAITS);
    assert_ne!(second_id, id);
    assert!(matches!(
        queue.allow(&id, "lara"),
        Err(QueueError::Unknown { .. })
    ));
    // A yes, whose time begins with the answer.
    let answered = now + WAITS + second;
    queue.answer(&second_id, yes(answered), answered).unwrap();
    assert!(!is_yes(&take(answered + YES_HOLDS)));
    let third = put(answered + YES_HOLDS);
    let answered = answered + YES_HOLDS + second;
    queue.answer(&third, yes(answered), answered).unwrap();
    assert!(is_yes(&take(answered + YES_HOLDS - second)));
    // A yes of the future, after the clock was set back.
    let fourth = put(now);
    queue.answer(&fourth, yes(now), now).unwrap();
    assert!(!is_yes(&take(now - Duration::from_secs(120))));
    // A no.
    let fifth = put(now);
    let no = State::Refused {
        by: "lara".to_owned(),
        at: now,
        message: None,
    };
    queue.answer(&fifth, no, now).unwrap();
    assert_eq!(queue.list_at(now + NO_HOLDS - second).unwrap().len(), 1);
    assert_eq!(queue.list_at(now + NO_HOLDS).unwrap().len(), 0);
    assert_eq!(queue.files().unwrap().len(), 1);
    queue.list_at(now + NO_HOLDS + REMEMBERED - second).unwrap();
    assert_eq!(queue.files().unwrap().len(), 1);
    queue.list_at(now + NO_HOLDS + REMEMBERED).unwrap();
    assert_eq!(queue.files().unwrap().len(), 0);
}

#[test]
fn what_cannot_be_understood_is_no_answer() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    let id = pending(&queue, &call);
    queue.allow(&id, "lara").unwrap();
    let path = queue.path_of(&call.about);
    let whole = fs::read(&path).unwrap();
    let other = queue.path_of("another ticket");
    // A copy under another name, a part, a field more, another version of the answer, an empty file.
    fs::write(&other, &whole).unwrap();
    assert_eq!(queue.list().unwrap().len(), 1);
    let text = String::from_utf8(whole.clone()).unwrap();
    for torn in [
        text.get(..text.len() / 2).unwrap().to_owned(),
        String::new(),
        text.replacen("\"id\"", "\"more\":1,\"id\"", 1),
        text.replace("\"approved\"", "\"granted\""),
    ] {
        fs::write(&path, &torn).unwrap();
        assert!(queue.list().unwrap().is_empty(), "{torn}");
        assert!(!is_yes(&ask(&queue, &call)), "{torn}");
    }
    assert!(matches!(queue.find(&id), Err(QueueError::Unknown { .. })));
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    assert!(!is_yes(&ask(&queue, &call)));
}

#[test]
fn a_folder_where_a_question_would_lie_is_no_answer() {
    let (_scratch, queue) = queue();
    let call = write("a.txt");
    fs::create_dir(queue.path_of(&call.about)).unwrap();
    assert!(queue.take_or_put(&call, Timestamp::now()).is_err());
    assert!(queue.list().unwrap().is_empty());
}

#[test]
fn the_queue_is_bounded() {
    let (_scratch, queue) = queue();
    let long = request("Write", json!({"content": "x".repeat(300_000)}));
    assert_eq!(ask(&queue, &long), Answer::Nobody);
    let now = Timestamp::now();
    let mut oldest = String::new();
    for n in 0..MAX_KEPT {
        let call = write(&format!("{n}.txt"));
        let entry = Entry::new(&call, Question::of(&call), now);
        oldest.clone_from(&entry.id);
        // Not through `put`, which brings each to the disk.
        fs::write(
            queue.path_of(&call.about),
            serde_json::to_vec(&entry).unwrap(),
        )
        .unwrap();
    }
    assert_eq!(ask(&queue, &write("more.txt")), Answer::Nobody);
    pending(&queue, &write("7.txt"));
    queue.allow(&oldest, "lara").unwrap();
    let last = write(&format!("{}.txt", MAX_KEPT - 1));
    assert!(is_yes(&ask(&queue, &last)));
    pending(&queue, &write("more.txt"));
}

#[test]
fn files_are_private_and_what_a_crash_left_is_removed() {
    let (scratch, queue) = queue();
    pending(&queue, &write("a.txt"));
    let folder = scratch.path().join("approvals");
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for file in fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
    fs::write(folder.join(".left.tmp"), "x").unwrap();
    Queue::open(&folder).unwrap();
    assert!(!folder.join(".left.tmp").exists());
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = Queue::open(&folder).unwrap_err().to_string();
    assert!(refused.contains("others may write"), "{refused}");
}
