//! FastMCP's command line: another client that asks a person, on its stdin.

use std::time::Duration;

use serde_json::Value;

use crate::desk::Desk;
use crate::place::Place;
use crate::program::{Ran, run_with};

const PATIENCE: Duration = Duration::from_secs(90);

fn fastmcp(desk: &Desk, arguments: &[&str], typed: &str) -> Ran {
    let command = desk
        .command(&[])
        .iter()
        .map(|word| format!("'{word}'"))
        .collect::<Vec<_>>()
        .join(" ");
    let (verb, rest) = arguments.split_first().unwrap();
    let mut line = vec![*verb, "--command", &command, "--json"];
    line.extend(rest);
    run_with(
        &Place::get().at("fastmcp/bin/fastmcp"),
        &line,
        &desk.ws,
        &[("NO_COLOR", "1")],
        typed,
        PATIENCE,
    )
}

#[test]
fn check_13_it_lists_and_calls() {
    let desk = Desk::new();
    let listed = fastmcp(&desk, &["list"], "").well();
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert!(listed.to_string().contains(r#""name":"Read""#), "{listed}");
    let read = fastmcp(
        &desk,
        &[
            "call",
            "--target",
            "Read",
            "--input-json",
            r#"{"file_path":"a.txt"}"#,
        ],
        "",
    )
    .well();
    assert!(read.stdout.contains("alpha"), "{}", read.stdout);
    let denied = fastmcp(
        &desk,
        &[
            "call",
            "--target",
            "Read",
            "--input-json",
            r#"{"file_path":"secret.env"}"#,
        ],
        "",
    );
    assert_eq!(denied.code, Some(1), "{}", denied.stdout);
}

#[test]
fn check_13_a_person_allows_and_denies() {
    for (typed, allowed) in [("allow_once\n", true), ("deny\n", false)] {
        let desk = Desk::new();
        let input = r#"{"file_path":"new.txt","content":"new"}"#;
        let ran = fastmcp(
            &desk,
            &["call", "--target", "Write", "--input-json", input],
            typed,
        );
        assert_eq!(
            ran.code,
            Some(i32::from(!allowed)),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert_eq!(desk.ws.join("new.txt").exists(), allowed);
    }
}
