//! The tools over sessions through every gate.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate::config::ShellSetting;
use toolgate::model::{Ending, SubjectField, SubjectKind};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::adversary::is_quiet;

const ALL: [&str; 4] = ["ShellStart", "ShellWrite", "ShellResize", "ShellClose"];

async fn host(setup: Setup) -> TestHost {
    let mut setup = setup;
    setup.config.shell = ShellSetting::local();
    TestHost::with(Scratch::new(), setup, |builder| builder).await
}

async fn started(host: &TestHost, input: Value) -> String {
    let said = host.done("ShellStart", input).await;
    let id = said
        .split([' ', '.'])
        .find(|word| word.starts_with("terminal-"));
    id.expect("an id").to_owned()
}

/// Reads from the beginning until something was shown. Fails at the end of its patience.
async fn until(host: &TestHost, id: &str, expected: &str) -> String {
    let begun = Instant::now();
    loop {
        let said = host.done("ShellRead", json!({"session": id})).await;
        if said.contains(expected) {
            return said;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{said}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_session_from_its_start_to_its_end() {
    let host = host(Setup::default().allow(&ALL)).await;
    let id = started(&host, json!({"rows": 30, "columns": 100})).await;
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["commands"][0]["line"], "bash");
    assert_eq!(record["commands"][0]["outcome"], format!("session {id}"));
    let type_in = |text: &str| json!({"session": id, "text": text});
    let typed = host
        .done("ShellWrite", type_in("stty size; pwd; x=un"))
        .await;
    assert!(typed.starts_with("Typed 21 bytes"), "{typed}");
    let said = until(&host, &id, &format!("{}\n", host.scratch.ws.display())).await;
    assert!(said.contains("30 100\n"), "{said}");
    // State stays from call to call, and an offset goes on.
    let next: u64 = said
        .trim_end_matches(']')
        .rsplit(' ')
        .next()
        .and_then(|next| next.parse().ok())
        .expect("an offset");
    let size = json!({"session": id, "rows": 10, "columns": 40});
    let resized = host.done("ShellResize", size).await;
    assert!(resized.contains("10 rows and 40 columns"), "{resized}");
    host.done("ShellWrite", type_in("stty size; echo ${x}seen"))
        .await;
    let said = until(&host, &id, "unseen\n").await;
    assert!(said.contains("10 40\n"), "{said}");
    let later = json!({"session": id, "offset": next});
    let later = host.done("ShellRead", later).await;
    assert!(
        later.contains("unseen\n") && !later.contains("30 100"),
        "{later}"
    );
    host.done("ShellWrite", type_in("exit 7")).await;
    let said = until(&host, &id, "has ended with exit code 7]").await;
    assert!(!said.contains("offset"), "{said}");
    let gone = host.failed("ShellWrite", type_in("echo")).await;
    assert!(gone.contains("has ended"), "{gone}");
    for _ in 0..2 {
        let closed = host.done("ShellClose", json!({"session": id})).await;
        assert!(closed.contains("has ended with exit code 7"), "{closed}");
    }
}

#[tokio::test]
async fn rules_see_the_command_and_nobody_types_unasked() {
    // What runs Bash unasked does not start sessions unasked, and the other way round.
    let setup = Setup::default().allow(&["ShellStart(cat:*)", "Bash"]);
    let host = host(setup).await;
    host.denied("ShellStart", json!({})).await;
    host.denied("ShellStart", json!({"command": "cat; touch stolen"}))
        .await;
    let id = started(&host, json!({"command": "cat"})).await;
    let said = host
        .denied("ShellWrite", json!({"session": id, "text": "x"}))
        .await;
    assert!(said.contains("approval is needed"), "{said}");
    host.denied("ShellClose", json!({"session": id})).await;
    // Reading is not asked about.
    let shown = host
        .done("ShellRead", json!({"session": id, "wait_ms": 0}))
        .await;
    assert!(shown.contains("is running"), "{shown}");
    assert!(!host.scratch.ws.join("stolen").exists());
}

#[tokio::test]
async fn a_deny_rule_over_commands_binds_every_tool_that_runs_one() {
    let setup = Setup::default()
        .allow(&["ShellStart", "Bash", "Echo"])
        .deny(&["Bash(rm:*)"]);
    let mut setup = setup;
    setup.config.shell = ShellSetting::local();
    let line = SubjectField {
        kind: SubjectKind::Command,
        field: "text".to_owned(),
    };
    setup.config.subjects = [("Echo".to_owned(), line.into())].into();
    let host = TestHost::with(Scratch::new(), setup, |builder| {
        builder.component("echo", toolgate_artifacts::ECHO.to_vec())
    })
    .await;
    let kept = host.scratch.file("kept", "");
    for (tool, field) in [
        ("Bash", "command"),
        ("ShellStart", "command"),
        ("Echo", "text"),
    ] {
        for line in ["rm kept", "cat x; env /bin/rm -f kept", "sh -c 'rm kept'"] {
            let outcome = host.call(tool, json!({ field: line })).await;
            let Ending::Denied(denial) = &outcome.ending else {
                panic!("{tool} {line}: {:?}", outcome.ending);
            };
            let rule = denial.sources().first().map(|rule| rule.rule.as_str());
            assert_eq!(rule, Some("Bash(rm:*)"), "{tool} {line}");
        }
        // What cannot be read may hide it.
        let said = host.denied(tool, json!({ field: "$(echo rm) kept" })).await;
        assert!(said.contains("Bash(rm:*)"), "{tool}: {said}");
    }
    assert!(kept.exists());
    // The innocent ones.
    assert_eq!(host.done("Echo", json!({"text": "ls"})).await, "ls");
    let id = started(&host, json!({"command": "echo beside; sleep .1"})).await;
    until(&host, &id, "beside").await;
}

#[tokio::test]
async fn the_sandbox_of_a_session_is_that_of_a_command() {
    let setup = Setup::default().allow(&ALL).deny(&["Read(/ws/.env)"]);
    let host = host(setup).await;
    host.scratch.file(".env", "TOPSECRET");
    let state = host.scratch.state.display().to_string();
    let line =
        format!("cat .env; touch {state}/new /usr/new; echo kept > kept; sleep .1; echo over");
    let id = started(&host, json!({"command": line})).await;
    let said = until(&host, &id, "has ended").await;
    assert!(
        said.contains("over\n") && !said.contains("TOPSECRET"),
        "{said}"
    );
    assert!(!host.scratch.state.join("new").exists());
    let kept = std::fs::read(host.scratch.ws.join("kept")).expect("a file");
    assert_eq!(kept, b"kept\n");
}

#[tokio::test]
async fn odd_sessions_are_refused_with_a_reason() {
    let host = host(Setup::default().allow(&ALL)).await;
    let said = host.failed("ShellStart", json!({"rows": 0})).await;
    assert!(
        said.starts_with("Command failed:") && said.contains("from 1 to 1000"),
        "{said}"
    );
    let said = host.failed("ShellStart", json!({"cwd": "gone"})).await;
    assert!(
        said.starts_with("Command failed: the working directory"),
        "{said}"
    );
    for (tool, input) in [
        ("ShellRead", json!({"session": "terminal-1"})),
        ("ShellClose", json!({"session": "terminal-1"})),
        ("ShellWrite", json!({"session": "terminal-1", "text": "x"})),
    ] {
        let said = host.failed(tool, input).await;
        assert!(
            said.contains("no terminal 'terminal-1': none is running"),
            "{said}"
        );
    }
}

#[tokio::test]
async fn the_end_of_the_host_is_the_end_of_its_sessions() {
    let host = host(Setup::default().allow(&ALL)).await;
    let line = "trap '' HUP; setsid bash -c 'for i in $(seq 1 500); do printf . >> beat; sleep .02; done' & cat";
    started(&host, json!({"command": line})).await;
    let beat = host.scratch.ws.join("beat");
    let begun = Instant::now();
    while std::fs::metadata(&beat).map_or(0, |file| file.len()) < 3 {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let TestHost { host, scratch, .. } = host;
    drop(host);
    tokio::time::sleep(Duration::from_millis(400)).await;
    is_quiet(&beat).await;
    drop(scratch);
}
