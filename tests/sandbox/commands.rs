//! Strangers' components that ask for the shell: the bridge holds them to what was granted.

use serde_json::json;
use toolgate::approval::Fixed;
use toolgate::config::ShellSetting;
use toolgate::model::{Ending, Outcome};
use toolgate_artifacts::{LIES_ABOUT_COMMAND, RUNS_UNGRANTED, STOPS_READ_ONLY};
use toolgate_tests::{Scratch, Setup, TestHost};

/// A host with a shell and a stranger, that says yes to everything. `grants`: the operator's patterns for the stranger.
async fn host(setup: Setup, guest: (&str, &[u8]), grants: Option<&[&str]>) -> TestHost {
    let (name, bytes) = guest;
    let mut setup = setup;
    setup.config.shell = ShellSetting::local();
    if let Some(patterns) = grants {
        let shell = &mut setup.config.shell;
        let patterns = patterns.iter().map(|pattern| (*pattern).to_owned().into());
        shell.grants.insert(name.to_owned(), patterns.collect());
        shell.granted.insert(name.to_owned(), ().into());
    }
    TestHost::with(Scratch::new(), setup, |builder| {
        builder
            .component("stranger.wasm", bytes.to_vec())
            .approver(Fixed::approve("the test"))
    })
    .await
}

fn denied(outcome: &Outcome) -> String {
    match &outcome.ending {
        Ending::Failed(failure) if failure.kind == "denied" => failure.message.clone(),
        other => panic!("not refused by the bridge: {other:?}"),
    }
}

#[tokio::test]
pub async fn lies_about_command() {
    let host = host(Setup::default(), ("Liar", LIES_ABOUT_COMMAND), None).await;
    let lie = |really: &str, task: bool| json!({"command": "echo harmless", "really": really, "task": task});
    for really in [
        "touch stolen",
        "echo harmless ",
        "echo harmless; touch stolen",
        "",
    ] {
        for task in [false, true] {
            let said = denied(&host.call("Liar", lie(really, task)).await);
            assert!(
                said.contains("another command than the call names"),
                "{said}"
            );
        }
    }
    assert!(!host.scratch.ws.join("stolen").exists());
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["commands"][0]["outcome"], "refused");
    // The control: what the call names runs.
    assert_eq!(
        host.done("Liar", lie("echo harmless", false)).await,
        "harmless\n"
    );
    let record = host.journal.records().pop().expect("a record");
    assert_eq!(record["commands"][0]["line"], "echo harmless");
    assert_eq!(record["commands"][0]["outcome"], "exit 0");
}

#[tokio::test]
pub async fn runs_ungranted() {
    let runner = ("Runner", RUNS_UNGRANTED);
    let host_without = host(Setup::default(), runner, None).await;
    let run = |line: &str| json!({"text": line});
    let said = denied(&host_without.call("Runner", run("echo hello")).await);
    assert!(said.contains("[shell.grants]"), "{said}");
    let said = denied(&host_without.call("Runner", json!({})).await);
    assert!(said.contains("may not see tasks"), "{said}");

    let setup = Setup::default().deny(&["Bash(echo secret:*)"]);
    let host = host(setup, runner, Some(&["echo:*"])).await;
    assert_eq!(host.done("Runner", run("echo hello")).await, "hello\n");
    assert_eq!(host.done("Runner", json!({})).await, "0 tasks");
    for (line, says) in [
        ("touch stolen", "[shell.grants]"),
        ("echo a; touch stolen", "[shell.grants]"),
        ("echo $(touch stolen)", ""),
        ("echo a > stolen", ""),
        (
            "echo secret stuff",
            "deny Bash(echo secret:*) (test.toml:1)",
        ),
    ] {
        let said = denied(&host.call("Runner", run(line)).await);
        assert!(said.contains(says), "{line}: {said}");
    }
    assert!(!host.scratch.ws.join("stolen").exists());
}

#[tokio::test]
pub async fn stops_read_only() {
    let host = host(Setup::default(), ("Stopper", STOPS_READ_ONLY), Some(&[])).await;
    let start = json!({"command": "echo up; sleep 30", "run_in_background": true});
    let started = host.done("Bash", start).await;
    let id = started
        .split_whitespace()
        .find(|word| word.starts_with("task-"));
    let id = id.expect("an id").trim_end_matches('.').to_owned();
    let wait = json!({"task_id": id, "wait_ms": 20_000});
    assert!(host.done("TaskOutput", wait).await.starts_with("up\n"));
    let said = host.done("Stopper", json!({"task_id": id})).await;
    assert!(said.contains("up") && said.contains("read-only"), "{said}");
    let list = host.done("TaskList", json!({})).await;
    assert!(list.contains("running"), "{list}");
    let stopped = host.done("TaskStop", json!({"task_id": id})).await;
    assert!(stopped.contains("stopped"), "{stopped}");
}
