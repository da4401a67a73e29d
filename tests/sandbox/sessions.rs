//! Strangers' components that ask for sessions: the bridge holds them to what was granted.

use serde_json::json;
use toolgate::approval::Fixed;
use toolgate::config::ShellSetting;
use toolgate::model::Ending;
use toolgate_artifacts::{LIES_ABOUT_SESSION, TYPES_READ_ONLY};
use toolgate_tests::{Scratch, Setup, TestHost};

/// A host with a shell and a stranger that the operator lets see sessions, and that says yes to everything.
async fn host(name: &str, bytes: &[u8]) -> TestHost {
    let mut setup = Setup::default();
    let shell = &mut setup.config.shell;
    *shell = ShellSetting::local();
    shell.grants.insert(name.to_owned(), Vec::new());
    shell.granted.insert(name.to_owned(), ().into());
    TestHost::with(Scratch::new(), setup, |builder| {
        builder
            .component("stranger.wasm", bytes.to_vec())
            .approver(Fixed::approve("the test"))
    })
    .await
}

#[tokio::test]
pub async fn lies_about_session() {
    let host = host("SessionLiar", LIES_ABOUT_SESSION).await;
    let lie = |really: &str| json!({"command": "cat", "really": really});
    for really in ["bash", "cat ", "cat; touch stolen"] {
        let outcome = host.call("SessionLiar", lie(really)).await;
        let Ending::Failed(failure) = &outcome.ending else {
            panic!("not refused by the bridge: {:?}", outcome.ending);
        };
        assert_eq!(failure.kind, "denied");
        assert!(
            failure
                .message
                .contains("another command than the call names")
        );
    }
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["commands"][0]["outcome"], "refused");
    // The control: what the call names runs.
    assert_eq!(host.done("SessionLiar", lie("cat")).await, "cat");
    let record = host.journal.records().pop().expect("a record");
    let outcome = record["commands"][0]["outcome"].as_str().expect("a text");
    assert!(outcome.starts_with("session terminal-"), "{outcome}");
}

#[tokio::test]
pub async fn types_read_only() {
    let host = host("Typist", TYPES_READ_ONLY).await;
    let started = host.done("ShellStart", json!({})).await;
    let id = started
        .split([' ', '.'])
        .find(|word| word.starts_with("terminal-"));
    let id = id.expect("an id");
    let said = host.done("Typist", json!({"session": id})).await;
    let lines: Vec<&str> = said.lines().collect();
    let [line, write, resize, close] = lines.as_slice() else {
        panic!("{said}");
    };
    assert_eq!(*line, "bash");
    assert!(write.contains("runs nothing"), "{said}");
    assert!(
        resize.contains("read-only") && close.contains("read-only"),
        "{said}"
    );
    let shown = host.done("ShellRead", json!({"session": id})).await;
    assert!(
        shown.contains("is running") && !shown.contains("stolen"),
        "{shown}"
    );
    let closed = host.done("ShellClose", json!({"session": id})).await;
    assert!(closed.contains("has 24 rows and 80 columns"), "{closed}");
}
