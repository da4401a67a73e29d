//! The Inspector's command line: strict about schemas, and a load.

use std::time::Duration;

use serde_json::Value;

use crate::desk::Desk;
use crate::place::Place;
use crate::program::{Ran, run};

const PATIENCE: Duration = Duration::from_secs(90);

/// Runs the Inspector with these arguments on a server over stdio.
fn inspect(desk: &Desk, arguments: &[&str]) -> Ran {
    let place = Place::get();
    let script = place.at("inspector/node_modules/.bin/mcp-inspector");
    let mut line = vec![
        script.display().to_string(),
        "--cli".to_owned(),
        "-q".to_owned(),
        "--format".to_owned(),
        "json".to_owned(),
    ];
    line.extend(arguments.iter().map(|&argument| argument.to_owned()));
    line.extend(desk.command(&[]));
    run(&place.node(), &line, &desk.ws, PATIENCE)
}

/// The schemas of the built-in tools are those that every client takes. The fixture with the wider words is left out.
#[test]
fn check_7_no_schema_is_a_problem_to_strict_clients() {
    for era in ["legacy", "auto", "modern"] {
        let desk = Desk::without_wide_schemas();
        let ran = inspect(
            &desk,
            &["--strict", "--protocol-era", era, "--method", "tools/list"],
        )
        .well();
        let listed: Value = serde_json::from_str(&ran.stdout).unwrap();
        let names: Vec<_> = listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert!(
            names.contains(&"Read") && names.contains(&"Bash"),
            "{era}: {names:?}"
        );
    }
}

#[test]
fn check_8_a_call_and_a_denied_one() {
    let desk = Desk::new();
    let call = |file: &str| {
        let input = format!(r#"{{"file_path":"{file}"}}"#);
        inspect(
            &desk,
            &[
                "--method",
                "tools/call",
                "--tool-name",
                "Read",
                "--tool-args-json",
                &input,
            ],
        )
    };
    let read = call("a.txt").well();
    assert!(read.stdout.contains("alpha"), "{}", read.stdout);
    let denied = call("secret.env");
    assert_eq!(denied.code, Some(5), "{}{}", denied.stdout, denied.stderr);
    assert!(!denied.stdout.contains("hunter2"), "{}", denied.stdout);
}

#[test]
fn check_9_five_hundred_calls_twenty_at_a_time() {
    let desk = Desk::new();
    let ran = inspect(
        &desk,
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "Read",
            "--tool-args-json",
            r#"{"file_path":"a.txt"}"#,
            "--load",
            "--load-requests",
            "500",
            "--load-concurrency",
            "20",
        ],
    )
    .well();
    println!("{}", ran.stdout);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = report.to_string();
    assert!(text.contains(r#""errorRate":0"#), "{text}");
    assert_eq!(desk.records().len(), 500, "each call has its record");
}
