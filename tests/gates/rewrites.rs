//! Rewrites: the tool sees what the last hook wrote, every gate sees it before, and the record keeps it.

use serde_json::{Map, Value, json};
use toolgate::gate::HookReply;
use toolgate::model::{DenialReason, Gate};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::native::{
    Replying, Yes, denial, done, echo, hooked, last_record, name_of, script, steps, with_script,
};

/// The script rewrites the text to 1, 2, 3 and so on, up to a number, and then says nothing.
fn counting(up_to: u32) -> String {
    format!(
        "n=$(cat \"$HERE/n\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$HERE/n\"\n\
         if [ $n -le {up_to} ]; then printf '{{\"input\":{{\"text\":\"round %s\"}}}}' $n; fi"
    )
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

#[tokio::test]
async fn the_tool_sees_the_rewritten_input_and_the_record_has_it() {
    let (host, name) = with_script(r#"echo '{"input":{"text":"what the hook wrote"}}'"#).await;
    assert_eq!(
        done(&echo(&host, "what the model wrote").await),
        "what the hook wrote"
    );
    let record = last_record(&host);
    let changed = (
        String::from("changed"),
        format!("the hook '{name}' rewrote the input"),
    );
    assert!(steps(&record, "pre-hooks").contains(&changed), "{record}");
    let text = record.to_string();
    assert!(
        text.contains("what the model wrote"),
        "the record has what was asked for: {text}"
    );
    assert!(
        text.contains("what the hook wrote"),
        "the record has what was run: {text}"
    );
}

#[tokio::test]
async fn a_rewrite_that_does_not_fit_is_denied_and_the_hook_is_named() {
    let (host, name) = with_script(r#"echo '{"input":{"txet":"a"}}'"#).await;
    let outcome = echo(&host, "a").await;
    let denial = denial(&outcome);
    assert_eq!(denial.gate, Gate::Schema);
    assert_eq!(
        denial.hint,
        Some(format!("the hook '{name}' rewrote the input"))
    );
    match &denial.reason {
        DenialReason::InvalidInput { violations } => {
            assert_eq!(violations.len(), 2, "{violations:?}")
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(last_record(&host)["detail"]["hint"], json!(denial.hint));
}

/// Deny rules are applied to every version of an input.
#[tokio::test]
async fn a_rewrite_opens_nothing() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "content");
    scratch.file(".env", "the secret");
    let denied = scratch.mapped("/ws/.env");
    let hook = script(
        &scratch,
        "hook.sh",
        &format!(r#"echo '{{"input":{{"file_path":"{denied}"}}}}'"#),
    );
    let name = name_of(&hook);
    let mut setup = Setup::default().deny(&["Read(.env)"]);
    setup.config.hooks = vec![hook];
    let host = TestHost::with(scratch, setup, |builder| builder).await;
    let outcome = host.call("Read", json!({ "file_path": "/ws/a.txt" })).await;
    let denial = denial(&outcome);
    assert_eq!(denial.gate, Gate::Permission);
    assert!(
        matches!(denial.reason, DenialReason::Rule { .. }),
        "{:?}",
        denial.reason
    );
    assert_eq!(
        denial.hint,
        Some(format!("the hook '{name}' rewrote the input"))
    );
    assert_eq!(last_record(&host)["files"], json!([]));
}

#[tokio::test]
async fn hooks_that_never_settle_are_stopped() {
    let (host, _) = with_script(&counting(1_000)).await;
    let outcome = echo(&host, "start").await;
    let denial = denial(&outcome);
    assert_eq!(
        (denial.gate, &denial.reason),
        (Gate::PreHooks, &DenialReason::TooManyRewrites { limit: 3 })
    );
    let record = last_record(&host);
    let rewrites = steps(&record, "pre-hooks")
        .into_iter()
        .filter(|(note, _)| note == "changed")
        .count();
    assert!(rewrites >= 3, "each round is journalled: {record}");
}

#[tokio::test]
async fn hooks_may_rewrite_three_times() {
    let (host, _) = with_script(&counting(3)).await;
    assert_eq!(done(&echo(&host, "start").await), "round 3");
    let (host, _) = with_script(&counting(4)).await;
    assert!(matches!(
        denial(&echo(&host, "start").await).reason,
        DenialReason::TooManyRewrites { .. }
    ));
}

#[tokio::test]
async fn the_next_hook_sees_the_rewrite_and_the_last_one_counts() {
    let scratch = Scratch::new();
    let first = script(
        &scratch,
        "first.sh",
        r#"echo '{"input":{"text":"by the first"}}'"#,
    );
    let second = script(
        &scratch,
        "second.sh",
        "cat >> \"$HERE/seen\"; echo >> \"$HERE/seen\"; echo '{\"input\":{\"text\":\"by the second\"}}'",
    );
    let host = hooked(scratch, &[first, second]).await;
    // The two never agree: each round the first changes what the second wrote.
    let outcome = echo(&host, "start").await;
    assert!(matches!(
        denial(&outcome).reason,
        DenialReason::TooManyRewrites { .. }
    ));
    let seen = std::fs::read_to_string(host.scratch.outside.join("seen")).expect("the second ran");
    for line in seen.lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(event["tool_input"], json!({ "text": "by the first" }));
    }
    assert!(seen.lines().count() >= 3);
}

/// Whoever is asked sees what would run.
#[tokio::test]
async fn the_approver_sees_the_rewritten_input() {
    let input = object(json!({ "text": "by the hook" }));
    let message = "look".to_owned();
    let hook = Replying::new(
        "asking",
        HookReply::Ask {
            message,
            input: Some(input),
        },
    );
    let yes = Yes::default();
    let host = TestHost::with(Scratch::new(), Setup::default(), |builder| {
        let echo = toolgate_artifacts::ECHO.to_vec();
        builder
            .component("echo", echo)
            .pre_hook(hook.clone())
            .approver(yes.clone())
    })
    .await;
    assert_eq!(done(&echo(&host, "by the model").await), "by the hook");
    let asked = yes.asked();
    assert_eq!(asked.len(), 1, "once, for the version that runs");
    assert_eq!(json!(asked[0].input), json!({ "text": "by the hook" }));
    assert_eq!(
        hook.inputs(),
        [
            json!({ "text": "by the model" }),
            json!({ "text": "by the hook" })
        ]
    );
}
