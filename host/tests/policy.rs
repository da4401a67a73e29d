//! `toolgate policy` as a person uses it: tests of a policy, and rules from past calls.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the test starts the program under test, and stops at the first surprise"
)]

mod said;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use toolgate::Host;
use toolgate::approval::Fixed;
use toolgate::model::RawCall;

use said::{assert_exit, stderr, stdout};

/// A workspace with a configuration, and a state directory of its own.
struct Desk {
    _root: TempDir,
    ws: PathBuf,
    state: PathBuf,
}

const CONFIG: &str = r#"[permissions]
allow = ["Write(src/**)"]
ask = ["Write(src/main.rs)"]
deny = [
    "Read(.env)",
    "LS",
]
"#;

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (ws, state) = (base.join("ws"), base.join("state"));
        fs::create_dir_all(ws.join("src")).unwrap();
        fs::write(base.join("toolgate.toml"), CONFIG).unwrap();
        Self {
            _root: root,
            ws,
            state,
        }
    }

    /// Runs `toolgate` without a terminal to ask at.
    fn run(&self, arguments: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_toolgate");
        let mut command = if Path::new("/usr/bin/setsid").exists() {
            let mut detached = Command::new("/usr/bin/setsid");
            detached.args(["--wait", program]);
            detached
        } else {
            Command::new(program)
        };
        command
            .args(arguments)
            .args([
                "--no-user-config",
                "--config",
                "../toolgate.toml",
                "--state",
            ])
            .arg(&self.state)
            .current_dir(&self.ws)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn cases(&self, text: &str) -> &'static str {
        fs::write(self.ws.join("cases.toml"), text).unwrap();
        "cases.toml"
    }

    fn test(&self, text: &str, more: &[&str]) -> Output {
        let file = self.cases(text);
        self.run(&[&["policy", "test", file], more].concat())
    }

    fn journal(&self) -> PathBuf {
        self.state.join("journal.jsonl")
    }

    /// A call in this workspace that somebody approves.
    fn approved(&self, tool: &str, input: Value) {
        let host = Host::builder(&self.ws)
            .state_dir(&self.state)
            .approver(Fixed::approve("a person"));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let outcome = runtime.block_on(async {
            let host = host.build().await.unwrap();
            host.call(RawCall::new(tool, input.to_string())).await
        });
        assert_eq!(outcome.ending.word(), "done", "{:?}", outcome.ending);
    }
}

#[track_caller]
fn assert_says(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.contains(line), "no '{line}' in: {text}");
    }
}

const GOOD: &str = r#"
[[case]]
name = "sources are writable"
call = "Write"
input = { file_path = "src/a.rs", content = "" }
expect = "allow"
rule = "Write(src/**)"

[[case]]
name = "the program's entry is asked for"
call = "Write"
input = { file_path = "src/main.rs", content = "" }
expect = "ask"
rule = "Write(src/main.rs)"

[[case]]
name = "secrets are hidden from every reader"
call = "Grep"
input = { pattern = "x", path = ".env" }
expect = "deny"
rule = "Read(.env)"
gate = "permission"

[[case]]
call = "LS"
input = { path = "." }
expect = "deny"
rule = "LS"

[[case]]
call = "Read"
input = { file_path = "a.txt", limt = 1 }
expect = "deny"
gate = "schema"

[[case]]
call = "Lsx"
expect = "deny"
gate = "resolve"
"#;

#[test]
fn a_policy_that_does_what_it_should_passes_and_nothing_is_run() {
    let desk = Desk::new();
    let output = desk.test(GOOD, &[]);
    assert_exit(&output, 0);
    let text = stdout(&output);
    assert_says(
        &text,
        &[
            "ok    sources are writable\n",
            "ok    LS in line 24\n",
            "\n6 cases: 6 ok, 0 failed\n",
        ],
    );
    assert_eq!(stderr(&output), "");
    assert!(!desk.ws.join("src/a.rs").exists());
    assert_eq!(fs::read_to_string(desk.journal()).unwrap(), "");
}

const BAD: &str = r#"
[[case]]
name = "entry"
call = "Write"
input = { file_path = "src/main.rs", content = "" }
expect = "allow"
rule = "Write(src/**)"

[[case]]
name = "outside"
call = "Write"
input = { file_path = "/etc/passwd", content = "" }
expect = "deny"
gate = "schema"

[[case]]
name = "slip"
call = "Wirte"
expect = "deny"

[[case]]
name = "fine"
call = "Read"
input = { file_path = "a.txt" }
expect = "allow"
"#;

#[test]
fn a_policy_that_does_not_is_shown_with_every_rule_that_matched() {
    let desk = Desk::new();
    let output = desk.test(BAD, &[]);
    assert_exit(&output, 1);
    assert_says(
        &stdout(&output),
        &[
            "FAIL  entry (cases.toml:2)\n",
            "decision: expected allow, found ask\n",
            "rule: expected Write(src/**), found ask Write(src/main.rs) (../toolgate.toml:3)\n",
            "decided: ask at the approval gate\n",
            "because: would ask: asked by the rule ask Write(src/main.rs) (../toolgate.toml:3)\n",
            "matched: allow Write(src/**) (../toolgate.toml:2)\n",
            "FAIL  outside (cases.toml:9)\n",
            "gate: expected schema, found permission\n",
            "because: '/etc/passwd' is outside the workspace",
            "matched: no rule\n",
            "FAIL  slip (cases.toml:16)\n",
            "tool: expected Wirte, found unknown tool 'Wirte'; did you mean 'Write'?\n",
            "ok    fine\n",
            "\n4 cases: 1 ok, 3 failed\n",
        ],
    );
    let output = desk.test(BAD, &["--json"]);
    assert_exit(&output, 1);
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&report["passed"], &report["failed"]),
        (&1.into(), &3.into())
    );
    let entry = &report["cases"][0];
    assert_eq!(entry["ok"], false);
    assert_eq!(entry["found"]["decision"], "ask");
    assert_eq!(entry["found"]["matched"][0]["line"], 3);
    assert_eq!(entry["differences"][0]["what"], "decision");
}

#[test]
fn a_file_that_tests_nothing_or_is_not_understood_stops_with_its_line() {
    let desk = Desk::new();
    for (text, message) in [
        ("", "cases.toml: there is no [[case]] in it"),
        (
            "[[case]]\ncall = \"Read\"\nexpct = \"deny\"\n",
            "cases.toml:3: unknown key 'case.expct'. Did you mean 'expect'?",
        ),
        ("[[case]\n", "cases.toml:1: "),
    ] {
        let output = desk.test(text, &[]);
        assert_exit(&output, 2);
        assert_says(&stderr(&output), &[message]);
        assert_eq!(stdout(&output), "");
    }
    let output = desk.run(&["policy", "test", "none.toml"]);
    assert_exit(&output, 2);
    assert_says(&stderr(&output), &["none.toml: cannot be read"]);
    let output = desk.test(GOOD, &["--deny", "Wirte"]);
    assert_exit(&output, 2);
}

/// What the rules mean for a call, as text.
fn write(path: &str) -> Value {
    serde_json::json!({ "file_path": path, "content": "x" })
}

#[test]
fn rules_are_suggested_for_what_was_approved_or_wanting_and_let_it_run() {
    let desk = Desk::new();
    desk.approved("Write", write("notes [1].md"));
    for input in [write("notes [1].md"), write("x/a")] {
        let output = desk.run(&["call", "Write", &input.to_string()]);
        assert_exit(&output, 3);
    }
    // Denied by a rule: no candidate.
    let secret = r#"{"file_path":".env"}"#;
    assert_exit(&desk.run(&["call", "Read", secret]), 3);
    let records = fs::read_to_string(desk.journal()).unwrap();
    let last: Value = serde_json::from_str(records.lines().last().unwrap()).unwrap();
    let path = desk.ws.join(".env");
    assert_eq!(last["subjects"][0]["kind"], "path");
    assert_eq!(last["subjects"][0]["value"], path.to_str().unwrap());

    let output = desk.run(&["policy", "suggest"]);
    assert_exit(&output, 0);
    let text = stdout(&output);
    assert_says(
        &text,
        &["# 2 calls (1 approved, 1 refused for want of a rule), the last at "],
    );
    let table: toml::Table = text.parse().unwrap();
    let rules = table["permissions"]["allow"].as_array().unwrap();
    let rules: Vec<&str> = rules.iter().map(|rule| rule.as_str().unwrap()).collect();
    let ws = desk.ws.display();
    let expected = [
        format!("Write({ws}/notes \\[1\\].md)"),
        format!("Write({ws}/x/a)"),
    ];
    assert_eq!(rules, expected);
    assert_says(&stderr(&output), &["none of this is in force"]);

    // With them, the calls run; a neighbour does not.
    fs::write(desk.ws.join("suggested.toml"), &text).unwrap();
    let call = |path: &str| {
        let input = write(path).to_string();
        desk.run(&["call", "Write", &input, "--config", "suggested.toml"])
    };
    assert_exit(&call("notes [1].md"), 0);
    assert_exit(&call("x/a"), 0);
    assert_exit(&call("notes 1.md"), 3);
    assert_exit(&call("x/b"), 3);
}

#[test]
fn many_files_of_a_directory_are_shown_as_a_comment() {
    let desk = Desk::new();
    for file in ["d/1", "d/2", "d/3"] {
        assert_exit(&desk.run(&["call", "Write", &write(file).to_string()]), 3);
    }
    let output = desk.run(&["policy", "suggest", "--since", "1h"]);
    assert_exit(&output, 0);
    let text = stdout(&output);
    let wider = format!("Write({}/d/*)", desk.ws.display());
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(&wider)).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(lines[0].trim_start().starts_with("# Wider"), "{text}");
    let json = desk.run(&["policy", "suggest", "--json"]);
    let report: Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(report["rules"].as_array().unwrap().len(), 3);
    assert_eq!(report["directories"][0]["rule"], wider);
}

#[test]
fn nothing_to_suggest_is_said_and_broken_lines_are_counted() {
    let desk = Desk::new();
    let output = desk.run(&["policy", "suggest"]);
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "");
    assert_says(&stderr(&output), &["nothing to suggest"]);

    assert_exit(&desk.run(&["call", "Write", &write("a").to_string()]), 3);
    let whole = fs::read_to_string(desk.journal()).unwrap();
    let half = whole.get(..100).unwrap();
    fs::write(desk.journal(), format!("{{\"a\":1}}\n{whole}{half}")).unwrap();
    let output = desk.run(&["policy", "suggest"]);
    assert_exit(&output, 0);
    assert_says(
        &stderr(&output),
        &[
            "1 line passed over: cut off or not JSON",
            "1 line passed over: JSON, but no records",
        ],
    );
    assert_says(&stdout(&output), &["/a)\""]);
    // What a rule that came since lets run needs no other, and what one forbids gets none.
    for (flag, why) in [("--allow", "that run now"), ("--deny", "that are denied")] {
        let output = desk.run(&["policy", "suggest", flag, "Write(a)"]);
        assert_exit(&output, 0);
        assert_eq!(stdout(&output), "");
        assert_says(
            &stderr(&output),
            &[&format!("left out: 1 call {why}"), "nothing to suggest"],
        );
    }
    let output = desk.run(&["policy", "suggest", "--since", "2999-01-01T00:00:00Z"]);
    assert_eq!(stdout(&output), "");
    let output = desk.run(&["policy", "suggest", "--since", "yesterday"]);
    assert_exit(&output, 2);
    assert_says(&stderr(&output), &["--since", "24h, 7d"]);
}
