//! The Inspector's `mcpdo`: a person's answer to an approval, given by a client that nobody here wrote.

use std::time::Duration;

use crate::desk::Desk;
use crate::place::{Place, here};
use crate::program::run;

const PATIENCE: Duration = Duration::from_secs(120);

/// Runs `scripts/mcpdo.sh`: connects in an era, calls Write, answers with these words, and ends its daemon.
fn approval(era: &str, elicit: &str, answer: &[&str]) -> (Desk, String) {
    let place = Place::get();
    let desk = Desk::new();
    let script = here().join("scripts/mcpdo.sh");
    let mcpdo = place.at(
        "inspector/node_modules/@modelcontextprotocol/inspector/clients/mcpdo/build/mcp-bin.js",
    );
    let mut line = vec![
        script.display().to_string(),
        place.node().display().to_string(),
        mcpdo.display().to_string(),
    ];
    line.extend([
        era.to_owned(),
        elicit.to_owned(),
        answer.join(" "),
        "--".to_owned(),
    ]);
    line.extend(desk.command(&[]));
    let ran = run("bash".as_ref(), &line, &desk.ws, PATIENCE);
    let said = format!("{}\n{}", ran.stdout, ran.stderr);
    println!("{said}");
    (desk, said)
}

#[track_caller]
fn check(era: &str, elicit: &str, answer: &[&str], allowed: bool) {
    let (desk, said) = approval(era, elicit, answer);
    assert_eq!(
        desk.ws.join("new.txt").exists(),
        allowed,
        "{era} {answer:?}: {said}"
    );
    let records = desk.records();
    let write = records
        .iter()
        .rfind(|record| record["tool"] == "Write")
        .expect("a record of the call");
    assert_eq!(write["ending"] == "done", allowed, "{write}");
}

#[test]
fn check_14_legacy() {
    check("legacy", "both", &["decision:=\"allow_once\""], true);
    check("legacy", "both", &["decision:=\"deny\""], false);
    check("legacy", "both", &["--decline"], false);
    check("legacy", "both", &["--cancel"], false);
    check("legacy", "off", &[], false);
}

#[test]
fn check_14_modern() {
    check("modern", "both", &["decision:=\"allow_once\""], true);
    check("modern", "both", &["decision:=\"deny\""], false);
    check("modern", "both", &["--decline"], false);
    check("modern", "both", &["--cancel"], false);
    check("modern", "off", &[], false);
}
