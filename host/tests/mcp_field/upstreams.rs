//! The reference servers as upstreams, and the client leg of the conformance suite: all behind the gates.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::conformance::suite;
use crate::desk::Desk;
use crate::place::{Place, here};
use crate::program::{Ran, run, run_with};

const PATIENCE: Duration = Duration::from_secs(120);

/// A desk with a configuration of servers.
struct Servers {
    desk: Desk,
}

impl Servers {
    fn new(config: impl FnOnce(&Path) -> String) -> Self {
        let desk = Desk::new();
        let text = config(&desk.ws);
        fs::write(desk.config(), text).unwrap();
        Self { desk }
    }

    fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, &[])
    }

    fn run_with(&self, words: &[&str], environment: &[(&str, &str)]) -> Ran {
        let desk = &self.desk;
        let mut line: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let config = desk.config();
        for (flag, path) in [
            ("--workspace", &desk.ws),
            ("--state", &desk.state),
            ("--config", &config),
        ] {
            line.extend([flag.to_owned(), path.display().to_string()]);
        }
        line.push("--no-user-config".to_owned());
        run_with(
            env!("CARGO_BIN_EXE_toolgate").as_ref(),
            &line,
            &desk.ws,
            environment,
            "",
            PATIENCE,
        )
    }

    fn call(&self, tool: &str, input: &Value) -> Ran {
        self.run(&["call", tool, &input.to_string(), "--mode", "bypass"])
    }
}

/// The configuration of the six servers.
fn six(ws: &Path) -> String {
    let place = Place::get();
    let node = place.node();
    let npm = |server: &str| {
        place.at(&format!(
            "servers/node_modules/@modelcontextprotocol/{server}/dist/index.js"
        ))
    };
    let python = |server: &str| place.at(&format!("python-servers/bin/{server}"));
    let server = |name: &str, command: &[&Path], rest: &str| {
        let command: Vec<String> = command
            .iter()
            .map(|word| format!("{:?}", word.display().to_string()))
            .collect();
        format!(
            "[mcp.servers.{name}]\ncommand = [{}]\nwrite = [{ws:?}]\n{rest}\n",
            command.join(", ")
        )
    };
    let (git, time) = (python("mcp-server-git"), python("mcp-server-time"));
    let memory = format!(
        "env = {{ MEMORY_FILE_PATH = {:?} }}",
        ws.join("memory.jsonl").display().to_string()
    );
    [
        server("files", &[&node, &npm("server-filesystem"), ws], ""),
        server("every", &[&node, &npm("server-everything")], ""),
        server("memory", &[&node, &npm("server-memory")], &memory),
        server("think", &[&node, &npm("server-sequential-thinking")], ""),
        server("git", &[&git], ""),
        server(
            "time",
            &[&time, "--local-timezone".as_ref(), "UTC".as_ref()],
            "",
        ),
    ]
    .concat()
}

#[test]
fn check_25_the_reference_servers_serve_through_the_gates() {
    let servers = Servers::new(six);
    let listed = servers.run(&["mcp", "list", "--json"]).well();
    let reports: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    let tools = |alias: &str| -> Vec<String> {
        let report = reports
            .iter()
            .find(|report| report["alias"] == alias)
            .unwrap();
        assert_eq!(report["quarantined"], json!([]), "{alias}");
        let tools = report["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|tool| tool["of_server"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(tools("files").len(), 14);
    assert!(tools("every").len() >= 10, "{:?}", tools("every"));
    assert_eq!(tools("memory").len(), 9);
    assert_eq!(tools("think"), ["sequentialthinking"]);
    assert_eq!(tools("git").len(), 12);
    assert_eq!(tools("time").len(), 2);
    // What a server says of its tools counts as nothing: its reading tool is asked about like any other.
    let asked = servers.run(&["call", "files__read_text_file", r#"{"path":"a.txt"}"#]);
    assert_eq!(asked.code, Some(3), "{}{}", asked.stdout, asked.stderr);
    let read = servers
        .call(
            "files__read_text_file",
            &json!({ "path": servers.desk.ws.join("a.txt") }),
        )
        .well();
    assert!(read.stdout.contains("alpha"), "{}", read.stdout);
    let echo = servers
        .call("every__echo", &json!({ "message": "hello" }))
        .well();
    assert!(echo.stdout.contains("hello"), "{}", echo.stdout);
    let entities =
        json!({ "entities": [{ "name": "a", "entityType": "b", "observations": ["c"] }] });
    servers.call("memory__create_entities", &entities).well();
    assert!(
        fs::read_to_string(servers.desk.ws.join("memory.jsonl"))
            .unwrap()
            .contains("\"c\"")
    );
    let time = servers
        .call("time__get_current_time", &json!({ "timezone": "UTC" }))
        .well();
    assert!(time.stdout.contains("UTC"), "{}", time.stdout);
    run(
        "git".as_ref(),
        &["init", "-q", "."],
        &servers.desk.ws,
        PATIENCE,
    )
    .well();
    let status = servers
        .call("git__git_status", &json!({ "repo_path": servers.desk.ws }))
        .well();
    assert!(status.stdout.contains("a.txt"), "{}", status.stdout);
}

#[test]
fn check_27_a_server_that_dies_at_its_start_leaves_the_others() {
    let servers = Servers::new(|ws| {
        let sqlite = Place::get().at("python-servers-2/bin/mcp-server-sqlite");
        let broken = format!(
            "[mcp.servers.broken]\ncommand = [{:?}]\nwrite = [{ws:?}]\n",
            sqlite.display().to_string()
        );
        let place = Place::get();
        let memory =
            place.at("servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        let good = format!(
            "[mcp.servers.every]\ncommand = [{:?}, {:?}]\n",
            place.node().display().to_string(),
            memory.display().to_string()
        );
        broken + &good
    });
    let listed = servers.run(&["mcp", "list"]);
    assert_eq!(listed.code, Some(1), "{}{}", listed.stdout, listed.stderr);
    assert!(listed.stdout.contains("does not run"), "{}", listed.stdout);
    let echo = servers
        .call("every__echo", &json!({ "message": "hello" }))
        .well();
    assert!(echo.stdout.contains("hello"), "{}", echo.stdout);
}

#[test]
fn check_28_a_server_does_not_see_our_environment() {
    let servers = Servers::new(six);
    let seen = servers.run_with(
        &["call", "every__get-env", "{}", "--mode", "bypass"],
        &[("FIELD_SECRET", "hunter2")],
    );
    let seen = seen.well();
    assert!(seen.stdout.contains("PATH"), "{}", seen.stdout);
    assert!(!seen.stdout.contains("hunter2"), "{}", seen.stdout);
}

#[test]
fn check_29_what_a_server_started_ends_with_it() {
    let servers = Servers::new(|ws| {
        let place = Place::get();
        let script =
            place.at("servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
        let line = format!(
            "cd {}; sleep 300 & exec {} {} stdio",
            ws.display(),
            place.node().display(),
            script.display()
        );
        format!("[mcp.servers.every]\ncommand = [\"sh\", \"-c\", {line:?}]\nwrite = [{ws:?}]\n")
    });
    let echo = servers
        .call("every__echo", &json!({ "message": "hello" }))
        .well();
    assert!(echo.stdout.contains("hello"), "{}", echo.stdout);
    servers.desk.nothing_runs();
}

/// The suite's client leg. What does not apply stands in `baseline.yml`.
fn client_leg(revision: &str) {
    let folder = tempfile::tempdir().unwrap();
    let client = format!(
        "python3 {} {} {}",
        here().join("scripts/conformance_client.py").display(),
        env!("CARGO_BIN_EXE_toolgate"),
        folder.path().display()
    );
    let baseline = here().join("baseline.yml");
    let ran = run(
        &Place::get().node(),
        &[
            suite().to_str().unwrap(),
            "client",
            "--command",
            &client,
            "--requirements",
            revision,
            "--expected-failures",
            baseline.to_str().unwrap(),
            "-o",
            folder.path().to_str().unwrap(),
        ],
        folder.path(),
        Duration::from_secs(280),
    );
    println!("{}", ran.stdout);
    assert!(
        ran.stdout.contains("tools_call"),
        "the suite ran: {}",
        ran.stderr
    );
    ran.well();
}

#[test]
fn check_5_the_client_conforms_to_2025_11_25() {
    client_leg("2025-11-25");
}

#[test]
fn check_5_the_client_conforms_to_2026_07_28() {
    client_leg("2026-07-28");
}
