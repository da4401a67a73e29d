//! The command line as a person uses it: what it prints, where, and its exit codes.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the test starts the program under test, and stops at the first surprise"
)]

mod said;
#[path = "cli/web.rs"]
mod web;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use said::{assert_exit, stderr, stdout};

/// A workspace and a state directory of its own.
struct Desk {
    _root: TempDir,
    ws: PathBuf,
    state: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let (ws, state) = (base.join("ws"), base.join("state"));
        fs::create_dir(&ws).unwrap();
        fs::write(ws.join("a.txt"), "alpha\nbeta\n").unwrap();
        Self {
            _root: root,
            ws,
            state,
        }
    }

    /// Runs `toolgate` without a terminal.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command
            .args(arguments)
            .args(["--no-user-config", "--state"])
            .arg(&self.state)
            .current_dir(&self.ws)
            .stdin(Stdio::null());
        // A session of its own has no terminal to ask at.
        let output = if Path::new("/usr/bin/setsid").exists() {
            let mut detached = Command::new("/usr/bin/setsid");
            detached
                .arg("--wait")
                .arg(command.get_program())
                .args(command.get_args());
            detached.current_dir(&self.ws).stdin(Stdio::null()).output()
        } else {
            command.output()
        };
        output.unwrap()
    }

    fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.state.join("journal.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

#[test]
fn a_call_prints_the_tools_text_and_nothing_else() {
    let desk = Desk::new();
    let output = desk.run(&["call", "Read", r#"{"file_path":"a.txt"}"#]);
    assert_exit(&output, 0);
    assert_eq!(stdout(&output), "     1\talpha\n     2\tbeta\n");
    assert_eq!(stderr(&output), "");
    let records = desk.records();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["ending"], "done");
    assert_eq!(
        records[0]["gates"].as_array().unwrap().last().unwrap()["gate"],
        "post-hooks"
    );
}

#[test]
fn json_prints_the_whole_outcome() {
    let desk = Desk::new();
    let output = desk.run(&["call", "Read", r#"{"file_path":"a.txt"}"#, "--json"]);
    assert_exit(&output, 0);
    let outcome: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(outcome["status"], "done");
    assert_eq!(outcome["tool"], "Read");
    assert_eq!(outcome["capped"], false);
    assert!(outcome["usage"]["fuel"].as_u64().unwrap() > 0);
    assert_eq!(outcome["content"][0]["text"], "     1\talpha\n     2\tbeta");
}

/// Arguments, exit code, and what stderr must say.
type BadEnd = (&'static [&'static str], i32, &'static str);

const READ: &str = r#"{"file_path":"a.txt"}"#;
const WRITE: &str = r#"{"file_path":"b.txt","content":"x"}"#;

const WRONG_USE: &[BadEnd] = &[
    (&["kall"], 2, "unrecognized subcommand"),
    (
        &["call", "Read", READ, "--mode", "planned"],
        2,
        "Did you mean 'plan'?",
    ),
    (
        &["call", "Read", READ, "--deny", "Raed"],
        2,
        "command line: the deny rule 'Raed' names no tool.",
    ),
    (
        &["call", "Read", READ, "--deny", "Read("],
        2,
        "does not end in a closing one",
    ),
    (
        &["call", "Read", READ, "--config", "none.toml"],
        2,
        "none.toml: cannot be read",
    ),
    (
        &["call", "Read", READ, "--component", "a.txt"],
        2,
        "this is not WebAssembly",
    ),
];

const REFUSED_CALLS: &[BadEnd] = &[
    (
        &["call", "Read", r#"{"file_path":"gone.txt"}"#],
        1,
        "does not exist",
    ),
    (
        &["call", "Raed", "{}"],
        3,
        "unknown tool 'Raed'; did you mean 'Read'?",
    ),
    (&["call", "Read", "file_path=a"], 3, "it is not JSON"),
    (
        &["call", "Read", r#"{"path":"a.txt"}"#],
        3,
        "Unknown parameter 'path'. Did you mean 'file_path'?",
    ),
    (
        &["call", "Read", r#"{"file_path":"/etc/passwd"}"#],
        3,
        "outside the workspace",
    ),
    (
        &["call", "Read", READ, "--deny", "Read(*.txt)"],
        3,
        "rule: deny Read(*.txt) (command line)",
    ),
    (
        &["call", "Write", WRITE],
        3,
        "approval is needed, and nobody",
    ),
    (
        &["call", "Write", WRITE, "--mode", "plan"],
        3,
        "unknown tool 'Write'",
    ),
];

#[test]
fn every_bad_end_has_its_exit_code_and_leaves_stdout_empty() {
    let desk = Desk::new();
    for (arguments, code, message) in WRONG_USE.iter().chain(REFUSED_CALLS) {
        let output = desk.run(arguments);
        assert_exit(&output, *code);
        let said = stderr(&output);
        assert!(said.contains(message), "{arguments:?}: {said}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
    assert!(!desk.ws.join("b.txt").exists());
}

#[test]
fn an_allow_rule_answers_beforehand() {
    let desk = Desk::new();
    let output = desk.run(&[
        "call",
        "Write",
        r#"{"file_path":"b.txt","content":"x"}"#,
        "--allow",
        "Write(*.txt)",
    ]);
    assert_exit(&output, 0);
    assert_eq!(fs::read_to_string(desk.ws.join("b.txt")).unwrap(), "x");
}

#[test]
fn explain_walks_the_gates_and_runs_nothing() {
    let desk = Desk::new();
    let denied = desk.run(&[
        "explain",
        "Write",
        r#"{"file_path":"/etc/passwd","content":"x"}"#,
    ]);
    assert_exit(&denied, 3);
    let table = stdout(&denied);
    for gate in toolgate::model::Gate::ALL {
        assert!(
            table
                .lines()
                .any(|line| line.trim_start().starts_with(gate.as_str())),
            "{gate}: {table}"
        );
    }
    let row = table
        .lines()
        .find(|line| line.contains("permission"))
        .unwrap();
    assert!(
        row.contains("DENY") && row.contains("outside the workspace"),
        "{row}"
    );

    let asked = desk.run(&["explain", "Write", r#"{"file_path":"b.txt","content":"x"}"#]);
    assert_exit(&asked, 0);
    assert!(stdout(&asked).contains("would ask"), "{}", stdout(&asked));
    let ruled = desk.run(&[
        "explain",
        "Read",
        r#"{"file_path":"a.txt"}"#,
        "--allow",
        "Read(*.txt)",
    ]);
    assert!(
        stdout(&ruled).contains("allow Read(*.txt) (command line)"),
        "{}",
        stdout(&ruled)
    );
    assert!(!desk.ws.join("b.txt").exists());
    assert!(
        fs::read_to_string(desk.state.join("journal.jsonl"))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn list_inspect_doctor_and_schema_answer() {
    let desk = Desk::new();
    let list = desk.run(&["list", "--json"]);
    assert_exit(&list, 0);
    let tools: Value = serde_json::from_str(&stdout(&list)).unwrap();
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "Edit",
            "Glob",
            "Grep",
            "LS",
            "MultiEdit",
            "Read",
            "WebFetch",
            "Write"
        ]
    );
    for tool in tools.as_array().unwrap() {
        assert_eq!(
            tool["input_schema"]["additionalProperties"], false,
            "{}",
            tool["name"]
        );
    }
    let plan = desk.run(&["list", "--mode", "plan"]);
    assert!(!stdout(&plan).contains("Write"), "{}", stdout(&plan));

    let inspect = desk.run(&["inspect", "Write"]);
    assert_exit(&inspect, 0);
    assert!(
        stdout(&inspect).contains("mutating, destructive, idempotent"),
        "{}",
        stdout(&inspect)
    );
    assert_exit(&desk.run(&["inspect", "Raed"]), 2);

    let doctor = desk.run(&["doctor"]);
    assert_exit(&doctor, 0);
    assert!(
        stdout(&doctor).contains("LS of the workspace ran"),
        "{}",
        stdout(&doctor)
    );

    let schema = desk.run(&["config", "schema"]);
    assert_exit(&schema, 0);
    let schema: Value = serde_json::from_str(&stdout(&schema)).unwrap();
    assert!(schema["properties"]["permissions"].is_object());
}

#[test]
fn inspect_shows_what_each_trait_rests_on() {
    let desk = Desk::new();
    let text = stdout(&desk.run(&["inspect", "Edit"]));
    let row = |name: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.trim().starts_with(name));
        let line = line.unwrap_or_else(|| panic!("no row of {name}: {text}"));
        line.split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .map(str::to_owned)
            .collect()
    };
    assert_eq!(
        row("trust"),
        ["trust", "audited: one of the host's own tools"]
    );
    assert_eq!(row("level")[..3], ["level", "mutating", "mutating"]);
    assert_eq!(row("destructive")[..3], ["destructive", "yes", "yes"]);
    assert!(row("destructive")[3].starts_with("admitted"), "{text}");
    assert_eq!(row("concurrency")[..3], ["concurrency", "shared", "shared"]);
    assert!(row("concurrency")[3].starts_with("trusted"), "{text}");
    assert_eq!(row("open world")[..3], ["open world", "no", "no"]);
    assert!(row("open world")[3].starts_with("verified"), "{text}");

    let json: Value =
        serde_json::from_str(&stdout(&desk.run(&["inspect", "Edit", "--json"]))).unwrap();
    assert_eq!(json["trust"], "audited");
    assert_eq!(json["declaration"]["claim"]["exclusive"], false);
    assert_eq!(json["evidence"]["writes_files"], true);
    assert_eq!(json["traits"]["create_only"], false);
    assert_eq!(json["traits"]["grounds"]["destructive"], "admitted");
    assert_eq!(json["traits"]["grounds"]["concurrency"], "trusted");
    assert_eq!(json["traits"]["reductions"], serde_json::json!([]));
}

#[test]
fn a_workspaces_own_file_grants_nothing() {
    let desk = Desk::new();
    fs::write(
        desk.ws.join("toolgate.toml"),
        "[permissions]\nallow = [\"Write\"]\n",
    )
    .unwrap();
    let call = ["call", "Write", r#"{"file_path":"b.txt","content":"x"}"#];
    let output = desk.run(&call);
    assert_exit(&output, 3);
    assert!(
        stderr(&output).contains("toolgate.toml (project) is not in force: nobody has trusted it"),
        "{}",
        stderr(&output)
    );
    let named = [&call[..], &["--config", "toolgate.toml"]].concat();
    assert_exit(&desk.run(&named), 0);
}

#[test]
fn the_readmes_configuration_is_read_as_it_stands() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let text = fs::read_to_string(readme).unwrap();
    let block = text
        .split("```toml")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let desk = Desk::new();
    let file = desk.ws.join("example.toml");
    fs::write(&file, block).unwrap();
    let layers = toolgate::config::Layers {
        named: vec![file],
        ..toolgate::config::Layers::default()
    };
    let config = layers.load().unwrap().config;
    assert_eq!(config.rules.len(), 5);
    assert_eq!(config.hooks[0].tools.len(), 3);
}

#[test]
fn an_input_can_come_from_stdin() {
    let desk = Desk::new();
    fs::write(desk.ws.join("input.json"), r#"{"file_path":"a.txt"}"#).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(["call", "Read", "-", "--no-user-config", "--state"])
        .arg(&desk.state)
        .current_dir(&desk.ws)
        .stdin(fs::File::open(desk.ws.join("input.json")).unwrap())
        .output()
        .unwrap();
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("beta"));
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let desk = Desk::new();
    let commands: [&[&str]; 6] = [
        &["list", "--mode", "foo"],
        &["list", "--ceiling", "foo"],
        &["approvals", "show", "zzz"],
        &["trust", "--forget", "gone.toml"],
        &["policy", "test", "gone.toml"],
        &["config", "import", "claude", "gone.json"],
    ];
    for command in commands {
        let output = desk.run(&[command, &["--json"]].concat());
        assert_exit(&output, 2);
        let error: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert!(error["error"].is_string(), "{command:?}: {error}");
        assert_eq!(stderr(&output), "", "{command:?}");
    }
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let desk = Desk::new();
    let commands: [&[&str]; 4] = [
        &["list"],
        &["config", "schema"],
        &["call", "Read", READ],
        &["--help"],
    ];
    for command in commands {
        let output = Command::new(env!("CARGO_BIN_EXE_toolgate"))
            .args(command)
            .args(["--no-user-config", "--state"])
            .arg(&desk.state)
            .current_dir(&desk.ws)
            .stdin(Stdio::null())
            .stdout(fs::File::create("/dev/full").unwrap())
            .output()
            .unwrap();
        assert_exit(&output, 5);
        assert!(
            stderr(&output).contains("could not be written"),
            "{command:?}"
        );
    }
}

#[test]
fn the_help_of_policy_test_shows_the_format() {
    let desk = Desk::new();
    let help = stdout(&desk.run(&["policy", "test", "--help"]));
    for part in ["[[case]]", "expect", "gate", "Exit codes"] {
        assert!(help.contains(part), "{help}");
    }
    let begin = help.find("    [[case]]").unwrap();
    let end = help.find("Keys:").unwrap();
    fs::write(desk.ws.join("cases.toml"), &help[begin..end]).unwrap();
    let rules = ["--allow", "Write(notes/**)", "--deny", "Read(.env)"];
    let cases = desk.run(&[&["policy", "test", "cases.toml"], &rules[..]].concat());
    assert_exit(&cases, 0);
}

#[test]
fn no_list_offers_bypass_in_a_file() {
    let desk = Desk::new();
    let schema: Value = serde_json::from_str(&stdout(&desk.run(&["config", "schema"]))).unwrap();
    let modes = schema["$defs"]["FileMode"].to_string();
    assert!(modes.contains("accept-edits"), "{schema}");
    assert!(!modes.contains("bypass"), "{modes}");
}
