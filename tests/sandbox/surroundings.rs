//! Surroundings: network, environment, arguments, streams; and subjects that a tool computes itself.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};

use serde_json::{Value, json};
use toolgate::approval::Fixed;
use toolgate::model::{DenialReason, Ending, Gate, Outcome};
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup};

use crate::beside::{Guest, beside, host, host_in};

const SAME_FILE: Guest = ("SameFile", guests::SAME_FILE);

#[tokio::test]
pub async fn no_network() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    listener.set_nonblocking(true).expect("not blocking");
    let port = listener.local_addr().expect("its address").port();
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("a socket");
    socket.set_nonblocking(true).expect("not blocking");
    let host = host(("NoNetwork", guests::NO_NETWORK), Setup::default()).await;
    let outcome = beside(&host, "NoNetwork", json!({ "port": port })).await;
    assert!(
        matches!(outcome.ending, Ending::Done(_)),
        "{:?}",
        outcome.ending
    );
    assert_eq!(outcome.ending.text(), "4 ways tried, reached: []");
    let accepted = listener
        .accept()
        .map(|_| ())
        .expect_err("somebody connected");
    assert_eq!(accepted.kind(), ErrorKind::WouldBlock);
    let received = socket.recv(&mut [0]).expect_err("somebody sent a datagram");
    assert_eq!(received.kind(), ErrorKind::WouldBlock);
}

#[tokio::test]
pub async fn env_and_args() {
    assert!(
        std::env::vars().next().is_some(),
        "the test itself has an environment that could leak"
    );
    let host = host(("EnvAndArgs", guests::ENV_AND_ARGS), Setup::default()).await;
    let outcome = beside(&host, "EnvAndArgs", json!({})).await;
    let Ending::Done(output) = &outcome.ending else {
        panic!("{:?}", outcome.ending)
    };
    let found = output.structured.clone().expect("a structured result");
    let nothing =
        json!({ "variables": [], "arguments": [], "stdin": 0, "stdin_read": true, "root": false });
    assert_eq!(found, nothing);
}

/// A tool without the capability sees no files, by either door.
#[tokio::test]
async fn a_tool_that_asks_for_no_files_sees_none() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "a");
    let host = host_in(
        scratch,
        ("EnvAndArgs", guests::ENV_AND_ARGS),
        Setup::default(),
        |builder| builder,
    )
    .await;
    let outcome = beside(&host, "EnvAndArgs", json!({})).await;
    let Ending::Done(output) = &outcome.ending else {
        panic!("{:?}", outcome.ending)
    };
    assert_eq!(output.structured.as_ref().expect("a result")["root"], false);
    let record = host
        .journal
        .records()
        .into_iter()
        .find(|record| record["tool"] == "EnvAndArgs")
        .expect("its record");
    assert_eq!(record["files"], json!([]));
}

fn scratch_with_files() -> Scratch {
    let scratch = Scratch::new();
    scratch.file("a.txt", "same");
    scratch.file("b.txt", "same");
    scratch.file("secret.txt", "same");
    scratch
}

fn pair(left: &str, right: &str) -> Value {
    json!({ "left": left, "right": right })
}

fn denial(outcome: &Outcome) -> (Gate, &DenialReason) {
    match &outcome.ending {
        Ending::Denied(denial) => (denial.gate, &denial.reason),
        other => panic!("not denied: {other:?}"),
    }
}

/// Both files are subjects that the tool computes: a rule on one of them decides the call, before it runs.
#[tokio::test]
async fn a_rule_on_a_computed_subject_decides_the_call() {
    for rule in ["Read(secret.txt)", "Read(secret*)"] {
        let setup = Setup::default().deny(&[rule]);
        let host = host_in(scratch_with_files(), SAME_FILE, setup, |builder| builder).await;
        assert_eq!(
            host.done("SameFile", pair("/ws/a.txt", "/ws/b.txt")).await,
            "same"
        );
        for input in [
            pair("/ws/a.txt", "/ws/secret.txt"),
            pair("/ws/secret.txt", "/ws/a.txt"),
        ] {
            let outcome = beside(&host, "SameFile", input.clone()).await;
            let (gate, reason) = denial(&outcome);
            assert_eq!(gate, Gate::Permission, "{rule} {input}");
            match reason {
                DenialReason::Rule { rules } => assert_eq!(rules[0].rule, rule),
                other => panic!("{rule} {input}: {other:?}"),
            }
        }
    }
}

/// The same by a rule on the tool itself.
#[tokio::test]
async fn a_pattern_may_speak_of_a_tool_that_computes_its_subjects() {
    let setup = Setup::default().deny(&["SameFile(secret.txt)"]);
    let host = host_in(scratch_with_files(), SAME_FILE, setup, |builder| builder).await;
    assert_eq!(
        host.done("SameFile", pair("/ws/a.txt", "/ws/b.txt")).await,
        "same"
    );
    for input in [
        pair("/ws/a.txt", "/ws/secret.txt"),
        pair("/ws/secret.txt", "/ws/a.txt"),
    ] {
        let outcome = beside(&host, "SameFile", input).await;
        assert_eq!(denial(&outcome).0, Gate::Permission);
    }
}

/// A path that is computed is judged like any other.
#[tokio::test]
async fn a_computed_subject_outside_of_the_roots_is_denied() {
    let host = host_in(
        scratch_with_files(),
        SAME_FILE,
        Setup::default(),
        |builder| builder.approver(Fixed::approve("the test")),
    )
    .await;
    let outcome = beside(&host, "SameFile", pair("/ws/a.txt", "/outside/x")).await;
    let (gate, reason) = denial(&outcome);
    assert_eq!(gate, Gate::Permission);
    assert!(
        matches!(reason, DenialReason::OutsideRoots { .. }),
        "{reason:?}"
    );
}
