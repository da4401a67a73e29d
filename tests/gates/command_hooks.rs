//! Hooks as programs: what each kind of answer, and each way of not answering, does to the call.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use serde_json::json;
use toolgate::HostError;
use toolgate::config::{HookRun, HookSetting};
use toolgate::model::{DenialReason, Ending, Gate, HookEventName, Outcome};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::native::{
    CEILING, Yes, denial, done, echo, here, hooked, last_record, name_of, script, with_script,
    written,
};

/// The words of the hook that refused.
fn refusal(outcome: &Outcome) -> (String, String) {
    let denial = denial(outcome);
    assert_eq!(denial.gate, Gate::PreHooks);
    match &denial.reason {
        DenialReason::HookDenied { hook, message } => (hook.clone(), message.clone()),
        other => panic!("no hook refused: {other:?}"),
    }
}

/// What went wrong with the hook that broke.
fn broken(outcome: &Outcome, name: &str) -> String {
    let denial = denial(outcome);
    assert_eq!(denial.gate, Gate::PreHooks);
    match &denial.reason {
        DenialReason::HookBroken { hook, what } => {
            assert_eq!(hook, name);
            let operator = denial.to_string();
            assert!(
                operator.contains(&format!("hook broken: {name}, {what}")),
                "{operator}"
            );
            // The model learns that a hook broke, not what the operator runs.
            let model = outcome.ending.text();
            assert!(
                model.contains("a hook does not work") && !model.contains(name),
                "{model}"
            );
            what.clone()
        }
        other => panic!("no hook broke: {other:?}"),
    }
}

#[tokio::test]
async fn a_hook_refuses_by_json_or_by_exit_2() {
    let (host, name) = with_script(r#"echo '{"decision":"deny","reason":"not today"}'"#).await;
    let outcome = echo(&host, "a").await;
    assert_eq!(refusal(&outcome), (name.clone(), "not today".to_owned()));
    let detail = &last_record(&host)["detail"];
    assert_eq!(
        (&detail["gate"], &detail["reason"]),
        (&json!("pre-hooks"), &json!("hook-denied"))
    );

    let (host, name) = with_script("echo ' not by this road ' >&2; echo ignored; exit 2").await;
    let outcome = echo(&host, "a").await;
    assert_eq!(refusal(&outcome), (name, "not by this road".to_owned()));
    let text = outcome.ending.text();
    assert!(
        text.contains("not by this road") && text.ends_with("The tool was not executed."),
        "{text}"
    );
}

#[tokio::test]
async fn a_hook_that_says_nothing_lets_the_call_pass() {
    for text in ["exit 0", "echo '{}'", "cat >/dev/null", "echo chatter >&2"] {
        let (host, _) = with_script(text).await;
        assert_eq!(done(&echo(&host, "a").await), "a", "{text}");
    }
}

#[tokio::test]
async fn a_hook_cannot_allow() {
    let (host, name) = with_script(r#"echo '{"decision":"allow"}'"#).await;
    let what = broken(&echo(&host, "a").await, &name);
    assert!(
        what.starts_with("printed something that is not a reply: "),
        "{what}"
    );
}

#[tokio::test]
async fn a_hook_that_asks_is_answered_by_the_approver() {
    let ask = r#"echo '{"decision":"ask","reason":"look at this"}'"#;
    let (host, name) = with_script(ask).await;
    let outcome = echo(&host, "a").await;
    let refused = denial(&outcome);
    assert_eq!(
        (refused.gate, &refused.reason),
        (Gate::Approval, &DenialReason::NoApprover)
    );

    let scratch = Scratch::new();
    let hook = script(&scratch, "hook.sh", ask);
    let own_name = name_of(&hook);
    assert_ne!(own_name, name);
    let yes = Yes::default();
    let mut setup = Setup::default();
    setup.config.hooks = vec![hook];
    let host = TestHost::with(scratch, setup, |builder| {
        builder
            .component("echo", toolgate_artifacts::ECHO.to_vec())
            .approver(yes.clone())
    })
    .await;
    assert_eq!(done(&echo(&host, "a").await), "a");
    let asked = yes.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].reason,
        format!("the hook '{own_name}' asks: look at this")
    );
    assert_eq!(last_record(&host)["approved_by"], "the test");
}

#[tokio::test]
async fn a_hook_that_does_not_work_is_a_refusal() {
    for (text, wants) in [
        ("exit 1", "ended with exit status: 1"),
        ("exit 77", "ended with exit status: 77"),
        ("echo hello", "printed something that is not a reply: "),
        ("echo '[]'", "printed something that is not a reply: "),
        (
            r#"echo '{"decision":"deny"} more'"#,
            "printed something that is not a reply: ",
        ),
        (
            r#"echo '{"descision":"deny"}'"#,
            "printed something that is not a reply: ",
        ),
        (
            r#"echo '{"decision":"deny","input":{}}'"#,
            "denied and rewrote in one reply",
        ),
        ("head -c 100000000 /dev/zero", "printed more than 1 MiB"),
        (
            "head -c 100000000 /dev/zero >&2; exit 2",
            "printed more than 1 MiB",
        ),
        ("kill -KILL $$", "ended with signal: 9"),
        ("printf '\\377'", "printed something that is not a reply: "),
    ] {
        let (host, name) = with_script(text).await;
        let what = broken(&echo(&host, "a").await, &name);
        assert!(what.starts_with(wants), "{text}: {what}");
    }
}

/// What the hook started holds the pipe's other end: it is closed once all of it is gone.
#[tokio::test]
async fn a_hook_that_hangs_is_ended_with_all_it_started() {
    let scratch = Scratch::new();
    let fifo = here(&scratch).join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).expect("a FIFO");
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("flags");
    let mut pipe = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(&fifo)
        .expect("the reading end");
    let mut hook = script(
        &scratch,
        "hook.sh",
        "exec 9>\"$HERE/fifo\"; echo alive >&9; sleep 3600 & sleep 3600",
    );
    hook.timeout_ms = 1_000;
    let name = name_of(&hook);
    let host = hooked(scratch, &[hook]).await;
    let what = broken(&echo(&host, "a").await, &name);
    assert_eq!(what, "took more than 1000 ms");
    let mut said = Vec::new();
    let closed = async {
        loop {
            match pipe.read_to_end(&mut said) {
                Ok(_) => return,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    tokio::time::sleep(std::time::Duration::from_millis(10)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    };
    tokio::time::timeout(CEILING, closed)
        .await
        .expect("a process of the hook goes on");
    assert_eq!(said, b"alive\n", "the hook had begun");
}

/// Why there is no host.
fn refused_start(built: Result<TestHost, HostError>) -> String {
    match built {
        Ok(_) => panic!("there is a host"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_hook_that_cannot_run_stops_the_start() {
    let build = async |hook: HookSetting| {
        let mut setup = Setup::default();
        setup.config.hooks = vec![hook];
        let host = TestHost::try_with(Scratch::new(), setup, |builder| builder).await;
        refused_start(host)
    };
    let hook = |command: &[&str], tools: &[&str]| {
        let command = command.iter().map(|part| (*part).to_owned()).collect();
        HookSetting {
            tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
            timeout_ms: 1_000,
            ..HookSetting::new(HookEventName::PreToolUse, HookRun::command(command))
        }
    };
    assert_eq!(
        build(hook(&["/nowhere/hook"], &[])).await,
        "library: the hook '/nowhere/hook' cannot run: there is no such program, or it may not be executed"
    );
    assert_eq!(
        build(hook(&["no-such-program-anywhere"], &[])).await,
        "library: the hook 'no-such-program-anywhere' cannot run: there is no such program, or it may not be executed"
    );
    assert_eq!(
        build(hook(&["/"], &[])).await,
        "library: the hook '/' cannot run: there is no such program, or it may not be executed"
    );
    assert_eq!(
        build(hook(&[], &[])).await,
        "library: a hook's command is empty"
    );
    assert_eq!(
        build(hook(&["/bin/sh"], &["Raed"])).await,
        "library: the 'tools' of a hook names the tool 'Raed', which does not exist. Did you mean 'Read'?"
    );
}

/// A file that is there and may not be run is found out at the start too.
#[tokio::test]
async fn a_hook_that_may_not_be_run_stops_the_start() {
    let scratch = Scratch::new();
    let hook = script(&scratch, "hook.sh", "exit 0");
    let name = name_of(&hook);
    let path = name.strip_prefix("/bin/sh ").expect("a script").to_owned();
    let mut setup = Setup::default();
    setup.config.hooks = vec![HookSetting {
        run: HookRun::command(vec![path.clone()]),
        ..hook
    }];
    let host = TestHost::try_with(scratch, setup, |builder| builder).await;
    let message = host.expect_err("the program is not executable").to_string();
    assert!(
        message.contains(&path) && message.contains("cannot run"),
        "{message}"
    );
}

#[tokio::test]
async fn a_hook_is_told_the_call_in_the_known_words() {
    let scratch = Scratch::new();
    let hook = script(&scratch, "hook.sh", "cat > \"$HERE/event.json\"");
    let host = hooked(scratch, &[hook]).await;
    assert_eq!(done(&echo(&host, "told").await), "told");
    let event = written(&here(&host.scratch).join("event.json"));
    assert_eq!(event["hook_event_name"], "PreToolUse");
    assert_eq!(event["tool_name"], "Echo");
    assert_eq!(event["tool_input"], json!({ "text": "told" }));
    assert_eq!(event["cwd"], json!(host.scratch.ws));
    assert_eq!(event["session_id"], last_record(&host)["session"]);
}

/// A hook need not read what it is told, however long it is.
#[tokio::test]
async fn a_hook_that_does_not_listen_may_answer() {
    let (host, _) = with_script("exit 0").await;
    let long = "x".repeat(900_000);
    assert!(matches!(echo(&host, &long).await.ending, Ending::Done(_)));
    let (host, name) = with_script("echo no >&2; exit 2").await;
    assert_eq!(refusal(&echo(&host, &long).await), (name, "no".to_owned()));
}

#[tokio::test]
async fn a_hook_hears_only_of_its_tools() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "content");
    let mut hook = script(&scratch, "hook.sh", "exit 2");
    hook.tools = vec!["Read".to_owned()];
    let host = hooked(scratch, &[hook]).await;
    assert_eq!(done(&echo(&host, "a").await), "a");
    let read = host.call("Read", json!({ "file_path": "/ws/a.txt" })).await;
    assert_eq!(denial(&read).gate, Gate::PreHooks);
}

#[tokio::test]
async fn the_first_hook_that_refuses_stops_the_others() {
    let scratch = Scratch::new();
    let mark = |name: &str, then: &str| {
        script(
            &scratch,
            name,
            &format!("echo ran > \"$HERE/{name}.ran\"; {then}"),
        )
    };
    let hooks = [mark("one", ""), mark("two", "exit 2"), mark("three", "")];
    let second = name_of(&hooks[1]);
    let host = hooked(scratch, &hooks).await;
    assert_eq!(refusal(&echo(&host, "a").await).0, second);
    let ran = |name: &str| here(&host.scratch).join(format!("{name}.ran")).exists();
    assert!(
        ran("one") && ran("two") && !ran("three"),
        "hooks run in order, up to the one that refuses"
    );
}
