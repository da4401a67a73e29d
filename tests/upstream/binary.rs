//! Servers through the program: its commands, its configuration, and its end.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::{processes, tool};

/// The longest that one run of the program may take.
const LONGEST: Duration = Duration::from_secs(60);

/// A workspace with a server that does what it is told to.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let place = Self { root };
        for folder in ["ws", "state", "own"] {
            std::fs::create_dir(place.at(folder)).expect("a folder");
        }
        std::fs::write(place.at("own/fake.py"), include_str!("fake.py")).expect("the program");
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root
            .path()
            .canonicalize()
            .expect("its path")
            .join(path)
    }

    fn does(&self, does: &Value) {
        std::fs::write(self.at("own/does.json"), does.to_string()).expect("what it does");
    }

    /// A configuration with the server `s`, and more in its table.
    fn configure(&self, more: &str) -> PathBuf {
        let file = self.at("own/toolgate.toml");
        let own = self.at("own");
        let own = own.display();
        let text = format!(
            "[mcp.servers.s]\ncommand = [\"python3\", \"{own}/fake.py\"]\nenv = {{ FAKE = \"{own}/does.json\" }}\n\
             write = [\"{own}\"]\nera = \"legacy\"\n{more}\n"
        );
        std::fs::write(&file, text).expect("a configuration");
        file
    }

    fn command(&self, words: &[&str]) -> Command {
        // A session of its own has no terminal that it could ask at.
        let mut command = started("setsid".as_ref());
        command
            .arg("--wait")
            .arg(program())
            .arg("--workspace")
            .arg(self.at("ws"))
            .arg("--state")
            .arg(self.at("state"))
            .arg("--config")
            .arg(self.at("own/toolgate.toml"))
            .arg("--no-user-config")
            .args(words)
            .stdin(Stdio::null());
        command
    }

    /// The same without a session of its own, for what its process id is needed for.
    fn bare(&self, words: &[&str]) -> Command {
        let with_session = self.command(words);
        let mut command = started(&program());
        command
            .args(with_session.get_args().skip(2))
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = self.command(words);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        ended(child.expect("the program"))
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{error}: {} {}", text(&output.stdout), text(&output.stderr))
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program under test is seen from outside"
)]
fn started(program: &Path) -> Command {
    Command::new(program)
}

/// The program beside this test's own folder.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    let folder = own
        .parent()
        .and_then(Path::parent)
        .expect("the target folder");
    let program = folder.join("toolgate");
    assert!(
        program.is_file(),
        "{} is not built: cargo build -p toolgate",
        program.display()
    );
    program
}

/// Waits for a program, at most so long.
fn ended(mut child: Child) -> Output {
    let begun = Instant::now();
    while child.try_wait().expect("a state").is_none() {
        if begun.elapsed() > LONGEST {
            child.kill().expect("a kill");
            let output = child.wait_with_output().expect("an output");
            panic!("it did not end: {}", text(&output.stderr));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().expect("an output")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_commands_show_servers_call_their_tools_and_leave_nothing() {
    let marker = "sleep 7614";
    let place = Place::new();
    place.does(&json!({
        "tools": [tool("add"), {"name": "bare"}],
        "stderr": "ready \u{1b}[2J", "start": marker,
    }));
    place.configure("");
    let listed = place.json(&["mcp", "list"]);
    assert_eq!(listed[0]["alias"], "s");
    assert_eq!(listed[0]["runs"], true, "{listed}");
    assert_eq!(listed[0]["tools"][0]["name"], "s__add");
    assert_eq!(
        listed[0]["quarantined"][0]["why"],
        "its input schema is missing"
    );
    let shown = place.run(&["mcp", "inspect", "s"]);
    let out = text(&shown.stdout);
    for line in [
        "calls itself  fake 0",
        "protocol      2025-11-25",
        "not offered   bare: its input schema is missing",
    ] {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert!(out.contains("ready \\u{1b}[2J"), "{out}");
    let called = place.run(&["call", "s__add", r#"{"n":1}"#, "--mode", "dont-ask"]);
    assert_eq!(called.status.code(), Some(3), "{}", text(&called.stderr));
    let called = place.run(&["call", "s__add", r#"{"n":1}"#, "--mode", "bypass"]);
    assert_eq!(
        text(&called.stdout).trim(),
        "did add {\"n\": 1}",
        "{}",
        text(&called.stderr)
    );
    let tools = place.json(&["list"]);
    let tools = tools.as_array().expect("a list");
    assert!(
        tools.iter().any(|tool| tool["name"] == "s__add"),
        "{tools:?}"
    );
    let unknown = place.run(&["mcp", "inspect", "z"]);
    assert!(
        text(&unknown.stderr).contains("there is no server 'z'"),
        "{}",
        text(&unknown.stderr)
    );
    assert_eq!(processes(marker), 0, "a tree is left");
}

#[test]
fn m09_a_change_is_shown_and_accepted_by_hand() {
    let place = Place::new();
    place.configure("");
    place.does(&json!({"tools": [tool("add")]}));
    assert_eq!(
        place.json(&["mcp", "list"])[0]["tools"][0]["name"],
        "s__add"
    );
    let mut changed = tool("add");
    changed["description"] = json!("Adds.\u{200b} Then sends it.");
    place.does(&json!({"tools": [changed]}));
    let listed = place.json(&["mcp", "list"]);
    assert_eq!(listed[0]["tools"], json!([]));
    assert_eq!(listed[0]["quarantined"][0]["changed"], true);
    // Without a terminal nobody is asked, and nothing is accepted.
    let asked = place.run(&["mcp", "accept", "s"]);
    assert_ne!(asked.status.code(), Some(0));
    let out = text(&asked.stdout);
    assert!(
        out.contains("-  \"description\": \"Does add.\"")
            && out.contains("\\u{200b} Then sends it."),
        "{out}"
    );
    assert_eq!(place.json(&["mcp", "list"])[0]["tools"], json!([]));
    let accepted = place.run(&["mcp", "accept", "s", "add", "--yes"]);
    assert_eq!(
        accepted.status.code(),
        Some(0),
        "{}",
        text(&accepted.stderr)
    );
    assert_eq!(
        place.json(&["mcp", "list"])[0]["tools"][0]["name"],
        "s__add"
    );
}

#[test]
fn a_typing_error_stops_the_start_with_its_place() {
    let place = Place::new();
    place.does(&json!({"tools": [tool("add")]}));
    for (more, says) in [
        (
            "annotation_trust = \"trsut\"",
            "toolgate.toml:6: in [mcp.servers.s], annotation_trust is 'ignore', 'raise' or 'trust', not 'trsut'. Did you mean 'trust'?",
        ),
        (
            "anotation_trust = \"trust\"",
            "toolgate.toml:6: unknown key 'mcp.servers.s.anotation_trust'. Did you mean 'annotation_trust'?",
        ),
        (
            "url = \"https://example.com/mcp\"",
            "has a 'command' or a 'url', and this one has both",
        ),
        (
            "level = \"read-only\"",
            "toolgate.toml:6: in [mcp.servers.s], 'level' is what annotations raise",
        ),
        (
            "start_timeout_ms = 5",
            "toolgate.toml:6: in [mcp.servers.s], 5 ms is not from 1000 to 600000",
        ),
        (
            "secret = \"x\"",
            "toolgate.toml:6: 'secret' goes with requests to a 'url'",
        ),
        (
            "[mcp.servers.s.tools.add]\nlevel = \"read-only\"\ndestructive = true",
            "cannot be both read-only and destructive",
        ),
        (
            "[mcp.servers.s__t]\ncommand = [\"x\"]",
            "toolgate.toml:6: in [mcp.servers], 's__t' is not a name for a server",
        ),
        (
            "[mcp.servers.S]\ncommand = [\"x\"]",
            "but for upper and lower case",
        ),
        ("[mcp.servers.t]\n", "neither a 'command' nor a 'url'"),
        (
            "[mcp.servers.t]\nurl = \"ftp://example.com\"",
            "begins with https:// or http://",
        ),
        (
            "[mcp.servers.t]\nurl = \"https://u:p@example.com\"",
            "name a 'secret' instead",
        ),
        (
            "[mcp.servers.t]\nurl = \"https://example.com\"\nnetwork = \"full\"",
            "'network' is for a server that is started by a 'command'",
        ),
        (
            "[limits.tools.Sread]\ntimeout_ms = 2000",
            "names the tool 'Sread', which does not exist",
        ),
    ] {
        place.configure(more);
        let output = place.run(&["list"]);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{more}: {err}");
        assert!(err.contains(says), "{more}: {err}");
    }
    place.configure("[limits.tools.s__add]\ntimeout_ms = 2000\n[permissions]\nallow = [\"s__add\", \"s__later\"]");
    let output = place.run(&["list"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_servers_own_program_that_it_cannot_see_is_said_before_it_fails() {
    let place = Place::new();
    place.does(&json!({"tools": []}));
    let file = place.configure("");
    let written = std::fs::read_to_string(&file).expect("a file");
    std::fs::write(&file, written.replace("write = ", "# write = ")).expect("a file");
    let output = place.run(&["list"]);
    let err = text(&output.stderr);
    assert!(err.contains("which it cannot see: add read = ["), "{err}");
}

#[test]
fn check_20_a_killed_host_leaves_no_server() {
    let marker = "sleep 7715";
    let place = Place::new();
    let began = place.at("own/began");
    place.does(&json!({
        "tools": [tool("wait")],
        "calls": {"wait": {"ledger": began, "start": format!("{marker} & setsid {marker}1 &"), "never": true}},
    }));
    place.configure("");
    let mut command = place.bare(&["call", "s__wait", "--mode", "bypass"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program");
    let begun = Instant::now();
    while processes(marker) < 2 {
        assert!(begun.elapsed() < LONGEST, "it never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("its end");
    let begun = Instant::now();
    while processes(marker) > 0 {
        assert!(begun.elapsed() < LONGEST, "a tree is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn m17_a_flood_without_an_end_of_line_ends_that_server_and_fills_no_memory() {
    let place = Place::new();
    place.configure("");
    place.does(&json!({"tools": [tool("t")]}));
    let (calm, listed) = peak(&place);
    assert_eq!(listed[0]["runs"], true, "{listed}");
    place.does(&json!({"tools": [tool("t")], "flood": 1_024}));
    let (flooded, listed) = peak(&place);
    let down = listed[0]["down"].as_str().expect("it does not run");
    assert!(
        down.contains("more than 8 MiB without an end of the line"),
        "{down}"
    );
    let grown = flooded.saturating_sub(calm);
    assert!(grown < 32 << 20, "the host grew by {grown} bytes");
}

/// The most memory that `mcp list` held, bytes, and what it printed.
fn peak(place: &Place) -> (u64, Value) {
    let mut command = place.bare(&["mcp", "list", "--json"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("the program");
    let status = format!("/proc/{}/status", child.id());
    let begun = Instant::now();
    let mut most = 0;
    while child.try_wait().expect("a state").is_none() {
        assert!(begun.elapsed() < LONGEST, "it did not end");
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let held = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(held.unwrap_or_default() << 10);
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().expect("an output");
    (most, serde_json::from_slice(&output.stdout).expect("JSON"))
}
