//! Cases of the family `shell` about ends: a call ends with its shell or at its deadline, and nothing of it lives on.
//!
//! Where a case looks a minute later, these look some seconds later, and what must not come would come within them.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use toolgate::config::ShellSetting;
use toolgate::model::{Ending, RawCall};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::shell_host::{
    appears, assert_timed_out, never_appears, processes_with, until, with_any_command,
};

cases! {
    "H03" => h03_the_call_ends_with_the_shell_and_not_with_the_pipe,
    "H05" => h05_the_deadline_ends_grandchildren,
    "H06" => h06_what_ignores_signals_ends_all_the_same,
    "H07" => h07_a_daemon_ends_with_the_call,
    "H08" => h08_a_cancelled_command_is_dead_and_the_host_is_not,
    "H09" => h09_deadline_and_cancellation_at_once_are_one_end,
    "H20" => h20_the_shell_may_replace_itself,
    "H22" => h22_a_fork_bomb_stays_in_its_call,
}

/// After this, what sleeps for two seconds and survived would have shown itself.
const LONG_ENOUGH: Duration = Duration::from_secs(3);

async fn h03_the_call_ends_with_the_shell_and_not_with_the_pipe() {
    let host = with_any_command().await;
    let said = host
        .done("Bash", until("sleep 60 & echo done", 20_000))
        .await;
    assert!(said.starts_with("done\n"), "{said}");
    assert!(!said.contains("[exit code"), "{said}");
    assert!(
        said.contains("1 background process was still running"),
        "{said}"
    );
}

async fn h05_the_deadline_ends_grandchildren() {
    let host = with_any_command().await;
    let line = "bash -c 'bash -c \"sleep 2; touch /ws/late\"'";
    assert_timed_out(&host.call("Bash", until(line, 1_000)).await, 1_000);
    never_appears(&host.scratch.ws.join("late"), LONG_ENOUGH).await;
}

async fn h06_what_ignores_signals_ends_all_the_same() {
    let host = with_any_command().await;
    let line = "trap '' TERM; (trap '' TERM; sleep 2; touch /ws/late) & wait";
    assert_timed_out(&host.call("Bash", until(line, 1_000)).await, 1_000);
    never_appears(&host.scratch.ws.join("late"), LONG_ENOUGH).await;
}

async fn h07_a_daemon_ends_with_the_call() {
    let host = with_any_command().await;
    let line = "setsid sh -c '(sleep 2; touch /ws/late) & exit 0'; sleep 30";
    assert_timed_out(&host.call("Bash", until(line, 1_000)).await, 1_000);
    never_appears(&host.scratch.ws.join("late"), LONG_ENOUGH).await;
}

async fn h08_a_cancelled_command_is_dead_and_the_host_is_not() {
    let host = with_any_command().await;
    let line = until("touch /ws/begun; sleep 2; touch /ws/late", 60_000);
    let given_up = async {
        appears(&host.scratch.ws.join("begun")).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    tokio::select! {
        outcome = host.call("Bash", line) => panic!("{:?}", outcome.ending),
        () = given_up => {}
    }
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["ending"], "stopped", "{record}");
    assert_eq!(
        host.done("Bash", json!({"command": "echo on"})).await,
        "on\n"
    );
    never_appears(&host.scratch.ws.join("late"), LONG_ENOUGH).await;
}

/// Calls at once, eight times over.
const AT_ONCE: u64 = 25;

async fn h09_deadline_and_cancellation_at_once_are_one_end() {
    let host = with_any_command().await;
    let mut given = HashMap::new();
    for _ in 0..8 {
        let mut calls = JoinSet::new();
        for number in 0..AT_ONCE {
            let call = RawCall::new("Bash", until("sleep 5", 500).to_string());
            let (id, host) = (call.id.to_string(), host.host.clone());
            // A deadline of 500 ms is taken to the shortest there is, a second, which begins some time into the call.
            let cancelled = Duration::from_millis(1_000 + number * 4);
            calls.spawn(async move {
                let ended = tokio::time::timeout(cancelled, host.call(call)).await;
                (id, ended.ok())
            });
        }
        while let Some(call) = calls.join_next().await {
            let (id, outcome) = call.expect("a call");
            given.insert(id, outcome);
        }
    }
    let mut recorded: HashMap<String, Vec<String>> = HashMap::new();
    for record in host.journal.records() {
        let text = |key: &str| record[key].as_str().expect("a text").to_owned();
        recorded
            .entry(text("call"))
            .or_default()
            .push(text("ending"));
    }
    assert_eq!((given.len(), recorded.len()), (200, 200));
    let mut timed_out = 0;
    for (id, outcome) in given {
        let expected = match outcome {
            Some(outcome) => {
                assert_timed_out(&outcome, 1_000);
                timed_out += 1;
                "failed"
            }
            None => "stopped",
        };
        assert_eq!(recorded[&id], [expected], "{id}");
    }
    println!(
        "h09: {timed_out} ends by the deadline, {} by cancellation",
        200 - timed_out
    );
}

async fn h20_the_shell_may_replace_itself() {
    let host = with_any_command().await;
    // A number that nobody else sleeps for.
    let sleep = format!("sleep 60.{}", std::process::id());
    let line = until(&format!("exec {sleep}"), 1_000);
    assert_timed_out(&host.call("Bash", line).await, 1_000);
    assert_eq!(processes_with(&sleep.replace(' ', "\0")), 0);
    let said = host
        .done("Bash", json!({"command": "exec sh -c 'exit 7'"}))
        .await;
    assert_eq!(said, "[exit code: 7]");
}

async fn h22_a_fork_bomb_stays_in_its_call() {
    let mut setup = Setup::default().allow(&["Bash"]);
    setup.config.shell = ShellSetting::local();
    setup.config.shell.limits.processes = Some(512.into());
    let host = TestHost::with(Scratch::new(), setup, |builder| builder).await;
    let mark = format!("bomb-{}", std::process::id());
    // The shell itself stays, so that the deadline has to end it.
    let line = format!("touch /ws/begun; :(){{ :|:& }};: ; while true; do true; done; echo {mark}");
    let mut bomb = Box::pin(host.call("Bash", until(&line, 5_000)));
    let other = async {
        appears(&host.scratch.ws.join("begun")).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        host.call("Bash", json!({"command": "echo here"})).await
    };
    tokio::select! {
        biased;
        outcome = &mut bomb => panic!("nothing else ran beside it: {:?}", outcome.ending),
        other = other => {
            assert!(matches!(other.ending, Ending::Done(_)), "{:?}", other.ending);
            assert_eq!(other.ending.text(), "here\n");
        }
    }
    let bomb = bomb.await;
    let text = bomb.ending.text();
    assert!(
        text.contains("Resource temporarily unavailable"),
        "it came to no limit: {text}"
    );
    assert_timed_out(&bomb, 5_000);
    assert_eq!(processes_with(&mark), 0);
}
