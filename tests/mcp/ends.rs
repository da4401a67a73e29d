//! How a server ends, and what it leaves: nothing.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::calls::{grows, rests};
use crate::client::Client;
use crate::desk::Desk;

/// A server with a command under way that writes until its tree is dead.
fn busy(desk: &Desk) -> (Client, std::path::PathBuf) {
    let mut client = Client::legacy(
        desk.serve(&["--shell", "local", "--allow", "Bash"]),
        json!({}),
    );
    let line = "(setsid bash -c 'while :; do printf . >> beat; sleep .02; done' &); sleep 600";
    client.begin(
        "tools/call",
        json!({"name": "Bash", "arguments": {"command": line}}),
    );
    let beat = desk.ws.join("beat");
    grows(&beat);
    (client, beat)
}

#[test]
fn c19_the_end_of_input_ends_the_server_and_all_it_started() {
    let desk = Desk::new();
    let (mut client, beat) = busy(&desk);
    client.hang_up();
    let (code, took, _) = client.ended();
    assert_eq!(code, Some(0));
    // The contract's own bound, not a measurement: clients send SIGTERM after two seconds.
    assert!(took < Duration::from_secs(2), "{took:?}");
    rests(&beat);
    let records = desk.records_of("Bash");
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["detail"]["bound"], "cancelled", "{records:?}");
}

#[test]
fn c19_what_was_asked_before_the_end_is_answered() {
    let desk = Desk::new();
    let mut client = Client::legacy(desk.serve(&[]), json!({}));
    let ids: Vec<Value> = (0..20)
        .map(|_| {
            client.begin(
                "tools/call",
                json!({"name": "Read", "arguments": {"file_path": "a.txt"}}),
            )
        })
        .collect();
    client.hang_up();
    for id in &ids {
        let answer = client
            .others
            .iter()
            .find(|message| message["id"] == *id)
            .cloned();
        let answer = answer.unwrap_or_else(|| client.answer(id));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    assert_eq!(client.ended().0, Some(0));
}

#[test]
fn c19_an_open_subscription_does_not_hold_the_end_up() {
    let desk = Desk::new();
    let mut client = Client::start(desk.serve(&[]));
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": crate::client::modern(json!({}))});
    client.begin("subscriptions/listen", params);
    client.heard("notifications/subscriptions/acknowledged");
    client.hang_up();
    let (code, took, _) = client.ended();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn c20_signals_end_the_server_in_order() {
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let desk = Desk::new();
        let (client, beat) = busy(&desk);
        client.signal(signal);
        let (code, took, _) = client.ended();
        assert_eq!(code, Some(128 + number), "{signal}");
        assert!(took < Duration::from_secs(2), "{signal}: {took:?}");
        rests(&beat);
        assert_eq!(desk.records_of("Bash").len(), 1, "{signal}");
    }
}

#[test]
fn c20_even_a_killed_server_leaves_no_command() {
    let desk = Desk::new();
    let (client, beat) = busy(&desk);
    client.signal("KILL");
    client.ended();
    rests(&beat);
}

#[test]
fn m01_stdout_holds_messages_only() {
    let desk = Desk::new();
    let flood = desk.named("floods.wasm", toolgate_artifacts::FLOODS_OUTPUT);
    let traps = desk.named("traps.wasm", toolgate_artifacts::TRAPS);
    let config = desk.named(
        "c.toml",
        "[[hooks.pre_tool_use]]\ncommand = [\"/bin/sh\", \"-c\", \"echo hook >&2; echo {}\"]\n",
    );
    let mut command = desk.serve(&[
        "--component",
        &flood,
        "--component",
        &traps,
        "--config",
        &config,
    ]);
    command
        .env("TOOLGATE_LOG", "trace")
        .env("RUST_LOG", "trace");
    let mut client = Client::legacy(command, json!({}));
    client.request("tools/list", json!({}));
    // Every line that comes back is read as a message, or the test fails.
    client.call("FloodsOutput", json!({"lines": 200, "width": 200}));
    for _ in 0..10 {
        client.call("Read", json!({"file_path": "a.txt"}));
    }
    let tools = client.request("tools/list", json!({}));
    let names = tools["result"]["tools"].as_array().unwrap().iter();
    let trap = names
        .filter_map(|tool| tool["name"].as_str())
        .find(|name| name.starts_with("Trap"));
    let trap = trap.expect("the guest that traps").to_owned();
    let answer = client.request("tools/call", json!({"name": trap, "arguments": {}}));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(client.stderr().contains("TRACE"), "the log goes to stderr");
    client.close();
}

#[test]
fn c33_the_first_list_waits_for_nothing() {
    let desk = Desk::new();
    let begun = Instant::now();
    let mut client = Client::legacy(desk.serve(&[]), json!({}));
    client.request("tools/list", json!({}));
    // No measurement: only that nothing slow is waited for, on a machine that others use too.
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}
