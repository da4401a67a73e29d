//! Hooks after the call: they hear how it ended, and change nothing.

use serde_json::json;
use toolgate::config::HookSetting;
use toolgate::model::{Ending, HookEventName, Stop};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::native::{done, echo, here, last_record, name_of, script, steps, with_echo, written};

/// A script that keeps what it is told in a file.
fn keeping(scratch: &Scratch, event: HookEventName, name: &str) -> HookSetting {
    on(
        event,
        script(scratch, name, &format!("cat > \"$HERE/{name}.json\"")),
    )
}

fn on(event: HookEventName, hook: HookSetting) -> HookSetting {
    HookSetting { event, ..hook }
}

async fn listening() -> TestHost {
    let scratch = Scratch::new();
    scratch.file("a.txt", "content");
    let mut setup = Setup::default().deny(&["Read(.env)"]);
    setup.config.hooks = vec![
        keeping(&scratch, HookEventName::PostToolUse, "success"),
        keeping(&scratch, HookEventName::PostToolUseFailure, "failure"),
    ];
    with_echo(scratch, setup).await
}

#[tokio::test]
async fn a_success_is_told_to_the_hooks_for_successes() {
    let host = listening().await;
    assert_eq!(done(&echo(&host, "the result").await), "the result");
    let event = written(&here(&host.scratch).join("success.json"));
    assert_eq!(event["hook_event_name"], "PostToolUse");
    assert_eq!(event["tool_name"], "Echo");
    assert_eq!(event["tool_input"], json!({ "text": "the result" }));
    assert_eq!(event["tool_response"], "the result");
    assert!(!here(&host.scratch).join("failure.json").exists());
}

#[tokio::test]
async fn a_failure_is_told_to_the_hooks_for_failures() {
    let host = listening().await;
    let text = host
        .failed("Read", json!({ "file_path": "/ws/missing.txt" }))
        .await;
    let event = written(&here(&host.scratch).join("failure.json"));
    assert_eq!(event["hook_event_name"], "PostToolUseFailure");
    assert_eq!(event["tool_response"], text);
    assert!(!here(&host.scratch).join("success.json").exists());
}

/// A call that never ran has nothing to tell.
#[tokio::test]
async fn a_denied_call_is_told_to_nobody() {
    let host = listening().await;
    host.denied("Read", json!({ "file_path": "/ws/.env" }))
        .await;
    for name in ["success.json", "failure.json"] {
        assert!(!here(&host.scratch).join(name).exists(), "{name}");
    }
}

#[tokio::test]
async fn a_bound_that_ends_the_guest_is_a_failure_to_the_hooks() {
    let scratch = Scratch::new();
    let mut setup = Setup::default();
    let hook = keeping(&scratch, HookEventName::PostToolUseFailure, "failure");
    setup.config.hooks = vec![hook];
    setup.config.limits.fuel = Some(1_000_000.into());
    let host = TestHost::with(scratch, setup, |builder| {
        builder.component("loops", toolgate_artifacts::LOOPS_FOREVER.to_vec())
    })
    .await;
    let outcome = host.call("LoopsForever", json!({})).await;
    assert!(
        matches!(outcome.ending, Ending::Stopped(Stop::Fuel { .. })),
        "{:?}",
        outcome.ending
    );
    let event = written(&here(&host.scratch).join("failure.json"));
    assert_eq!(event["hook_event_name"], "PostToolUseFailure");
    assert_eq!(event["tool_response"], outcome.ending.text());
}

#[tokio::test]
async fn a_hook_that_fails_afterwards_is_journalled_and_changes_nothing() {
    for (text, what) in [
        ("exit 1", "ended with exit status: 1"),
        ("exit 2", "ended with exit status: 2"),
        ("kill -KILL $$", "ended with signal: 9"),
        ("sleep 3600", "took more than 1000 ms"),
        ("head -c 2000000 /dev/zero", "printed more than 1 MiB"),
    ] {
        let scratch = Scratch::new();
        let mut hook = script(&scratch, "hook.sh", text);
        if text.starts_with("sleep") {
            hook.timeout_ms = 1_000;
        }
        let name = name_of(&hook);
        let mut setup = Setup::default();
        setup.config.hooks = vec![on(HookEventName::PostToolUse, hook)];
        let host = with_echo(scratch, setup).await;
        assert_eq!(
            done(&echo(&host, "the result").await),
            "the result",
            "{text}"
        );
        let said = steps(&last_record(&host), "post-hooks");
        assert_eq!(said.len(), 1, "{said:?}");
        let (note, detail) = &said[0];
        assert_eq!(note, "warned", "{text}");
        assert!(
            detail.starts_with(&format!("hook broken: {name}, {what}")),
            "{detail}"
        );
    }
}

/// What such a hook prints is no reply.
#[tokio::test]
async fn a_hook_cannot_change_a_result() {
    let scratch = Scratch::new();
    let reply = r#"echo '{"decision":"deny","reason":"too late","input":{"text":"other"}}'"#;
    let hook = script(&scratch, "hook.sh", reply);
    let mut setup = Setup::default();
    setup.config.hooks = vec![on(HookEventName::PostToolUse, hook)];
    let host = with_echo(scratch, setup).await;
    assert_eq!(done(&echo(&host, "the result").await), "the result");
}
