//! Hooks as components: what each kind of reply, and each way of not replying, does to the call, with an innocent
//! neighbour beside it.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate::HostBuilder;
use toolgate::gate::{EventHook, EventHooks, HOOK_TIMEOUT, HookEvent, HookEventName, PreHook};
use toolgate::hooks::ComponentHook;
use toolgate::model::{DenialReason, Fuel, Gate, Outcome, ToolName};
use toolgate::runtime::HookComponent;
use toolgate_artifacts as guests;
use toolgate_tests::{Scratch, Setup, TestHost, engine};

use crate::native::{CEILING, Yes, denial, done, last_record, steps};

/// The innocent neighbour has a file to read, and a hook of its own that has nothing to say.
const NEIGHBOUR: &str = "neighbour.txt";

/// A hook for calls of Echo.
fn hook(file: &str, bytes: &[u8], events: &[HookEventName], limit: Duration) -> ComponentHook {
    let component = HookComponent::load(engine(), bytes).expect("a hook");
    let tools = vec![tool("Echo")];
    ComponentHook::new(Path::new(file), component, events.to_vec(), tools, limit)
}

fn tool(name: &str) -> ToolName {
    ToolName::try_from(name).expect("a name")
}

/// The same before calls, as the operator would load `hook.wasm`.
fn pre(bytes: &[u8]) -> ComponentHook {
    let limit = Duration::from_secs(60);
    hook(
        "/hooks/hook.wasm",
        bytes,
        &[HookEventName::PreToolUse],
        limit,
    )
}

fn name_of(hook: &ComponentHook) -> String {
    PreHook::name(hook).to_owned()
}

/// A host with Echo, the hook before calls of it, and an innocent hook before calls of Read.
async fn hooked(hook: ComponentHook, more: impl FnOnce(HostBuilder) -> HostBuilder) -> TestHost {
    let scratch = Scratch::new();
    scratch.file(NEIGHBOUR, "innocent");
    let innocent = HookComponent::load(engine(), guests::HOOK_DENIES).expect("a hook");
    let innocent = ComponentHook::new(
        Path::new("innocent.wasm"),
        innocent,
        vec![HookEventName::PreToolUse],
        vec![tool("Read")],
        Duration::from_secs(60),
    );
    TestHost::with(scratch, Setup::default(), |builder| {
        let builder = builder.component("echo", guests::ECHO.to_vec());
        more(builder.pre_hook(hook).pre_hook(innocent))
    })
    .await
}

/// Calls Echo while the neighbour is called too, and the neighbour once more after it. The neighbour must be answered
/// every time, and every call must leave one record.
async fn beside(host: &TestHost, text: &str) -> Outcome {
    let before = host.journal.records().len();
    let neighbour = async || {
        let read = json!({ "file_path": format!("/ws/{NEIGHBOUR}") });
        let text = host.done("Read", read).await;
        assert!(text.contains("innocent"), "{text}");
        let said = steps(&last_of(host, "Read"), "pre-hooks");
        assert_eq!(said, [("passed".to_owned(), "1 hooks ran".to_owned())]);
    };
    let calls = async {
        tokio::join!(
            host.call("Echo", json!({ "text": text })),
            neighbour(),
            neighbour()
        )
    };
    let (outcome, (), ()) = tokio::time::timeout(CEILING, calls)
        .await
        .expect("the calls end");
    neighbour().await;
    let records = host.journal.records();
    assert_eq!(records.len() - before, 4, "one record a call");
    let own = records
        .iter()
        .filter(|record| record["call"] == outcome.id.to_string().as_str());
    let words: Vec<_> = own.map(|record| record["ending"].clone()).collect();
    assert_eq!(words, [outcome.ending.word()]);
    outcome
}

/// The last record of a tool's calls.
fn last_of(host: &TestHost, tool: &str) -> Value {
    let records = host.journal.records();
    let mut own = records.into_iter().filter(|record| record["tool"] == tool);
    own.next_back().expect("a record")
}

/// What went wrong with the hook that broke.
fn broken(outcome: &Outcome, name: &str) -> String {
    let denial = denial(outcome);
    assert_eq!(denial.gate, Gate::PreHooks);
    match &denial.reason {
        DenialReason::HookBroken { hook, what } => {
            assert_eq!(hook, name);
            let model = outcome.ending.text();
            assert!(
                model.contains("a hook does not work") && !model.contains("hook.wasm"),
                "{model}"
            );
            what.clone()
        }
        other => panic!("no hook broke: {other:?}"),
    }
}

/// The words of the hook that refused.
fn refusal(outcome: &Outcome, name: &str) -> String {
    let denial = denial(outcome);
    assert_eq!(denial.gate, Gate::PreHooks);
    match &denial.reason {
        DenialReason::HookDenied { hook, message } => {
            assert_eq!(hook, name);
            message.clone()
        }
        other => panic!("no hook refused: {other:?}"),
    }
}

#[tokio::test]
pub async fn hook_denies() {
    let hook = pre(guests::HOOK_DENIES);
    let name = name_of(&hook);
    let digest = HookComponent::load(engine(), guests::HOOK_DENIES)
        .expect("a hook")
        .digest()
        .to_owned();
    assert_eq!(name, format!("hook.wasm ({})", &digest[..12]));
    let host = hooked(hook, |builder| builder).await;
    let outcome = beside(&host, "forbidden words").await;
    assert_eq!(refusal(&outcome, &name), "forbidden words may not be said");
    assert_eq!(
        outcome.ending.text(),
        "Denied by a hook: forbidden words may not be said. The tool was not executed."
    );
    assert_eq!(done(&beside(&host, "kind words").await), "kind words");
}

/// What the hook is told arrives whole, and what it puts in the input's place is what runs.
#[tokio::test]
pub async fn hook_rewrites() {
    let hook = pre(guests::HOOK_REWRITES);
    let name = name_of(&hook);
    let host = hooked(hook, |builder| builder).await;
    let outcome = beside(&host, "tell me \"\u{e9}\"").await;
    let told: Value = serde_json::from_str(&done(&outcome)).expect("what the hook was told");
    let record = last_of(&host, "Echo");
    let expected = json!({
        "name": "PreToolUse",
        "session": record["session"],
        "cwd": host.scratch.ws,
        "tool": "Echo",
        "tool_use_id": outcome.id.to_string(),
        "input": { "text": "tell me \"\u{e9}\"" },
        "response": null,
        "details": {},
    });
    assert_eq!(told, expected);
    let said = steps(&record, "pre-hooks");
    let changed = format!("the hook '{name}' rewrote the input");
    assert_eq!(said[0], ("changed".to_owned(), changed));
}

/// A rewrite is judged like any input: here it leaves the tool's schema.
#[tokio::test]
async fn a_rewrite_passes_the_gates_before_it_again() {
    let hook = pre(guests::HOOK_GARBAGE);
    let name = name_of(&hook);
    let host = hooked(hook, |builder| builder).await;
    let outcome = beside(&host, "undeclared").await;
    let refused = denial(&outcome);
    assert_eq!(refused.gate, Gate::Schema);
    assert!(refused.to_string().contains("Unknown parameter 'more'"));
    let hint = format!("the hook '{name}' rewrote the input");
    assert_eq!(refused.hint, Some(hint));
}

#[tokio::test]
pub async fn hook_asks() {
    let hook = pre(guests::HOOK_ASKS);
    let name = name_of(&hook);
    let host = hooked(hook.clone(), |builder| builder).await;
    let outcome = beside(&host, "a").await;
    let refused = denial(&outcome);
    assert_eq!(
        (refused.gate, &refused.reason),
        (Gate::Approval, &DenialReason::NoApprover)
    );

    let yes = Yes::default();
    let host = hooked(hook, |builder| builder.approver(yes.clone())).await;
    assert_eq!(done(&beside(&host, "a").await), "a");
    assert_eq!(done(&beside(&host, "change me").await), "changed");
    let reasons: Vec<_> = yes.asked().into_iter().map(|asked| asked.reason).collect();
    assert_eq!(
        reasons,
        [
            format!("the hook '{name}' asks: May this be said?"),
            format!("the hook '{name}' asks: May this be said instead?")
        ]
    );
    assert_eq!(
        yes.asked()[1].input["text"],
        "changed",
        "what will run is shown"
    );
}

#[tokio::test]
pub async fn hook_traps() {
    let hook = pre(guests::HOOK_TRAPS);
    let name = name_of(&hook);
    let host = hooked(hook, |builder| builder).await;
    for (how, what) in [
        ("panic", "trapped: wasm `unreachable` instruction executed"),
        ("abort", "trapped: wasm `unreachable` instruction executed"),
        (
            "exit",
            "trapped: it left with exit code 0 instead of answering",
        ),
        ("stack", "used up its stack"),
        ("memory", "reached its memory limit of 64 MiB"),
    ] {
        let outcome = beside(&host, how).await;
        assert_eq!(broken(&outcome, &name), what, "{how}");
    }
}

#[tokio::test]
pub async fn hook_loops() {
    let limit = Duration::from_millis(100);
    let events = [HookEventName::PreToolUse];
    let slow = hook("hook.wasm", guests::HOOK_LOOPS, &events, limit);
    let name = name_of(&slow);
    let host = hooked(slow, |builder| builder).await;
    for how in ["compute", "wait"] {
        let outcome = beside(&host, how).await;
        assert_eq!(broken(&outcome, &name), "took more than 100 ms", "{how}");
    }

    let hungry = pre(guests::HOOK_LOOPS).fuel(Fuel::new(1_000_000).expect("fuel"));
    let name = name_of(&hungry);
    let host = hooked(hungry, |builder| builder).await;
    let outcome = beside(&host, "compute").await;
    assert_eq!(
        broken(&outcome, &name),
        "used up its fuel of 1000000 instructions"
    );
}

/// An input that is none is a broken hook; nothing of it is taken.
#[tokio::test]
pub async fn hook_garbage() {
    let hook = pre(guests::HOOK_GARBAGE);
    let name = name_of(&hook);
    let host = hooked(hook, |builder| builder).await;
    for (text, what) in [
        ("a text", "it is not JSON: "),
        ("nothing", "it is empty: "),
        ("an array", "it is an array, and must be an object"),
        ("two", "it is not JSON: trailing characters"),
        ("a duplicate", "duplicate key 'text'"),
        ("a depth", "nesting is deeper than 64 levels"),
        ("a number", "a number is beyond 64 bits"),
        ("question", "it is an array, and must be an object"),
    ] {
        let said = broken(&beside(&host, text).await, &name);
        let expected = format!("replied with an input that is none: {what}");
        assert!(said.starts_with(&expected), "{text}: {said}");
    }
    for (text, what) in [
        ("a length", "replied with more than 1 MiB"),
        (
            "a flood",
            "made the host hold more for it than the host allows",
        ),
    ] {
        assert_eq!(broken(&beside(&host, text).await, &name), what, "{text}");
    }
    let outcome = beside(&host, "long reason").await;
    assert_eq!(refusal(&outcome, &name), "y".repeat(2_000));
    let outcome = beside(&host, "no reason").await;
    assert_eq!(refusal(&outcome, &name), "no reason given");
    assert_eq!(done(&beside(&host, "innocent").await), "innocent");
}

#[tokio::test]
pub async fn hook_reaches_out() {
    assert!(
        std::env::vars().next().is_some(),
        "the test itself has an environment that could leak"
    );
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a listener");
    listener.set_nonblocking(true).expect("not blocking");
    let port = listener.local_addr().expect("its address").port();
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("a socket");
    socket.set_nonblocking(true).expect("not blocking");
    let hook = pre(guests::HOOK_REACHES_OUT);
    let name = name_of(&hook);
    let host = hooked(hook, |builder| builder).await;
    let file = host.scratch.ws.join(NEIGHBOUR);
    let outcome = beside(&host, &format!("{} {port}", file.display())).await;
    assert_eq!(refusal(&outcome, &name), "11 ways tried, reached: []");
    let accepted = listener
        .accept()
        .map(|_| ())
        .expect_err("somebody connected");
    assert_eq!(accepted.kind(), ErrorKind::WouldBlock);
    let received = socket.recv(&mut [0]).expect_err("somebody sent a datagram");
    assert_eq!(received.kind(), ErrorKind::WouldBlock);
}

/// After a call a reply changes nothing, and a hook that breaks is noted.
#[tokio::test]
async fn a_component_hears_after_the_call() {
    let events = [HookEventName::PostToolUse];
    let after = |bytes| hook("after.wasm", bytes, &events, Duration::from_millis(500));
    let denying = after(guests::HOOK_DENIES);
    let looping = after(guests::HOOK_LOOPS);
    let (denies, loops) = (name_of(&denying), name_of(&looping));
    let host = hooked(pre(guests::HOOK_DENIES), |builder| {
        builder
            .post_hook(denying.clone())
            .post_hook(looping)
            // Made for other events, so that it has nothing to hear before calls.
            .pre_hook(denying)
    })
    .await;
    let outcome = beside(&host, "kind words").await;
    assert_eq!(done(&outcome), "kind words");
    let said = steps(&last_of(&host, "Echo"), "post-hooks");
    let passed = ("passed".to_owned(), format!("the hook '{denies}' ran"));
    let warned = (
        "warned".to_owned(),
        format!("hook broken: {loops}, took more than 500 ms"),
    );
    assert_eq!(said, [passed, warned]);
    let before = steps(&last_of(&host, "Echo"), "pre-hooks");
    assert_eq!(before[0].1, "1 hooks ran");
}

/// The same component as the hook of an event that is no tool use.
#[tokio::test]
async fn a_component_hears_of_other_events() {
    let hook = hook(
        "hook.wasm",
        guests::HOOK_DENIES,
        &[HookEventName::PermissionRequest, HookEventName::Stop],
        Duration::from_secs(60),
    );
    let (echo, read) = (tool("Echo"), tool("Read"));
    let wants = |event, tool| EventHook::wants(&hook, event, tool);
    assert!(wants(HookEventName::PermissionRequest, Some(&echo)));
    assert!(!wants(HookEventName::PermissionRequest, Some(&read)));
    assert!(wants(HookEventName::Stop, None));
    assert!(!wants(HookEventName::SessionStart, None));
    assert!(!PreHook::wants(&hook, &echo), "it is not made for calls");

    let name = name_of(&hook);
    let hooks = EventHooks::new(vec![Arc::new(hook)], HOOK_TIMEOUT);
    let mut event = HookEvent {
        hook_event_name: HookEventName::PermissionRequest,
        session_id: "a session".to_owned(),
        cwd: "/ws".into(),
        tool_name: Some(echo),
        tool_use_id: None,
        tool_input: json!({ "text": "forbidden" })
            .as_object()
            .cloned()
            .map(Arc::new),
        tool_response: None,
        details: json!({ "reason": "an ask rule" })
            .as_object()
            .expect("an object")
            .clone(),
    };
    let message = "forbidden may not be said".to_owned();
    assert_eq!(
        hooks.raise(&event).await,
        Err(DenialReason::HookDenied {
            hook: name,
            message
        })
    );
    event.tool_name = Some(read);
    assert_eq!(hooks.raise(&event).await, Ok(()), "it is for another tool");
}

/// Instances share nothing: each of many calls at once hears its own hook's answer.
#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_once_have_a_hook_each() {
    let host = hooked(pre(guests::HOOK_DENIES), |builder| builder).await;
    let calls = (0..20).map(|number| {
        let host = host.host.clone();
        tokio::spawn(async move {
            let word = if number % 2 == 0 { "kind" } else { "forbidden" };
            let input = json!({ "text": format!("{word} {number}") }).to_string();
            let outcome = host
                .call(toolgate::model::RawCall::new("Echo", input))
                .await;
            (number, outcome)
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (number, outcome) = call.await.expect("a call");
        if number % 2 == 0 {
            assert_eq!(done(&outcome), format!("kind {number}"));
        } else {
            let text = outcome.ending.text();
            assert!(
                text.contains(&format!("forbidden {number} may not be said")),
                "{text}"
            );
        }
    }
    assert_eq!(host.journal.records().len(), 20);
    assert!(last_record(&host)["call"].is_string());
}

#[test]
fn what_is_no_hook_is_refused_with_what_is_missing() {
    let refusal = |bytes: &[u8]| {
        let loaded = HookComponent::load(engine(), bytes);
        loaded.map(|_| ()).expect_err("it is no hook").to_string()
    };
    assert_eq!(
        refusal(guests::ECHO),
        "the component does not export toolgate:tool/hook, so it is not a hook but a tool"
    );
    assert_eq!(
        refusal(b"(component)"),
        "the component does not export toolgate:tool/hook, so it is not a hook"
    );
    assert_eq!(refusal(b"#!/bin/sh\n"), "this is not WebAssembly");
    let exporting = |name: &str| {
        format!(r#"(component (instance $none) (export "{name}" (instance $none)))"#).into_bytes()
    };
    assert_eq!(
        refusal(&exporting("toolgate:tool/hook@0.2.0")),
        "the component was built for toolgate:tool/hook@0.2.0, and this host has toolgate:tool 0.1"
    );
    let empty = refusal(&exporting("toolgate:tool/hook@0.1.0"));
    assert!(
        empty.starts_with("the component does not fit toolgate:tool 0.1: ")
            && empty.contains("handle"),
        "{empty}"
    );
    let importing = |import: &str| {
        let text = format!(
            r#"(component (import "{import}" (instance)) (instance $none)
                (export "toolgate:tool/hook@0.1.0" (instance $none)))"#
        );
        refusal(text.as_bytes())
    };
    for import in ["toolgate:files/files@0.1.0", "toolgate:shell/shell@0.1.0"] {
        assert_eq!(
            importing(import),
            format!(
                "the component imports {import}, and a hook is given only toolgate:tool/host and WASI"
            )
        );
    }
}
