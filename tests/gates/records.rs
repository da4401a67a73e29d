//! Records: one for every end of every call, with what each gate said.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use toolgate::approval::Fixed;
use toolgate::config::LimitSetting;
use toolgate::model::{Gate, RawCall};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::native::{done, last_record, steps};

async fn recording() -> TestHost {
    let scratch = Scratch::new();
    scratch.file("a.txt", "content");
    symlink(Path::new("a.txt"), scratch.ws.join("link")).expect("a link");
    let mut setup = Setup::default().deny(&["Read(.env)"]);
    let low = LimitSetting {
        fuel: Some(1_000_000.into()),
        ..LimitSetting::default()
    };
    setup
        .config
        .limits_of
        .insert("LoopsForever".to_owned(), low);
    TestHost::with(scratch, setup, |builder| {
        builder
            .component("loops", toolgate_artifacts::LOOPS_FOREVER.to_vec())
            .component("traps", toolgate_artifacts::TRAPS.to_vec())
            .approver(Fixed::approve("the test"))
    })
    .await
}

/// Makes a call, which must leave exactly one record with this ending.
async fn recorded(host: &TestHost, tool: &str, input: Value, ending: &str) -> Value {
    let before = host.journal.records().len();
    let outcome = host.call(tool, input).await;
    assert_eq!(outcome.ending.word(), ending, "{:?}", outcome.ending);
    assert_eq!(host.journal.records().len(), before + 1, "one record");
    let record = last_record(host);
    assert_eq!(record["call"], outcome.id.to_string());
    assert_eq!(record["tool"], tool);
    assert_eq!(record["ending"], ending);
    assert_eq!(record["origin"], "library");
    assert_eq!(record["input_sha256"].as_str().map(str::len), Some(64));
    record
}

/// The gates of a record, each once, in the order of their first words.
fn gates(record: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for step in record["gates"].as_array().expect("steps") {
        let name = step["gate"].as_str().expect("a name").to_owned();
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    names
}

fn up_to(last: Gate) -> Vec<String> {
    Gate::ALL
        .into_iter()
        .filter(|gate| *gate <= last)
        .map(|gate| gate.as_str().to_owned())
        .collect()
}

#[tokio::test]
async fn every_end_leaves_one_record_with_the_word_of_every_gate() {
    let host = recording().await;
    let read = |path: &str| json!({ "file_path": path });
    for (tool, input, ending) in [
        ("Read", read("/ws/a.txt"), "done"),
        ("Read", read("/ws/missing.txt"), "failed"),
        ("LoopsForever", json!({}), "stopped"),
        ("Traps", json!({ "how": "panic" }), "trapped"),
    ] {
        let record = recorded(&host, tool, input, ending).await;
        assert_eq!(gates(&record), up_to(Gate::PostHooks), "{ending}");
        assert_eq!(
            record["component"].as_str().map(str::len),
            Some(64),
            "{ending}"
        );
        assert_eq!(
            record["detail"].is_null(),
            ending == "done",
            "{ending}: {}",
            record["detail"]
        );
        assert!(
            record["usage"]["fuel"]
                .as_u64()
                .is_some_and(|fuel| fuel > 0),
            "{ending}"
        );
    }
    for (tool, input, gate) in [
        ("Raed", json!({}), Gate::Resolve),
        ("Read", read("/ws/.env"), Gate::Permission),
        (
            "Read",
            json!({ "file_path": "/ws/a.txt", "undeclared": 1 }),
            Gate::Schema,
        ),
    ] {
        let record = recorded(&host, tool, input, "denied").await;
        assert_eq!(gates(&record), up_to(gate), "{tool}");
        assert_eq!(record["detail"]["gate"], gate.as_str());
        assert_eq!(record["usage"]["fuel"], 0);
        assert_eq!(record["files"], json!([]));
    }
}

/// The rule that decided stands in the record, with where it is written.
#[tokio::test]
async fn a_record_names_the_rule_and_where_it_stands() {
    let host = recording().await;
    let record = recorded(&host, "Read", json!({ "file_path": "/ws/.env" }), "denied").await;
    let rule = json!({ "rule": "Read(.env)", "effect": "deny", "file": "test.toml", "line": 1 });
    let steps = record["gates"].as_array().expect("steps");
    assert_eq!(steps.last().expect("a step")["rules"], json!([rule]));
    assert_eq!(record["detail"]["rules"], json!([rule]));
}

#[tokio::test]
async fn a_record_of_a_call_through_a_link_names_both_paths() {
    let host = recording().await;
    let record = recorded(&host, "Read", json!({ "file_path": "/ws/link" }), "done").await;
    let ws = &host.scratch.ws;
    let used =
        json!({ "access": "read", "requested": ws.join("link"), "resolved": ws.join("a.txt") });
    assert!(
        record["files"].as_array().expect("files").contains(&used),
        "{}",
        record["files"]
    );
}

#[tokio::test]
async fn a_record_names_who_approved_and_what_was_written() {
    let host = recording().await;
    let input = json!({ "file_path": "/ws/new.txt", "content": "c" });
    let record = recorded(&host, "Write", input, "done").await;
    assert_eq!(record["approved_by"], "the test");
    let asked = (String::from("asked"), String::from("approved by the test"));
    assert_eq!(steps(&record, "approval"), [asked]);
    let path = host.scratch.ws.join("new.txt");
    let used = json!({ "access": "write", "requested": path, "resolved": path });
    assert!(
        record["files"].as_array().expect("files").contains(&used),
        "{}",
        record["files"]
    );
}

/// What a bound ended or a guest died of is in the record in words for programs.
#[tokio::test]
async fn a_record_says_what_ended_the_guest() {
    let host = recording().await;
    let record = recorded(&host, "LoopsForever", json!({}), "stopped").await;
    assert_eq!(
        record["detail"],
        json!({ "bound": "fuel", "limit": 1_000_000 })
    );
    let record = recorded(&host, "Traps", json!({ "how": "panic" }), "trapped").await;
    let cause = record["detail"]["cause"].as_str().expect("a cause");
    assert!(cause.contains("unreachable"), "{cause}");
}

/// A secret in an input is not kept, and the digest still names what arrived.
#[tokio::test]
async fn a_record_keeps_no_secret_of_the_input() {
    let host = recording().await;
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let input =
        json!({ "file_path": "/ws/new.txt", "content": format!("the token is {secret} and more") });
    let record = recorded(&host, "Write", input, "done").await;
    assert!(!record.to_string().contains(secret), "{record}");
    assert!(
        record["input"]
            .as_str()
            .expect("text")
            .contains("[scrubbed]")
    );
    assert!(
        std::fs::read_to_string(host.scratch.ws.join("new.txt"))
            .expect("a file")
            .contains(secret)
    );
}

/// An input that is no text, or far too long, is recorded all the same.
#[tokio::test]
async fn a_record_bounds_what_it_quotes() {
    let host = recording().await;
    for input in [
        b"\xff\xfe{".to_vec(),
        vec![b' '; (1 << 20) + 1],
        vec![b'{'; 100_000],
        Vec::new(),
    ] {
        let length = input.len();
        let outcome = host.host.call(RawCall::new("Read", input)).await;
        assert_eq!(outcome.ending.word(), "denied");
        let record = last_record(&host);
        assert_eq!(record["call"], outcome.id.to_string());
        assert_eq!(record["detail"]["gate"], "parse", "{length} bytes");
        assert!(
            record.to_string().len() < 16 << 10,
            "a record of {} bytes",
            record.to_string().len()
        );
    }
    let long_name = "N".repeat(100_000);
    let outcome = host.host.call(RawCall::new(long_name, "{}")).await;
    assert_eq!(outcome.ending.word(), "denied");
    assert!(last_record(&host).to_string().len() < 16 << 10);
}

#[tokio::test]
async fn calls_at_once_leave_one_record_each() {
    let host = recording().await;
    let call = || host.call("Read", json!({ "file_path": "/ws/a.txt" }));
    let (one, two, three, four) = tokio::join!(call(), call(), call(), call());
    let outcomes = [one, two, three, four];
    let mut ids: Vec<String> = outcomes
        .iter()
        .map(|outcome| outcome.id.to_string())
        .collect();
    for outcome in &outcomes {
        assert!(done(outcome).contains("content"));
    }
    let mut recorded: Vec<String> = host
        .journal
        .records()
        .iter()
        .map(|record| record["call"].as_str().expect("an id").to_owned())
        .collect();
    ids.sort();
    recorded.sort();
    assert_eq!(recorded, ids);
}

#[tokio::test]
async fn a_record_bounds_a_path_that_it_quotes() {
    let host = recording().await;
    for path in [
        format!("/outside/{}", "x".repeat(900_000)),
        "x/".repeat(400_000),
    ] {
        let outcome = host.call("Read", json!({ "file_path": path })).await;
        assert_ne!(outcome.ending.word(), "done");
        let record = last_record(&host);
        assert_eq!(record["call"], outcome.id.to_string());
        assert!(
            record.to_string().len() < 16 << 10,
            "a record of {} bytes",
            record.to_string().len()
        );
    }
}
