//! The conformance suite against our server, over HTTP, in both revisions. What does not apply stands in `baseline.yml`
//! with its reason; an entry that would pass fails the run.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::desk::Desk;
use crate::place::{Place, here};
use crate::program::{Ran, run};

/// How long one run of the suite may take.
const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) fn suite() -> PathBuf {
    Place::get().at("conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js")
}

/// Runs the suite's server leg with these arguments, and gives what it found below `out`.
fn server(arguments: &[&str]) -> (Ran, tempfile::TempDir) {
    let desk = Desk::new();
    let served = desk.http(&["--allow", "json_schema_2020_12_tool"]);
    let out = tempfile::tempdir().unwrap();
    let mut line = vec![
        suite().display().to_string(),
        "server".to_owned(),
        "--url".to_owned(),
        served.url.clone(),
    ];
    line.extend(arguments.iter().map(|&argument| argument.to_owned()));
    line.extend(["-o".to_owned(), out.path().display().to_string()]);
    let ran = run(&Place::get().node(), &line, out.path(), PATIENCE);
    println!("{}", ran.stdout);
    assert_eq!(served.end(), Some(143));
    (ran, out)
}

/// Every check of a scenario that the suite wrote down, as name and status.
fn checks(out: &std::path::Path, scenario: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(out).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(text) = fs::read_to_string(folder.join("checks.json")) else {
            continue;
        };
        if !name.contains(scenario) {
            continue;
        }
        let all: Vec<Value> = serde_json::from_str(&text).unwrap();
        found.extend(all.iter().map(|check| {
            let word = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
            (word("id"), word("status"))
        }));
    }
    found
}

/// A revision, and the scenario which shows that a server was there at all: some pass when nobody listens.
#[track_caller]
fn revision(revision: &str, shows: &str) {
    let baseline = here().join("baseline.yml");
    let (ran, out) = server(&[
        "--requirements",
        revision,
        "--expected-failures",
        baseline.to_str().unwrap(),
    ]);
    let seen = checks(out.path(), shows);
    assert!(
        seen.iter().any(|(_, status)| status == "SUCCESS"),
        "{shows} was not seen to pass: {seen:?}\n{}",
        ran.stderr
    );
    ran.well();
}

#[test]
fn check_1_the_server_conforms_to_2025_11_25() {
    revision("2025-11-25", "server-initialize");
}

#[test]
fn check_2_the_server_conforms_to_2026_07_28() {
    revision("2026-07-28", "server-stateless");
}

#[track_caller]
fn scenario(name: &str, version: &str) {
    let (ran, out) = server(&["--scenario", name, "--spec-version", version]);
    let failed: Vec<_> = checks(out.path(), name)
        .into_iter()
        .filter(|(_, status)| status == "FAILURE")
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    ran.well();
}

#[test]
fn check_3_other_hosts_and_origins_are_refused() {
    scenario("dns-rebinding-protection", "2025-11-25");
    scenario("dns-rebinding-protection", "2026-07-28");
}

#[test]
fn check_4_headers_are_held_against_the_body() {
    scenario("http-header-validation", "2026-07-28");
    scenario("http-custom-header-server-validation", "2026-07-28");
}

#[test]
fn check_6_schemas_reach_the_client_as_they_are() {
    scenario("json-schema-2020-12", "2026-07-28");
}
