//! Configuration in layers, as a person meets it: what a workspace brings along sets nothing until the person trusts it.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the test starts the program under test, and stops at the first surprise"
)]

#[path = "layers/runs.rs"]
mod runs;

mod said;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use said::{assert_exit, stderr, stdout};

/// A home, a state directory and a workspace of its own.
struct Desk {
    _root: TempDir,
    home: PathBuf,
    ws: PathBuf,
    state: PathBuf,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = root.path().canonicalize().unwrap();
        let desk = Self {
            home: base.join("home"),
            ws: base.join("ws"),
            state: base.join("state"),
            _root: root,
        };
        fs::create_dir_all(desk.home.join(".config/toolgate")).unwrap();
        fs::create_dir_all(desk.ws.join(".toolgate")).unwrap();
        fs::write(desk.ws.join("a.txt"), "alpha\n").unwrap();
        desk
    }

    /// Runs `toolgate` in the workspace, without a terminal.
    fn run(&self, arguments: &[&str]) -> Output {
        let binary = env!("CARGO_BIN_EXE_toolgate");
        // A session of its own has no terminal to ask at.
        let mut command = match Path::new("/usr/bin/setsid").exists() {
            true => {
                let mut detached = Command::new("/usr/bin/setsid");
                detached.arg("--wait").arg(binary);
                detached
            }
            false => Command::new(binary),
        };
        command
            .args(arguments)
            .arg("--state")
            .arg(&self.state)
            .env("HOME", &self.home)
            .env("XDG_CONFIG_HOME", self.home.join(".config"))
            .env_remove("XDG_STATE_HOME")
            .current_dir(&self.ws)
            .stdin(Stdio::null());
        command.output().unwrap()
    }

    fn user(&self, text: &str) {
        fs::write(self.home.join(".config/toolgate/toolgate.toml"), text).unwrap();
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.ws.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A program that leaves a mark beside the workspace when it runs.
    fn marking_hook(&self, name: &str) -> PathBuf {
        let text = format!("#!/bin/sh\ntouch '{}'\n", self.mark().display());
        let path = self.file(name, &text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn mark(&self) -> PathBuf {
        self.home.join("mark")
    }
}

#[track_caller]
fn assert_says(text: &str, part: &str) {
    assert!(text.contains(part), "'{part}' is not in:\n{text}");
}

const WRITE: [&str; 3] = ["call", "Write", r#"{"file_path":"b.txt","content":"x"}"#];
const GRANTS: &str = "[permissions]\nallow = [\"Write\"]\n[files]\nwrite = [\"/\"]\n[[hooks.pre_tool_use]]\n\
                      command = [\"./hook.sh\"]\n";

/// Case A21.
#[test]
fn an_untrusted_workspace_grants_nothing_runs_nothing_and_is_named() {
    let desk = Desk::new();
    let file = desk.file(".toolgate/config.toml", GRANTS);
    desk.marking_hook(".toolgate/hook.sh");
    let output = desk.run(&WRITE);
    assert_exit(&output, 3);
    assert_says(&stderr(&output), "approval is needed, and nobody");
    let note = format!(
        "{} (project) is not in force: nobody has trusted it; see and trust it: toolgate trust --state '{}'",
        file.display(),
        desk.state.display()
    );
    assert_says(&stderr(&output), &note);
    let read = desk.run(&["call", "Read", r#"{"file_path":"a.txt"}"#]);
    assert_exit(&read, 0);
    assert!(!desk.mark().exists(), "a hook of the workspace ran");
    assert!(!desk.ws.join("b.txt").exists());
    // What nobody trusts cannot stop the start either.
    desk.file(".toolgate/config.toml", "[[[");
    assert_exit(&desk.run(&["list"]), 0);
}

#[test]
fn trust_shows_what_it_grants_and_holds_for_exactly_that() {
    let desk = Desk::new();
    desk.file(".toolgate/config.toml", GRANTS);
    desk.marking_hook(".toolgate/hook.sh");
    let asked = desk.run(&["trust"]);
    assert_exit(&asked, 2);
    assert_says(&stderr(&asked), "there is no terminal to ask at");
    for shown in [
        "Write",
        "files.write",
        "hook PreToolUse",
        "hook.sh",
        "config.toml:2",
        "sha256:",
    ] {
        assert_says(&stdout(&asked), shown);
    }
    assert_exit(&desk.run(&WRITE), 3);

    assert_exit(&desk.run(&["trust", "--yes"]), 0);
    let output = desk.run(&WRITE);
    assert_exit(&output, 0);
    assert_eq!(stderr(&output), "");
    assert!(desk.mark().exists(), "the hook of a trusted file runs");
    assert_says(&stdout(&desk.run(&["trust", "--list"])), "config.toml");
    let again = desk.run(&["trust", "--yes"]);
    assert_says(&stderr(&again), "is trusted as it is");
}

#[test]
fn what_changes_is_untrusted_again() {
    let desk = Desk::new();
    let file = desk.file("toolgate.toml", "[permissions]\nallow = [\"Write\"]\n");
    assert_exit(&desk.run(&["trust", "--yes"]), 0);
    assert_exit(&desk.run(&WRITE), 0);
    desk.file(
        "toolgate.toml",
        "[permissions]\nallow = [\"Write\", \"Edit\"]\n",
    );
    let output = desk.run(&WRITE);
    assert_exit(&output, 3);
    assert_says(&stderr(&output), "it changed since you trusted it on ");
    desk.file("toolgate.toml", "[permissions]\nallow = [\"Write\"]\n");
    assert_exit(&desk.run(&WRITE), 0);

    assert_exit(&desk.run(&["trust", "--forget", "toolgate.toml"]), 0);
    let output = desk.run(&WRITE);
    assert_exit(&output, 3);
    assert_says(&stderr(&output), "nobody has trusted it");
    let file = file.to_str().unwrap();
    assert_exit(&desk.run(&["trust", "--forget", file]), 2);
}

/// Case A23, with what this version can be told to run: a program.
#[test]
fn a_program_that_changes_is_untrusted_again() {
    let desk = Desk::new();
    desk.file("toolgate.toml", GRANTS);
    let hook = desk.marking_hook("hook.sh");
    assert_exit(&desk.run(&["trust", "--yes"]), 0);
    assert_exit(&desk.run(&WRITE), 0);
    fs::remove_file(desk.mark()).unwrap();
    let text = fs::read_to_string(&hook).unwrap();
    fs::write(&hook, format!("{text}# more\n")).unwrap();
    let output = desk.run(&WRITE);
    assert_exit(&output, 3);
    let changed = format!("'{}', which it names, changed since", hook.display());
    assert_says(&stderr(&output), &changed);
    assert!(!desk.mark().exists(), "the changed program ran");
}

#[test]
fn config_show_names_every_source() {
    let desk = Desk::new();
    desk.user(
        "[permissions]\nmode = \"plan\"\ndeny = [\"Read(.env)\"]\n[limits]\nfuel = 5000000\n",
    );
    desk.file(
        "toolgate.toml",
        "[permissions]\nmode = \"auto\"\nallow = [\"Write\"]\n",
    );
    let untrusted = stdout(&desk.run(&["config", "show"]));
    assert_says(&untrusted, "/home/.config/toolgate/toolgate.toml:2 (user)");
    assert_says(
        &untrusted,
        "toolgate.toml (project) is not in force: nobody has trusted it",
    );
    assert!(!untrusted.contains("auto"), "{untrusted}");

    assert_exit(&desk.run(&["trust", "--yes"]), 0);
    let shown = desk.run(&["config", "show", "--json", "--deny", "Grep"]);
    assert_exit(&shown, 0);
    let shown: Value = serde_json::from_str(&stdout(&shown)).unwrap();
    let mode = &shown["permissions"]["mode"];
    assert_eq!(mode["value"], "auto");
    assert_eq!(mode["source"]["layer"], "project");
    assert_eq!(mode["source"]["line"], 2);
    let rules = shown["rules"].as_array().unwrap();
    let texts: Vec<&str> = rules
        .iter()
        .map(|rule| rule["rule"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["Read(.env)", "Grep", "Write"]);
    assert_eq!(rules[1]["file"], "command line");
    assert_eq!(shown["limits"]["all"]["fuel"]["source"]["line"], 5);
    assert_eq!(shown["not_in_force"].as_array().unwrap().len(), 0);
    let layers: Vec<&Value> = shown["in_force"].as_array().unwrap().iter().collect();
    assert_eq!(layers.len(), 2);

    let doctor = stdout(&desk.run(&["doctor"]));
    assert_says(&doctor, "project: ");
    assert_says(&doctor, "user: ");
}

/// Of all that doctor looks at, this alone is wrong.
fn assert_fails_alone(rows: &str, what: &str) {
    let mut failed = rows.lines().filter(|row| row.contains("FAIL"));
    let first = failed.next().unwrap_or_default();
    assert!(first.contains(what) && failed.next().is_none(), "{rows}");
}

#[test]
fn mistakes_are_said_with_their_line() {
    let desk = Desk::new();
    for (text, message) in [
        (
            "[limits.tools.Raed]\n\nfuel = 5000000\n",
            "toolgate.toml:3: the table [limits.tools] names the tool 'Raed', which does not exist. Did you mean 'Read'?",
        ),
        (
            "[limits]\nfuel = 5\n",
            "toolgate.toml:2: in [limits], the fuel is 5, but must be from",
        ),
        (
            "[permissions]\nallow = [\n\"Bash(gh:*\",\n]\n",
            "toolgate.toml:3: the rule 'Bash(gh:*' has an opening parenthesis",
        ),
        (
            "[subjects.Read]\nkind = \"path\"\nfield = \"file_path\"\n",
            "the tool 'Read' declares a subject of its own",
        ),
        (
            "[files]\nread = [\"/nope\"]\n",
            "toolgate.toml:2: the directory '/nope' cannot be granted",
        ),
        (
            "[components]\n\nfiles = [\"/nope.wasm\"]\n",
            "toolgate.toml:3: '/nope.wasm': cannot be read",
        ),
        (
            "[[hooks.stop]]\ncomponent = \"/nope.wasm\"\n",
            "toolgate.toml:1: '/nope.wasm': cannot be read",
        ),
        ("[journal]\nfile = \"/\"\n", "toolgate.toml:2: "),
        (
            "[permissions]\nmode = \"acceptEdits\"\n",
            "toolgate.toml:2: 'acceptEdits' is not a mode: it is one of default, accept-edits, plan, dont-ask, auto. Did",
        ),
        (
            "[limits]\nfuel = \"5\"\n",
            "toolgate.toml:2: invalid type: string \"5\", expected a whole number",
        ),
        (
            "[[hooks.pre_tool_use]]\ncommand = [\"sh\"]\ntools = []\n",
            "toolgate.toml:3: 'tools' is empty",
        ),
    ] {
        desk.user(text);
        let output = desk.run(&["list"]);
        assert_exit(&output, 2);
        assert_says(&stderr(&output), message);
        let doctor = desk.run(&["doctor"]);
        assert_exit(&doctor, 2);
        assert_fails_alone(&stdout(&doctor), "configuration");
        let json = desk.run(&["list", "--json"]);
        assert_exit(&json, 2);
        let error: Value = serde_json::from_str(&stdout(&json)).unwrap();
        assert_says(error["error"].as_str().unwrap(), message);
    }
}

#[test]
fn c40_a_mistake_on_the_command_line_stops_the_start() {
    let desk = Desk::new();
    for rule in ["Bash(gh:*", "Bash()"] {
        let output = desk.run(&["list", "--allow", rule]);
        assert_exit(&output, 2);
        assert_says(&stderr(&output), &format!("--allow: the rule '{rule}'"));
    }
}

#[test]
fn what_nobody_trusts_stops_no_start_whatever_is_wrong_with_it() {
    let desk = Desk::new();
    desk.file("toolgate.toml", "");
    desk.file(".toolgate/toolgate.toml", "");
    let output = desk.run(&["list"]);
    assert_exit(&output, 0);
    assert_says(&stderr(&output), "it is one of two project files");
}

#[test]
fn a_ceiling_can_be_given_at_the_start() {
    let desk = Desk::new();
    desk.user("[permissions]\nceiling = \"mutating\"\n");
    let list = stdout(&desk.run(&["list", "--ceiling", "read-only"]));
    assert!(list.contains("Read") && !list.contains("Write"), "{list}");
}
