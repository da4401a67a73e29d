//! An approval is for what was seen: where the call's paths led, and what was there, when somebody was asked.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use toolgate::approval::{Question, Queue, StandingAnswers};
use toolgate::gate::{Answer, ApprovalRequest, Approver};
use toolgate::model::{SubjectField, SubjectKind};
use toolgate::policy::{Decision, ExemptLine, Mode};
use toolgate_tests::{Scratch, Setup, TestHost};

/// What happens while somebody thinks about a question: the number of the question, from 1.
type Meanwhile = Arc<dyn Fn(usize) + Send + Sync>;

/// Says yes, after something else happened; keeps what it was asked, and the text that a person would have read.
#[derive(Clone)]
struct Slow {
    asked: Arc<Mutex<Vec<(ApprovalRequest, String)>>>,
    meanwhile: Meanwhile,
    always: bool,
}

impl std::fmt::Debug for Slow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Slow")
    }
}

impl Slow {
    fn new(meanwhile: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self {
            asked: Arc::default(),
            meanwhile: Arc::new(meanwhile),
            always: false,
        }
    }

    /// One that answers "always" where it can.
    fn always() -> Self {
        Self {
            always: true,
            ..Self::new(|_| {})
        }
    }

    fn asked(&self) -> Vec<(ApprovalRequest, String)> {
        self.asked.lock().expect("not poisoned").clone()
    }

    fn count(&self) -> usize {
        self.asked().len()
    }
}

#[async_trait]
impl Approver for Slow {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let text = Question::of(request).text();
        let count = {
            let mut asked = self.asked.lock().expect("not poisoned");
            asked.push((request.clone(), text));
            asked.len()
        };
        (self.meanwhile)(count);
        Answer::Approved {
            by: "the test".to_owned(),
            always: self.always && request.always().is_some(),
        }
    }
}

async fn host(scratch: Scratch, setup: Setup, approver: Slow) -> TestHost {
    TestHost::with(scratch, setup, |builder| builder.approver(approver)).await
}

fn relink(to: &str, link: &Path) {
    fs::remove_file(link).ok();
    symlink(to, link).expect("a link");
}

fn text(path: PathBuf) -> String {
    fs::read_to_string(path).expect("a file")
}

fn write(path: &str) -> Value {
    json!({"file_path": path, "content": "new\n"})
}

/// `link.txt` to `one.txt`, and `two.txt` beside it.
fn linked() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("one.txt", "one\n");
    scratch.file("two.txt", "two\n");
    relink("one.txt", &scratch.ws.join("link.txt"));
    scratch
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_shown_with_the_difference_of_what_it_leads_to() {
    let slow = Slow::new(|_| {});
    let host = host(linked(), Setup::default(), slow.clone()).await;
    host.done("Write", write("link.txt")).await;
    let (request, shown) = slow.asked().remove(0);
    let one = host.scratch.ws.join("one.txt");
    assert_eq!(request.seen[0].real, one);
    assert!(shown.contains("Link: link.txt -> one.txt\n"), "{shown}");
    assert!(shown.contains("  | -one\n  | +new\n"), "{shown}");
    assert!(
        shown.contains(&format!("It could: write files: {}\n", one.display())),
        "{shown}"
    );
    assert_eq!(text(one), "new\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_that_was_laid_elsewhere_during_the_question_is_asked_for_again() {
    let scratch = linked();
    let link = scratch.ws.join("link.txt");
    let slow = Slow::new(move |count| {
        if count == 1 {
            relink("two.txt", &link);
        }
    });
    let host = host(scratch, Setup::default(), slow.clone()).await;
    host.done("Write", write("link.txt")).await;
    let asked = slow.asked();
    assert_eq!(asked.len(), 2);
    let (second, shown) = &asked[1];
    assert_ne!(asked[0].0.ticket, second.ticket);
    assert_eq!(asked[0].0.about, second.about);
    assert!(
        second.reason.contains("asked again") && second.reason.contains("leads to another file"),
        "{}",
        second.reason
    );
    assert!(shown.contains("Link: link.txt -> two.txt\n"), "{shown}");
    assert!(shown.contains("  | -two\n"), "{shown}");
    assert_eq!(text(host.scratch.ws.join("one.txt")), "one\n");
    assert_eq!(text(host.scratch.ws.join("two.txt")), "new\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_changed_during_the_question_is_shown_again() {
    let scratch = Scratch::new();
    let path = scratch.file("race.txt", "one\n");
    let slow = Slow::new(move |count| {
        if count == 1 {
            fs::write(&path, "somebody's work\n").expect("a file");
        }
    });
    let host = host(scratch, Setup::default(), slow.clone()).await;
    host.done("Write", write("race.txt")).await;
    let asked = slow.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].0.reason.contains("race.txt' changed"));
    assert!(
        asked[1].1.contains("  | -somebody's work\n"),
        "{}",
        asked[1].1
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changes_each_time_is_not_asked_for_ever() {
    let scratch = Scratch::new();
    let path = scratch.file("race.txt", "0");
    let changing = path.clone();
    let slow = Slow::new(move |count| fs::write(&changing, count.to_string()).expect("a file"));
    let host = host(scratch, Setup::default(), slow.clone()).await;
    let denied = host.denied("Write", write("race.txt")).await;
    assert!(denied.contains("changed while it was asked"), "{denied}");
    assert_eq!(slow.count(), 3);
    assert_eq!(text(path), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_for_what_would_be_refused_anyway() {
    let scratch = Scratch::new();
    fs::write(scratch.outside.join("f"), "outside").expect("a file");
    scratch.file("secret/a.txt", "secret");
    scratch.file(".git/config", "");
    for (link, to) in [
        ("out.txt", scratch.outside.join("f")),
        ("new.txt", scratch.outside.join("not/there")),
        ("denied.txt", scratch.ws.join("secret/a.txt")),
        ("git.txt", scratch.ws.join(".git/config")),
    ] {
        symlink(to, scratch.ws.join(link)).expect("a link");
    }
    let slow = Slow::new(|_| {});
    let setup = Setup::default().deny(&["Write(/ws/secret/**)"]);
    let host = host(scratch, setup, slow.clone()).await;
    for (link, says) in [
        ("out.txt", "outside the workspace"),
        ("new.txt", "outside the workspace"),
        ("denied.txt", "denied by the rule"),
        ("git.txt", "never writable"),
    ] {
        let denied = host.denied("Write", write(link)).await;
        assert!(denied.contains(says), "{link}: {denied}");
        let explained = host.explain("Write", write(link)).await;
        assert_eq!(explained.decision(), Decision::Deny, "{link}");
    }
    assert_eq!(slow.count(), 0);
    assert_eq!(text(host.scratch.outside.join("f")), "outside");
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_rules_for_the_place_are_named_in_the_question() {
    let scratch = linked();
    let setup = Setup::default().rules(Decision::Ask, &["Write(/ws/one.txt)"]);
    let slow = Slow::always();
    let host = host(scratch, setup, slow.clone()).await;
    host.done("Write", write("link.txt")).await;
    let (request, _) = slow.asked().remove(0);
    assert!(
        request.reason.contains("one.txt) (test.toml:1)"),
        "{}",
        request.reason
    );
    assert_eq!(request.standing, None, "an allow rule would not be enough");
}

#[tokio::test(flavor = "multi_thread")]
async fn always_is_for_the_place_and_ends_where_the_link_is_laid_elsewhere() {
    let slow = Slow::always();
    let scratch = linked();
    scratch.file("real/f.txt", "1");
    scratch.file("other/f.txt", "2");
    relink("real", &scratch.ws.join("dir"));
    let host = host(scratch, Setup::default(), slow.clone()).await;
    for (path, link, elsewhere, real) in [
        ("link.txt", "link.txt", "two.txt", "one.txt"),
        ("dir/f.txt", "dir", "other", "real/f.txt"),
    ] {
        let before = slow.count();
        host.done("Write", write(path)).await;
        let rule = slow.asked()[before].0.always().map(str::to_owned);
        let real = host.scratch.ws.join(real);
        assert_eq!(rule, Some(format!("Write({})", real.display())));
        host.done("Write", write(path)).await;
        assert_eq!(slow.count(), before + 1, "it stands");
        let explained = host.explain("Write", write(path)).await;
        assert_eq!(explained.decision(), Decision::Allow);
        relink(elsewhere, &host.scratch.ws.join(link));
        host.done("Write", write(path)).await;
        assert_eq!(slow.count(), before + 2, "it does not follow");
    }
}

/// What was a file when it was answered, and is a link by now.
#[tokio::test(flavor = "multi_thread")]
async fn a_standing_answer_lifts_no_ask_rule() {
    let scratch = Scratch::new();
    scratch.file("b.txt", "b");
    let asked = scratch.file("c.txt", "c");
    let slow = Slow::always();
    let setup = Setup::default().rules(Decision::Ask, &["Write(/ws/c.txt)"]);
    let host = host(scratch, setup, slow.clone()).await;
    host.done("Write", write("b.txt")).await;
    host.done("Write", write("b.txt")).await;
    assert_eq!(slow.count(), 1);
    relink("c.txt", &host.scratch.ws.join("b.txt"));
    host.done("Write", write("b.txt")).await;
    let all = slow.asked();
    assert_eq!(all.len(), 2);
    assert!(all[1].0.reason.contains("c.txt)"), "{}", all[1].0.reason);
    assert_eq!(text(asked), "new\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_from_the_queue_does_not_follow_a_link_either() {
    let scratch = linked();
    let queue = Queue::open(&scratch.state.join("approvals")).expect("a queue");
    let asker = queue.clone();
    let host = TestHost::with(scratch, Setup::default(), |builder| builder.approver(asker)).await;
    let link = host.scratch.ws.join("link.txt");
    host.denied("Write", write("link.txt")).await;
    let first = queue.list().expect("questions").remove(0);
    queue.allow(&first.id, "lara").expect("an answer");
    relink("two.txt", &link);
    host.denied("Write", write("link.txt")).await;
    let second = queue.list().expect("questions").remove(0);
    assert_ne!(first.id, second.id);
    assert!(
        second.question.why().contains(&first.id),
        "{}",
        second.question.why()
    );
    queue.allow(&second.id, "lara").expect("an answer");
    host.done("Write", write("link.txt")).await;
    assert_eq!(text(host.scratch.ws.join("one.txt")), "one\n");
    assert_eq!(text(host.scratch.ws.join("two.txt")), "new\n");

    // "Always" holds at once, and for every call that its rule is for.
    host.denied("Write", write("one.txt")).await;
    let third = queue.list().expect("questions").remove(0);
    let file = host.scratch.state.join("standing.json");
    let answers = StandingAnswers::open(&file).expect("answers");
    let (_, kept) = queue
        .allow_always(&third.id, "lara", &answers)
        .expect("an answer");
    let other = json!({"file_path": "one.txt", "content": "other\n"});
    host.done("Write", other.clone()).await;
    answers.forget(&kept.id).expect("taken back");
    host.denied("Write", other).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bypass_asks_nobody_and_looks_at_nothing() {
    let slow = Slow::new(|_| {});
    let setup = Setup::default().mode(Mode::Bypass);
    let host = host(linked(), setup, slow.clone()).await;
    host.done("Write", write("link.txt")).await;
    assert_eq!(slow.count(), 0);
}

/// `make` is another program in every workspace, wherever its own file lies.
#[tokio::test(flavor = "multi_thread")]
async fn a_standing_answer_to_a_command_holds_in_its_workspace_only() {
    let keeper = Scratch::new();
    let state = keeper.state.clone();
    let mut rules = Vec::new();
    for scratch in [Scratch::new(), Scratch::new()] {
        let mut setup = Setup::default();
        let field = SubjectField {
            kind: SubjectKind::Command,
            field: "text".to_owned(),
        };
        setup.config.subjects = [("Echo".to_owned(), field.into())].into();
        setup.config.exempt = Some(ExemptLine::None.into());
        let slow = Slow::always();
        let (approver, folder) = (slow.clone(), state.clone());
        let host = TestHost::with(scratch, setup, |builder| {
            builder
                .component("echo", toolgate_artifacts::ECHO.to_vec())
                .approver(approver)
                .state_dir(folder)
        })
        .await;
        for _ in 0..2 {
            host.done("Echo", json!({"text": "/usr/bin/make -j4"}))
                .await;
        }
        assert_eq!(slow.count(), 1, "once in each workspace");
        rules.push(slow.asked()[0].0.always().map(str::to_owned));
    }
    assert!(rules[0].is_some());
    assert_eq!(rules[0], rules[1]);
}
