//! Questions to the person at the client, in both eras, by clients that answer as they should and by others.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, modern, text};
use crate::desk::Desk;

const WRITE: &str = "Write";

fn input(content: &str) -> Value {
    json!({"file_path": "out.txt", "content": content})
}

fn written(desk: &Desk) -> Option<String> {
    std::fs::read_to_string(desk.ws.join("out.txt")).ok()
}

/// A client that is asked once, and how the call ended.
fn asked(desk: &Desk, answer: Value) -> (Value, Value) {
    let mut client = Client::legacy(desk.serve(&[]), json!({"elicitation": {}}));
    let id = client.begin(
        "tools/call",
        json!({"name": WRITE, "arguments": input("new\n")}),
    );
    let question = client.heard("elicitation/create");
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    let answer = client.answer(&id);
    (question["params"].clone(), answer["result"].clone())
}

#[test]
fn c14_allow_once_runs_once() {
    let desk = Desk::new();
    std::fs::write(desk.ws.join("out.txt"), "old\n").unwrap();
    let yes = json!({"action": "accept", "content": {"decision": "allow_once"}});
    let (question, result) = asked(&desk, yes);
    assert_eq!(result["isError"], false, "{result}");
    assert_eq!(written(&desk).as_deref(), Some("new\n"));
    let message = question["message"].as_str().unwrap();
    assert!(message.starts_with("Write asks to run.\n"), "{message}");
    assert!(
        message.contains("old") && message.contains("new"),
        "the change is shown: {message}"
    );
    let schema = &question["requestedSchema"];
    assert_eq!(schema["required"], json!(["decision"]));
    assert_eq!(
        schema["properties"]["decision"]["enum"],
        json!(["deny", "allow_once"])
    );
    assert!(!schema.to_string().contains("default"), "{schema}");
    let record = desk.records_of(WRITE).remove(0);
    assert_eq!(record["approved_by"], "the MCP client 'a test 7'");
}

#[test]
fn c14_c15_everything_else_is_a_no() {
    for answer in [
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"decision": "deny"}}),
        json!({"action": "accept", "content": {"decision": "allow_always"}}),
        json!({"action": "accept", "content": {"decision": true}}),
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
    ] {
        let desk = Desk::new();
        let (_, result) = asked(&desk, answer.clone());
        assert_eq!(result["isError"], true, "{answer}: {result}");
        assert!(
            text(&result).starts_with("Not approved"),
            "{answer}: {result}"
        );
        assert_eq!(written(&desk), None, "{answer}");
    }
}

#[test]
fn c14_who_cannot_ask_is_told_how_to_allow() {
    let desk = Desk::new();
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let mut client = Client::legacy(desk.serve(&[]), capabilities);
        let result = client.call(WRITE, input("x"));
        assert_eq!(result["isError"], true);
        let said = text(&result);
        assert!(
            said.contains("--allow 'Write(") && said.contains("out.txt"),
            "{said}"
        );
    }
    let mut client = Client::start(desk.serve(&[]));
    let params = json!({"name": WRITE, "arguments": input("x"), "_meta": modern(json!({}))});
    let result = client.request("tools/call", params)["result"].clone();
    assert!(text(&result).contains("--allow"), "{result}");
    assert_eq!(written(&desk), None);
    let records = desk.records_of(WRITE);
    assert!(
        records
            .iter()
            .all(|record| record["detail"]["reason"] == "no-approver"),
        "{records:?}"
    );
}

#[test]
fn a15_no_control_character_reaches_the_client() {
    let desk = Desk::new();
    let line = "echo x\u{1b}[2K\u{1b}[1A\u{1b}[8m\r\u{7}\u{9b}; rm -rf d\u{202e}\u{200b}";
    let mut client = Client::legacy(
        desk.serve(&["--shell", "local"]),
        json!({"elicitation": {}}),
    );
    client.begin(
        "tools/call",
        json!({"name": "Bash", "arguments": {"command": line}}),
    );
    let question = client.heard("elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    let hidden = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{200b}".contains(c);
    assert!(!message.contains(hidden), "{message:?}");
    assert!(message.contains("rm -rf d"), "{message}");
}

#[test]
fn the_queue_is_the_third_way() {
    let desk = Desk::new();
    let config = desk.named(
        "c.toml",
        "[approval]\napprovers = [\"client\", \"queue\"]\n",
    );
    let mut client = Client::legacy(desk.serve(&["--config", &config]), json!({}));
    let waits = client.call(WRITE, input("queued"));
    let said = text(&waits);
    assert!(said.contains("approval pending, "), "{said}");
    let id = said.split("approval pending, ").nth(1).unwrap();
    let id: String = id
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect();
    let allowed = std::process::Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args([
            "approvals",
            "allow",
            &id,
            "--yes",
            "--no-user-config",
            "--state",
        ])
        .arg(&desk.state)
        .output()
        .unwrap();
    assert!(allowed.status.success(), "{allowed:?}");
    let other = client.call(WRITE, input("something else"));
    assert_eq!(other["isError"], true, "{other}");
    let done = client.call(WRITE, input("queued"));
    assert_eq!(done["isError"], false, "{done}");
    assert_eq!(written(&desk).as_deref(), Some("queued"));
    let again = client.call(WRITE, input("queued"));
    assert_eq!(again["isError"], true, "a yes is taken once: {again}");
}

#[test]
fn c17_no_answer_is_a_no_and_the_wait_gives_signs() {
    let desk = Desk::new();
    let config = desk.named("c.toml", "[serve]\napproval_timeout_ms = 2500\n");
    let mut client = Client::legacy(
        desk.serve(&["--config", &config]),
        json!({"elicitation": {}}),
    );
    let params = json!({"name": WRITE, "arguments": input("x"), "_meta": {"progressToken": 9}});
    let id = client.begin("tools/call", params);
    client.heard("elicitation/create");
    let answer = client.answer(&id);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(
        text(&answer["result"]).contains("nobody answered"),
        "{answer}"
    );
    let sign = client.heard("notifications/progress");
    assert_eq!(sign["params"]["message"], "waiting for approval");
    assert_eq!(written(&desk), None);
    assert_eq!(
        desk.records_of(WRITE)[0]["detail"]["reason"],
        "approval-timeout"
    );
}

#[test]
fn a_cancelled_question_writes_nothing() {
    let desk = Desk::new();
    let mut client = Client::legacy(desk.serve(&[]), json!({"elicitation": {}}));
    let id = client.begin(
        "tools/call",
        json!({"name": WRITE, "arguments": input("x")}),
    );
    let question = client.heard("elicitation/create");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    let yes = json!({"action": "accept", "content": {"decision": "allow_once"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": yes}));
    client.call("Read", json!({"file_path": "a.txt"}));
    assert_eq!(written(&desk), None);
    assert_eq!(desk.records_of(WRITE)[0]["ending"], "stopped");
}

/// A client of the newest era that is asked by a result.
struct Modern(Client);

impl Modern {
    fn start(desk: &Desk) -> Self {
        Self(Client::start(desk.serve(&[])))
    }

    fn call(&mut self, arguments: Value, more: Value) -> Value {
        let mut params = json!({"name": WRITE, "arguments": arguments, "_meta": modern(json!({"elicitation": {}}))});
        let more = more.as_object().unwrap().clone();
        params.as_object_mut().unwrap().extend(more);
        self.0.request("tools/call", params)
    }

    /// The question's state.
    fn question(&mut self, content: &str) -> String {
        let answer = self.call(input(content), json!({}));
        let result = &answer["result"];
        assert_eq!(result["resultType"], "input_required", "{answer}");
        let question = &result["inputRequests"]["approval"];
        assert_eq!(question["method"], "elicitation/create");
        assert!(
            question["params"]["message"]
                .as_str()
                .unwrap()
                .starts_with("Write asks to run.")
        );
        result["requestState"].as_str().unwrap().to_owned()
    }
}

fn reply(state: &str, answer: Value) -> Value {
    json!({"requestState": state, "inputResponses": {"approval": answer}})
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"decision": "allow_once"}})
}

#[test]
fn c16_a_state_is_good_once() {
    let desk = Desk::new();
    let mut client = Modern::start(&desk);
    let state = client.question("one");
    let done = client.call(input("one"), reply(&state, yes()));
    assert_eq!(done["result"]["isError"], false, "{done}");
    assert_eq!(written(&desk).as_deref(), Some("one"));
    std::fs::remove_file(desk.ws.join("out.txt")).unwrap();
    let replayed = client.call(input("one"), reply(&state, yes()));
    assert_eq!(replayed["result"]["isError"], true, "{replayed}");
    assert!(
        text(&replayed["result"]).contains("used already"),
        "{replayed}"
    );
    assert_eq!(written(&desk), None);
    let endings: Vec<Value> = desk
        .records_of(WRITE)
        .iter()
        .map(|record| record["ending"].clone())
        .collect();
    assert_eq!(endings, ["denied", "done", "denied"]);
}

#[test]
fn c16_a_state_is_for_one_call() {
    let desk = Desk::new();
    let mut client = Modern::start(&desk);
    let state = client.question("one");
    let other = client.call(input("other"), reply(&state, yes()));
    assert_eq!(other["error"]["code"], -32602, "{other}");
    let mut forged = state.clone();
    forged.replace_range(forged.len() - 3.., "abc");
    let forged = client.call(input("one"), reply(&forged, yes()));
    assert_eq!(forged["error"]["code"], -32602, "{forged}");
    let mut another = Modern::start(&desk);
    let elsewhere = another.call(input("one"), reply(&state, yes()));
    assert_eq!(elsewhere["error"]["code"], -32602, "{elsewhere}");
    assert_eq!(written(&desk), None);
    // The same members in another order are the same call.
    let turned = json!({"content": "one", "file_path": "out.txt"});
    let done = client.call(turned, reply(&state, yes()));
    assert_eq!(done["result"]["isError"], false, "{done}");
}

#[test]
fn c16_only_the_decision_is_a_yes() {
    for answer in [
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"decision": "deny"}}),
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
    ] {
        let desk = Desk::new();
        let mut client = Modern::start(&desk);
        let state = client.question("one");
        let refused = client.call(input("one"), reply(&state, answer.clone()));
        assert_eq!(refused["result"]["isError"], true, "{answer}: {refused}");
        assert_eq!(written(&desk), None, "{answer}");
        // A no uses the question up as well.
        let after = client.call(input("one"), reply(&state, yes()));
        assert_eq!(after["result"]["isError"], true, "{after}");
        assert_eq!(written(&desk), None);
    }
}

#[test]
fn c16_what_changed_since_the_question_is_asked_again() {
    let desk = Desk::new();
    std::fs::write(desk.ws.join("out.txt"), "before\n").unwrap();
    let mut client = Modern::start(&desk);
    let state = client.question("one");
    std::fs::write(desk.ws.join("out.txt"), "somebody else\n").unwrap();
    let again = client.call(input("one"), reply(&state, yes()));
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    assert_eq!(written(&desk).as_deref(), Some("somebody else\n"));
    let state = again["result"]["requestState"].as_str().unwrap().to_owned();
    let done = client.call(input("one"), reply(&state, yes()));
    assert_eq!(done["result"]["isError"], false, "{done}");
}

#[test]
fn c16_an_answer_that_is_missing_is_asked_for_again() {
    let desk = Desk::new();
    let mut client = Modern::start(&desk);
    let state = client.question("one");
    for more in [
        json!({"requestState": state}),
        json!({"requestState": state, "inputResponses": {}}),
        json!({"requestState": state, "inputResponses": {"other": yes()}}),
        json!({"inputResponses": {"approval": yes()}}),
    ] {
        let again = client.call(input("one"), more.clone());
        assert_eq!(
            again["result"]["resultType"], "input_required",
            "{more}: {again}"
        );
    }
    let garbage = client.call(input("one"), reply(&state, json!(7)));
    assert_eq!(garbage["error"]["code"], -32602, "{garbage}");
    assert_eq!(written(&desk), None);
}

#[test]
fn a_call_that_a_rule_allows_asks_nobody() {
    let desk = Desk::new();
    let mut client = Client::legacy(
        desk.serve(&["--allow", "Write(out.txt)"]),
        json!({"elicitation": {}}),
    );
    let done = client.call(WRITE, input("x"));
    assert_eq!(done["isError"], false, "{done}");
    assert!(client.line(Duration::from_millis(200)).is_none());
}
