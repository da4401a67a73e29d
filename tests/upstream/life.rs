//! The life of a server's process: started by need, ended whole, and a call that it leaves behind is a clear failure.

use std::time::Duration;

use serde_json::json;
use toolgate::config::McpServer;
use toolgate::model::{Ending, RawCall};

use crate::fixture::{
    Fake, failure, fake, host, lines, names, processes, report, settled, tool, until, upstreams,
};

fn quick(server: &mut McpServer) {
    server.start_timeout_ms = 2_000;
    server.idle_timeout_ms = 1_000;
}

#[tokio::test]
async fn m03_a_server_that_ends_during_a_call_is_a_failure_and_no_retry() {
    let host = settled(&[fake(
        "ext",
        json!({
            "tools": [tool("transfer"), tool("count")],
            "calls": {"transfer": {"ledger": "/outside/ledger", "stderr": "out of coins", "exit": 3}},
            "started": "/outside/started",
        }),
    )])
    .await;
    let (kind, text) = failure(&host, "ext__transfer", json!({"amount": 100})).await;
    assert_eq!(kind, "server-ended");
    assert!(
        text.contains("not known") && text.contains("out of coins"),
        "{text}"
    );
    assert_eq!(lines(&host, "ledger"), ["transfer"], "it was sent once");
    // The next call starts it again.
    assert_eq!(host.done("ext__count", json!({})).await, "did count {}");
    assert_eq!(lines(&host, "started").len(), 2);
    assert_eq!(lines(&host, "ledger").len(), 1);
}

#[tokio::test]
async fn a_call_is_sent_again_only_where_the_operator_says_that_twice_is_once() {
    let idempotent = Fake {
        set: |server| {
            let said = toolgate::config::McpTool {
                idempotent: Some(true),
                ..Default::default()
            };
            server.tools.insert("put".to_owned(), said.into());
        },
        ..fake(
            "ext",
            json!({
                "tools": [tool("put")],
                "calls": {"put": {"ledger": "/outside/ledger", "exit": 3}},
            }),
        )
    };
    let host = settled(&[idempotent]).await;
    let (kind, _) = failure(&host, "ext__put", json!({})).await;
    assert_eq!(kind, "server-ended");
    assert_eq!(
        lines(&host, "ledger").len(),
        2,
        "once more, and no third time"
    );
}

#[tokio::test]
async fn check_27_a_server_that_dies_at_its_start_costs_itself() {
    let host = host(&[
        fake(
            "dead",
            json!({"exit": 1, "stderr": "AttributeError: no such thing"}),
        ),
        fake("well", json!({"tools": [tool("t")]})),
    ])
    .await;
    upstreams(&host).settle().await;
    assert_eq!(names(&host), ["well__t"]);
    let dead = report(&host, "dead");
    let down = dead.down.expect("it does not run");
    assert!(down.contains("the exit code 1"), "{down}");
    assert!(dead.stderr.contains("AttributeError"), "{}", dead.stderr);
    assert_eq!(host.done("well__t", json!({})).await, "did t {}");
    // Its next start waits a while, and says so at once.
    host.denied("dead__t", json!({})).await;
    assert!(upstreams(&host).connect(Some("dead")).await.is_ok());
    let down = report(&host, "dead").down.expect("it does not run");
    assert!(down.contains("the exit code 1"), "{down}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_said_so() {
    let gone = Fake {
        set: |server| {
            if let toolgate::config::McpReach::Command { command, .. } = &mut server.reach {
                command[0] = "no-such-program-anywhere".to_owned();
            }
        },
        ..fake("gone", json!({}))
    };
    let host = settled(&[gone]).await;
    let down = report(&host, "gone").down.expect("it does not run");
    assert!(
        down.contains("'no-such-program-anywhere' is not there") && down.contains("PATH"),
        "{down}"
    );
}

#[tokio::test]
async fn check_27_a_server_that_never_answers_is_given_up_and_ended() {
    let marker = "sleep 7310";
    let host = host(&[
        Fake {
            set: quick,
            ..fake("mute", json!({"silent": true, "start": marker}))
        },
        Fake {
            set: quick,
            ..fake(
                "late",
                json!({
                    "tools": [tool("never"), tool("t")],
                    "calls": {"never": {"never": true}},
                    "heard": "/outside/heard",
                }),
            )
        },
    ])
    .await;
    upstreams(&host).settle().await;
    let down = report(&host, "mute").down.expect("given up");
    assert!(down.contains("was not ready within 2000 ms"), "{down}");
    until("its tree is gone", || processes(marker) == 0).await;
    let (kind, text) = failure(&host, "late__never", json!({})).await;
    assert_eq!(kind, "no-answer");
    assert!(text.contains("1000 ms"), "{text}");
    // It was told, and goes on.
    let cancelled = |line: &String| line.contains("notifications/cancelled");
    until("it was told", || {
        lines(&host, "heard").iter().any(cancelled)
    })
    .await;
    assert_eq!(host.done("late__t", json!({})).await, "did t {}");
}

#[tokio::test]
async fn progress_keeps_a_call_alive_and_the_deadline_ends_it_all_the_same() {
    let slow = |set: fn(&mut McpServer)| Fake {
        set,
        ..fake(
            "s",
            json!({
                "tools": [tool("steps"), tool("many")],
                "calls": {"steps": {"progress": 4, "between": 0.5}, "many": {"progress": 60, "between": 0.5}},
            }),
        )
    };
    let mut setup = toolgate_tests::Setup::default();
    let limits = toolgate::config::LimitSetting {
        timeout_ms: Some(3_000.into()),
        ..Default::default()
    };
    setup.config.limits_of.insert("s__many".to_owned(), limits);
    let host = crate::fixture::host_of(toolgate_tests::Scratch::new(), setup, &[slow(quick)]).await;
    upstreams(&host).settle().await;
    assert_eq!(host.done("s__steps", json!({})).await, "did steps {}");
    let outcome = host.call("s__many", json!({})).await;
    assert!(
        matches!(outcome.ending, Ending::Stopped(_)),
        "{:?}",
        outcome.ending
    );
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    let host = settled(&[fake(
        "s",
        json!({
            "tools": [tool("slow"), tool("t")],
            "calls": {"slow": {"ledger": "/outside/began", "never": true}},
            "heard": "/outside/heard",
        }),
    )])
    .await;
    let there = host.host.clone();
    let call = tokio::spawn(async move { there.call(RawCall::new("s__slow", "{}")).await });
    until("it began", || lines(&host, "began").len() == 1).await;
    call.abort();
    let cancelled = |line: &String| line.contains("notifications/cancelled");
    until("it was told", || {
        lines(&host, "heard").iter().any(cancelled)
    })
    .await;
    assert_eq!(host.done("s__t", json!({})).await, "did t {}");
}

#[tokio::test]
async fn check_29_what_a_server_left_behind_ends_with_it() {
    // One in its group, one in a session of its own.
    let (plain, apart) = ("sleep 7411", "sleep 7412");
    let does = json!({
        "tools": [tool("t")],
        "start": format!("{plain} & setsid {apart} &"),
        "at_eof": "/outside/eof",
    });
    let host = settled(&[fake("s", does)]).await;
    assert_eq!(host.done("s__t", json!({})).await, "did t {}");
    until("they run", || processes(plain) > 0 && processes(apart) > 0).await;
    host.host.close().await;
    until("both are gone", || processes(plain) + processes(apart) == 0).await;
    assert_eq!(lines(&host, "eof"), ["eof"], "it was asked first");
    let (kind, text) = failure(&host, "s__t", json!({})).await;
    assert_eq!(kind, "not-running");
    assert!(text.contains("being closed"), "{text}");
}

#[tokio::test]
async fn dropping_the_host_ends_every_tree() {
    let marker = "sleep 7513";
    let host = settled(&[fake("s", json!({"tools": [tool("t")], "start": marker}))]).await;
    until("it runs", || processes(marker) > 0).await;
    drop(host);
    until("it is gone", || processes(marker) == 0).await;
}

#[tokio::test]
async fn a_server_that_closes_in_the_middle_of_many_calls_fails_each_of_them_once() {
    let host = settled(&[fake(
        "s",
        json!({
            "tools": [tool("wait"), tool("end"), tool("t")],
            "calls": {
                "wait": {"ledger": "/outside/ledger", "never": true},
                "end": {"exit": 0},
            },
        }),
    )])
    .await;
    let there = host.host.clone();
    let waiting = tokio::spawn(async move { there.call(RawCall::new("s__wait", "{}")).await });
    until("it waits", || lines(&host, "ledger").len() == 1).await;
    let (kind, _) = failure(&host, "s__end", json!({})).await;
    assert_eq!(kind, "server-ended");
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    let waited = waited.expect("in time").expect("no panic");
    assert!(
        waited.ending.text().contains("ended during the call"),
        "{}",
        waited.ending.text()
    );
    assert_eq!(lines(&host, "ledger").len(), 1);
}
