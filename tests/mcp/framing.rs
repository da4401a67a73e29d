//! What is no good message, and what becomes of it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, modern, text};
use crate::desk::Desk;

/// Long enough for an answer that should not come.
const SILENCE: Duration = Duration::from_millis(300);

fn started(desk: &Desk) -> Client {
    Client::legacy(desk.serve(&[]), json!({}))
}

fn still_answers(client: &mut Client) {
    let said = client.call("Read", json!({"file_path": "a.txt"}));
    assert!(text(&said).contains("alpha"), "{said}");
}

#[test]
fn c24_a_notification_before_anything_is_dropped() {
    let desk = Desk::new();
    let mut client = Client::start(desk.serve(&[]));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    client.send(&json!({"jsonrpc": "2.0", "id": 5, "result": {}}));
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let early = client.request("tools/list", json!({}));
    assert_eq!(early["error"]["code"], -32602, "{early}");
    let told = client.initialize(json!({}));
    assert_eq!(told["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(told["result"]["serverInfo"]["name"], "toolgate");
    still_answers(&mut client);
    assert!(client.close().is_empty());
}

#[test]
fn c24_two_requests_never_share_an_id() {
    let desk = Desk::new();
    let mut client = Client::legacy(
        desk.serve(&["--shell", "local", "--allow", "Bash"]),
        json!({}),
    );
    let slow = json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call",
        "params": {"name": "Bash", "arguments": {"command": "sleep 1; echo first"}}});
    client.send(&slow);
    client.send(&json!({"jsonrpc": "2.0", "id": "x", "method": "ping"}));
    let second = client.answer(&json!("x"));
    assert_eq!(second["error"]["code"], -32600, "{second}");
    let first = client.answer(&json!("x"));
    assert!(text(&first["result"]).contains("first"), "{first}");
    client.send(&json!({"jsonrpc": "2.0", "id": "x", "method": "ping"}));
    assert_eq!(client.answer(&json!("x"))["result"], json!({}));
}

#[test]
fn c24_bad_parameters_are_called_so() {
    let desk = Desk::new();
    let mut client = started(&desk);
    for params in [
        json!({"name": 5}),
        json!({"name": "Read", "arguments": [1]}),
        json!([]),
        json!({}),
        json!({"name": "Raed", "arguments": {}}),
    ] {
        let answer = client.request("tools/call", params.clone());
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    let cursor = client.request("tools/list", json!({"cursor": 5}));
    assert_eq!(cursor["error"]["code"], -32602, "{cursor}");
    let unknown = client.request("nope/x", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let resources = client.request("resources/list", json!({}));
    assert_eq!(resources["error"]["code"], -32601, "{resources}");
    still_answers(&mut client);
}

#[test]
fn c24_batches_long_lines_and_line_ends() {
    let desk = Desk::new();
    let mut client = started(&desk);
    client.raw(b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n");
    assert_eq!(client.answer(&Value::Null)["error"]["code"], -32600);
    let long = "x".repeat(17 << 20);
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "ping", "params": {"a": long}}));
    assert_eq!(client.answer(&Value::Null)["error"]["code"], -32600);
    client.raw(b"{\"jsonrpc\":\"2.0\",\"id\":78,\"method\":\"ping\"}\r\n\n \r\n");
    assert_eq!(client.answer(&json!(78))["result"], json!({}));
    client.raw(b"\xff\xfe\n");
    assert_eq!(client.answer(&Value::Null)["error"]["code"], -32700);
    assert!(client.line(SILENCE).is_none());
    still_answers(&mut client);
}

#[test]
fn m13_cancelling_an_unknown_request_loses_no_answer() {
    let desk = Desk::new();
    let mut client = started(&desk);
    let cancel = |id: i64| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(&cancel(900));
    client.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "ping"}));
    assert_eq!(client.answer(&json!(900))["result"], json!({}));
    client.send(&cancel(900));
    client.send(&json!({"jsonrpc": "2.0", "id": 900, "method": "ping"}));
    assert_eq!(client.answer(&json!(900))["result"], json!({}));
}

#[test]
fn m16_a_line_without_an_end_is_not_held() {
    let desk = Desk::new();
    let mut client = started(&desk);
    still_answers(&mut client);
    let before = resident(client.pid());
    let piece = vec![b'x'; 1 << 20];
    let mut most = 0;
    for _ in 0..256 {
        client.raw(&piece);
        most = most.max(resident(client.pid()));
    }
    client.raw(b"\n");
    assert_eq!(client.answer(&Value::Null)["error"]["code"], -32600);
    still_answers(&mut client);
    assert!(most < before + (32 << 20), "from {before} to {most} bytes");
}

/// Resident memory of a process, bytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kibibytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kibibytes << 10
}

#[test]
fn m18_what_cannot_be_read_gets_one_error_and_an_error_none() {
    let desk = Desk::new();
    let mut client = started(&desk);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    client
        .raw(b"{\"jsonrpc\":\"2.0\",\"id\":700,\"method\":\"x\",\"params\":{\"a\":\"\\ud800\"}}\n");
    assert!(client.answer(&json!(700))["error"]["code"].is_i64());
    client.raw(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":800,\"method\":\"x\",\"params\":{deep}}}\n")
            .as_bytes(),
    );
    assert!(client.answer(&json!(800))["error"]["code"].is_i64());
    client.raw(b"not json\n");
    assert_eq!(client.answer(&Value::Null)["error"]["code"], -32700);
    for answer in [
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}\n",
        "{\"jsonrpc\":\"2.0\",\"error\":7}\n",
        "{\"error\":{\"code\":1,\n",
    ] {
        client.raw(answer.as_bytes());
    }
    assert!(client.line(SILENCE).is_none());
    still_answers(&mut client);
}

#[test]
fn m24_unknown_notifications_and_methods_change_nothing() {
    let desk = Desk::new();
    let mut client = Client::start(desk.serve(&[]));
    let early = client.request("tools/call", json!({"name": "Read", "arguments": {}}));
    assert!(early["error"]["code"].is_i64(), "{early}");
    client.initialize(json!({}));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/nobody/knows", "params": [1]}));
    client.send(&json!({"jsonrpc": "2.0", "method": "$/setTrace", "params": {}}));
    let unknown = client.request("nobody/knows", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    still_answers(&mut client);
}

#[test]
fn s31_arguments_that_are_no_object_reach_no_tool() {
    let desk = Desk::new();
    let mut client = started(&desk);
    for arguments in [json!([]), json!("{\"file_path\":\"a.txt\"}"), json!(7)] {
        let answer = client.request(
            "tools/call",
            json!({"name": "Read", "arguments": arguments}),
        );
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert!(desk.records().is_empty());
}

#[test]
fn arguments_reach_the_first_gate_as_they_are() {
    let desk = Desk::new();
    let mut client = started(&desk);
    for arguments in [
        "{\"file_path\":\"a.txt\",\"file_path\":\"b.txt\"}",
        "{\"file_path\":\"a.txt\",\"limit\":123456789012345678901234567890}",
    ] {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":\"raw\",\"method\":\"tools/call\",\"params\":{{\"name\":\"Read\",\"arguments\":{arguments}}}}}\n"
        );
        client.raw(line.as_bytes());
        let answer = client.answer(&json!("raw"));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let records = desk.records_of("Read");
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|record| record["ending"] == "denied"));
}

#[test]
fn a_message_of_the_newest_era_needs_no_handshake() {
    let desk = Desk::new();
    let mut client = Client::start(desk.serve(&[]));
    let params =
        json!({"name": "Read", "arguments": {"file_path": "a.txt"}, "_meta": modern(json!({}))});
    // Without a line feed at its end.
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    client.raw(message.to_string().as_bytes());
    client.hang_up();
    let answer = client.answer(&json!(1));
    assert!(text(&answer["result"]).contains("alpha"), "{answer}");
    assert_eq!(answer["result"]["resultType"], "complete");
    let (code, ..) = client.ended();
    assert_eq!(code, Some(0));
}
