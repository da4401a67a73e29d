//! What a verdict reaches: rules hold for the file behind a link as they do for the name of the link.

use std::os::unix::fs::symlink;

use serde_json::json;
use toolgate::model::Ending;
use toolgate::policy::{Decision, Mode};
use toolgate_tests::{Scratch, Setup, TestHost};

async fn host(scratch: Scratch, setup: Setup) -> TestHost {
    TestHost::with(scratch, setup, |builder| builder).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allow_rule_does_not_reach_through_a_link_into_what_it_does_not_name() {
    let scratch = Scratch::new();
    scratch.file("out/old.txt", "old");
    scratch.file("src/real.txt", "real");
    symlink("../out", scratch.ws.join("src/dir")).expect("a link");
    symlink("real.txt", scratch.ws.join("src/near.txt")).expect("a link");
    let host = host(scratch, Setup::default().allow(&["Write(/ws/src/**)"])).await;

    for path in ["/ws/src/dir/new.txt", "/ws/src/dir/old.txt"] {
        let text = host
            .failed("Write", json!({"file_path": path, "content": "x"}))
            .await;
        assert!(text.contains("no rule allows"), "{text}");
    }
    assert!(!host.scratch.ws.join("out/new.txt").exists());
    assert_eq!(
        std::fs::read_to_string(host.scratch.ws.join("out/old.txt")).expect("a file"),
        "old"
    );
    host.done(
        "Write",
        json!({"file_path": "/ws/src/near.txt", "content": "x"}),
    )
    .await;
    host.done(
        "Write",
        json!({"file_path": "/ws/src/made/for/it.txt", "content": "x"}),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_rule_is_not_walked_around_by_a_link() {
    let scratch = Scratch::new();
    scratch.file("private/a.txt", "private");
    scratch.file("plain.txt", "plain");
    symlink("private/a.txt", scratch.ws.join("link.txt")).expect("a link");
    let host = host(
        scratch,
        Setup::default().rules(Decision::Ask, &["Read(/ws/private/**)"]),
    )
    .await;
    let text = host
        .failed("Read", json!({"file_path": "/ws/link.txt"}))
        .await;
    assert!(
        text.contains("Read(") && text.contains("asks for"),
        "{text}"
    );
    host.done("Read", json!({"file_path": "/ws/plain.txt"}))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accept_edits_ends_at_the_workspace() {
    let scratch = Scratch::new();
    let mut setup = Setup::default().mode(Mode::AcceptEdits);
    setup.config.write.push(scratch.outside.clone().into());
    let host = host(scratch, setup).await;
    host.done("Write", json!({"file_path": "/ws/a.txt", "content": "x"}))
        .await;
    let outside = host
        .call(
            "Write",
            json!({"file_path": "/outside/a.txt", "content": "x"}),
        )
        .await;
    assert!(
        matches!(outside.ending, Ending::Denied(_)),
        "{:?}",
        outside.ending
    );
    assert!(!host.scratch.outside.join("a.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_read_is_not_edited_either() {
    let scratch = Scratch::new();
    scratch.file(".env", "KEY=1\n");
    let host = host(
        scratch,
        Setup::default()
            .allow(&["Edit", "Write"])
            .deny(&["Read(/ws/.env)"]),
    )
    .await;
    let edit = json!({"file_path": "/ws/.env", "old_string": "1", "new_string": "2"});
    assert!(host.denied("Edit", edit).await.contains("Read("));
    assert!(
        host.denied("Write", json!({"file_path": "/ws/.env", "content": ""}))
            .await
            .contains("Read(")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_named_git_cannot_point_elsewhere() {
    let host = host(Scratch::new(), Setup::default().mode(Mode::Bypass)).await;
    let call = json!({"file_path": "/ws/sub/.git", "content": "gitdir: ../x\n"});
    assert!(host.denied("Write", call).await.contains("never writable"));
}

#[tokio::test(flavor = "multi_thread")]
async fn eighty_thousand_nulls_are_looked_at_once() {
    let nulls: Vec<String> = (0..80_000)
        .map(|number| format!("\"{number}\":null"))
        .collect();
    let host = TestHost::new().await;
    let outcome = host
        .call_raw("Read", &format!("{{{}}}", nulls.join(",")))
        .await;
    assert!(
        outcome.ending.text().contains("'file_path' is required"),
        "{}",
        outcome.ending.text()
    );
    let record = host.journal.records().pop().expect("a record").to_string();
    assert!(record.len() < 16 << 10, "{} bytes", record.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_scrubbed_wherever_they_stand_in_a_record() {
    let token = "sk-live-abcdefghijklmnopqrstuvwx";
    let host = TestHost::new().await;
    host.denied("Grep", json!({"pattern": "x", "output_mode": token}))
        .await;
    host.denied(&format!("Tool-{token}"), json!({})).await;
    for record in host.journal.records() {
        let text = record.to_string();
        assert!(!text.contains(token), "{text}");
        assert!(text.contains("[scrubbed]"), "{text}");
    }
}
