//! One agent's session, the same with each client: list, an allowed call, a denied one, a wrong one, an unknown one, one
//! that a person is asked about, progress, one that is given up.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::Desk;
use crate::place::{Place, here};
use crate::program::run;

/// How long a session may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// A client: which one, and the era that it speaks.
#[derive(Clone, Copy)]
enum Client {
    Python1,
    Python2(&'static str),
    TypeScript1,
    TypeScript2(&'static str),
}

/// What the person answers.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Allow,
    Deny,
    Decline,
    Cancel,
    /// Accepts and fills in nothing.
    Bare,
    /// The client cannot ask anybody.
    NoOne,
}

impl Answer {
    fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow_once",
            Self::Deny => "deny",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
            Self::Bare => "bare",
            Self::NoOne => "none",
        }
    }
}

impl Client {
    /// The program, and its arguments before the answer.
    fn program(self, folder: &std::path::Path) -> (PathBuf, Vec<String>) {
        let place = Place::get();
        let (program, script, packages, era) = match self {
            Self::Python1 => (place.at("python-1/bin/python"), "python_1.py", None, None),
            Self::Python2(era) => (
                place.at("python-2/bin/python"),
                "python_2.py",
                None,
                Some(era),
            ),
            Self::TypeScript1 => (place.node(), "typescript_1.mjs", Some("typescript-1"), None),
            Self::TypeScript2(era) => (
                place.node(),
                "typescript_2.mjs",
                Some("typescript-2"),
                Some(era),
            ),
        };
        for file in [script, "typescript_session.mjs"] {
            fs::copy(here().join("scripts").join(file), folder.join(file)).unwrap();
        }
        if let Some(packages) = packages {
            symlink(
                place.at(packages).join("node_modules"),
                folder.join("node_modules"),
            )
            .unwrap();
        }
        let mut arguments = vec![folder.join(script).display().to_string()];
        arguments.extend(era.map(str::to_owned));
        (program, arguments)
    }
}

/// Runs a session and gives its steps, by name. The questions stand under `asked`, as a list.
fn session(desk: &Desk, client: Client, answer: Answer, target: &[String]) -> Value {
    let scripts = tempfile::tempdir().unwrap();
    let (program, mut arguments) = client.program(scripts.path());
    arguments.push(answer.word().to_owned());
    arguments.extend(target.iter().cloned());
    let ran = run(&program, &arguments, &desk.ws, PATIENCE).well();
    let mut steps = json!({ "asked": [] });
    for line in ran.stdout.lines() {
        let said: Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let step = said["step"].as_str().unwrap().to_owned();
        match step.as_str() {
            "asked" => steps["asked"].as_array_mut().unwrap().push(said),
            _ => steps[step] = said,
        }
    }
    steps
}

/// What holds for every client.
#[track_caller]
fn check(desk: &Desk, steps: &Value, answer: Answer) {
    let names: Vec<&str> = steps["listed"]["names"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap())
        .collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted, "the order is that of the names");
    for name in ["Bash", "Read", "Write", "test_tool_with_progress"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    assert_eq!(
        steps["listed"]["hints"]["Read"],
        json!([true, false, true, false])
    );
    assert_eq!(
        steps["listed"]["hints"]["Write"],
        json!([false, true, true, false])
    );
    assert_eq!(steps["read"]["error"], false);
    assert_eq!(steps["read"]["text"], "     1\talpha\n     2\tbeta");
    assert_eq!(steps["denied"]["error"], true);
    let why = steps["denied"]["text"].as_str().unwrap();
    assert!(why.contains("Read(**/*.env)"), "{why}");
    assert!(!why.contains("hunter2"), "{why}");
    assert_eq!(steps["invalid"]["error"], true);
    let why = steps["invalid"]["text"].as_str().unwrap();
    assert!(why.contains("file_path"), "{why}");
    assert_eq!(steps["unknown"]["code"], -32602);
    check_answer(desk, steps, answer);
    let seen: Vec<f64> = steps["progress"]["seen"]
        .as_array()
        .unwrap()
        .iter()
        .map(|done| done.as_f64().unwrap())
        .collect();
    assert_eq!(seen, [0.0, 50.0, 100.0]);
    assert!(desk.ws.join("started").exists(), "the command began");
    assert_eq!(steps["after"]["text"], steps["read"]["text"]);
    assert!(steps["closed"].is_object());
    desk.nothing_runs();
}

#[track_caller]
fn check_answer(desk: &Desk, steps: &Value, answer: Answer) {
    let allowed = answer == Answer::Allow;
    assert_eq!(steps["asking"]["error"], !allowed, "{}", steps["asking"]);
    assert_eq!(desk.ws.join("new.txt").exists(), allowed);
    let asked = steps["asked"].as_array().unwrap();
    if answer == Answer::NoOne {
        assert!(asked.is_empty(), "{asked:?}");
        let why = steps["asking"]["text"].as_str().unwrap();
        assert!(
            why.contains("--allow"),
            "it says how the call could be allowed: {why}"
        );
    } else {
        assert_eq!(asked.len(), 1, "{asked:?}");
        let message = asked[0]["message"].as_str().unwrap();
        assert!(
            message.contains("Write") && message.contains("new.txt"),
            "{message}"
        );
        assert_eq!(
            asked[0]["schema"]["properties"]["decision"]["enum"],
            json!(["deny", "allow_once"])
        );
    }
    let records = desk.records();
    let write = records
        .iter()
        .rfind(|record| record["tool"] == "Write")
        .unwrap();
    assert_eq!(write["ending"] == "done", allowed, "{write}");
}

fn over_stdio(client: Client, answer: Answer) {
    let desk = Desk::new();
    let mut target = vec!["stdio".to_owned()];
    target.extend(desk.command(&[]));
    let steps = session(&desk, client, answer, &target);
    check(&desk, &steps, answer);
}

fn over_http(client: Client, answer: Answer) {
    let desk = Desk::new();
    let served = desk.http(&[]);
    let steps = session(
        &desk,
        client,
        answer,
        &["http".to_owned(), served.url.clone()],
    );
    check(&desk, &steps, answer);
    assert_eq!(served.end(), Some(143));
}

macro_rules! sessions {
    ($($name:ident: $transport:ident($client:expr, $answer:expr);)*) => {
        $(#[test] fn $name() { $transport($client, $answer); })*
    };
}

sessions! {
    check_10_python_2_by_itself_over_stdio: over_stdio(Client::Python2("auto"), Answer::Allow);
    check_10_python_2_legacy_over_stdio: over_stdio(Client::Python2("legacy"), Answer::Deny);
    check_10_python_2_by_itself_over_http: over_http(Client::Python2("auto"), Answer::Allow);
    check_10_python_2_legacy_over_http: over_http(Client::Python2("legacy"), Answer::Allow);
    check_10_python_1_over_stdio: over_stdio(Client::Python1, Answer::Allow);
    check_10_python_1_over_http: over_http(Client::Python1, Answer::Cancel);
    check_11_typescript_1_over_stdio: over_stdio(Client::TypeScript1, Answer::Allow);
    check_11_typescript_1_over_http: over_http(Client::TypeScript1, Answer::Decline);
    check_12_typescript_2_legacy_over_stdio: over_stdio(Client::TypeScript2("legacy"), Answer::Allow);
    check_12_typescript_2_by_itself_over_stdio: over_stdio(Client::TypeScript2("auto"), Answer::Allow);
    check_12_typescript_2_by_itself_over_http: over_http(Client::TypeScript2("auto"), Answer::Deny);
    check_15_a_bare_accept_over_stdio: over_stdio(Client::TypeScript1, Answer::Bare);
    check_15_a_bare_accept_in_the_modern_era: over_http(Client::Python2("auto"), Answer::Bare);
    a_client_that_cannot_ask_legacy: over_stdio(Client::TypeScript1, Answer::NoOne);
    a_client_that_cannot_ask_in_the_modern_era: over_stdio(Client::Python2("auto"), Answer::NoOne);
}
