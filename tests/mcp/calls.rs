//! Listing and calling: what a client is told of the tools, and what it gets from them.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::client::{Client, modern, text};
use crate::desk::{Desk, processes_with};

#[test]
fn tools_are_listed_with_all_annotations_and_always_in_one_order() {
    let desk = Desk::new();
    let mut client = Client::legacy(desk.serve(&["--shell", "local"]), json!({}));
    let list = client.request("tools/list", json!({}))["result"].clone();
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(
        ["Read", "Write", "Bash"]
            .iter()
            .all(|name| names.contains(name)),
        "{names:?}"
    );
    for tool in tools {
        let hints = &tool["annotations"];
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(hints[hint].is_boolean(), "{hint} of {tool}");
        }
        assert!(
            tool["title"].is_string() && tool["description"].is_string(),
            "{tool}"
        );
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
    let of = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(of("Read")["annotations"]["readOnlyHint"], true);
    assert_eq!(of("Write")["annotations"]["readOnlyHint"], false);
    assert_eq!(of("Write")["annotations"]["destructiveHint"], true);
    let mut again = Client::legacy(desk.serve(&["--shell", "local"]), json!({}));
    assert_eq!(again.request("tools/list", json!({}))["result"], list);
}

#[test]
fn a_tool_above_the_ceiling_is_neither_listed_nor_known() {
    let desk = Desk::new();
    let mut client = Client::legacy(desk.serve(&["--ceiling", "read-only"]), json!({}));
    let list = client.request("tools/list", json!({}));
    assert!(!list.to_string().contains("\"Write\""), "{list}");
    let unknown = client.request("tools/call", json!({"name": "Write", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn c32_a_bad_cursor_is_refused_and_a_page_goes_on() {
    let desk = Desk::new();
    let mut client = Client::legacy(desk.serve(&[]), json!({}));
    for cursor in ["", "bogus", "after:", "after:no such name", "after:../x"] {
        let answer = client.request("tools/list", json!({"cursor": cursor}));
        assert_eq!(answer["error"]["code"], -32602, "{cursor}: {answer}");
    }
    let rest = client.request("tools/list", json!({"cursor": "after:Read"}));
    let tools = rest["result"]["tools"].as_array().unwrap();
    let names: BTreeSet<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        !names.contains("Read") && names.contains("Write"),
        "{names:?}"
    );
}

#[test]
fn refusals_are_results_that_say_why() {
    let desk = Desk::new();
    let mut client = Client::legacy(desk.serve(&["--deny", "Read(secret*)"]), json!({}));
    let denied = client.call("Read", json!({"file_path": "secret.txt"}));
    assert_eq!(denied["isError"], true);
    assert!(text(&denied).contains("Denied"), "{denied}");
    drop(client);
    let mut client = Client::legacy(desk.serve(&[]), json!({}));
    let misfit = client.call("Read", json!({"file_paht": "a.txt"}));
    assert_eq!(misfit["isError"], true);
    let said = text(&misfit);
    assert!(
        said.contains("'file_path' is required") && said.contains("Did you mean"),
        "{said}"
    );
    let missing = client.call("Read", json!({"file_path": "none.txt"}));
    assert_eq!(missing["isError"], true);
    let done = client.call("Read", json!({"file_path": "a.txt"}));
    assert_eq!(done["isError"], false);
    let endings: Vec<Value> = desk
        .records_of("Read")
        .iter()
        .map(|record| record["ending"].clone())
        .collect();
    assert_eq!(endings, ["denied", "denied", "failed", "done"]);
}

#[test]
fn a_record_names_the_door_and_what_the_client_calls_itself() {
    let desk = Desk::new();
    let mut client = Client::start(desk.serve(&[]));
    client.request(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "evil\u{1b}[2J\u{202e}".repeat(50), "version": "1"}}),
    );
    client.call("Read", json!({"file_path": "a.txt"}));
    let record = desk.records_of("Read").remove(0);
    assert_eq!(record["origin"], "mcp-stdio");
    let name = record["client"].as_str().unwrap();
    assert!(name.starts_with("evil\\u{1b}[2J\\u{202e}"), "{name}");
    assert!(name.chars().count() <= 100, "{name}");
}

#[test]
fn h01_a_command_never_reads_the_protocol() {
    let desk = Desk::new();
    let mut client = Client::legacy(
        desk.serve(&["--shell", "local", "--allow", "Bash"]),
        json!({}),
    );
    let reads = client.begin(
        "tools/call",
        json!({"name": "Bash", "arguments": {"command": "cat; echo end"}}),
    );
    let next = client.begin("ping", json!({}));
    assert_eq!(client.answer(&next)["result"], json!({}));
    let known = client.others.iter().find(|message| message["id"] == reads);
    let read = known.cloned().unwrap_or_else(|| client.answer(&reads));
    assert_eq!(text(&read["result"]), "end\n", "{read}");
}

#[test]
fn null_and_absent_arguments_are_an_empty_input() {
    let desk = Desk::new();
    let mut client = Client::legacy(desk.serve(&[]), json!({}));
    for params in [
        json!({"name": "LS"}),
        json!({"name": "LS", "arguments": null}),
    ] {
        let answer = client.request("tools/call", params);
        let said = answer["result"].to_string();
        assert!(
            said.contains("is required") || said.contains("a.txt"),
            "{answer}"
        );
    }
}

#[test]
fn images_are_images() {
    let desk = Desk::new();
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let png = base64::engine::general_purpose::STANDARD
        .decode(png)
        .unwrap();
    std::fs::write(desk.ws.join("dot.png"), png).unwrap();
    let mut client = Client::legacy(desk.serve(&[]), json!({}));
    let result = client.call("Read", json!({"file_path": "dot.png"}));
    let parts = result["content"].as_array().unwrap();
    let image = parts.iter().find(|part| part["type"] == "image");
    let image = image.unwrap_or_else(|| panic!("{result}"));
    assert_eq!(image["mimeType"], "image/png");
    assert!(image["data"].as_str().unwrap().starts_with("iVBOR"));
}

#[test]
fn c31_a_large_result_is_capped_and_the_rest_is_kept() {
    let desk = Desk::new();
    let wasm = desk.named("long_output.wasm", toolgate_artifacts::LONG_OUTPUT);
    let mut client = Client::legacy(desk.serve(&["--component", &wasm]), json!({}));
    let arguments = json!({"lines": 20_000});
    let id = client.begin(
        "tools/call",
        json!({"name": "LongOutput", "arguments": arguments}),
    );
    let answer = client.answer(&id);
    assert!(answer.to_string().len() < 1_000_000);
    let result = &answer["result"];
    let said = text(result);
    assert!(said.chars().count() < 31_000, "{}", said.chars().count());
    assert!(said.contains("left out here"), "{said}");
    let parts = result["content"].as_array().unwrap();
    let link = parts
        .iter()
        .find(|part| part["type"] == "resource_link")
        .expect("a link");
    let path = link["uri"]
        .as_str()
        .unwrap()
        .strip_prefix("file://")
        .unwrap();
    assert!(std::fs::metadata(path).unwrap().len() > 2_000_000, "{link}");
    // The one that is listed can be read through the server too.
    let page = client.call("Read", json!({"file_path": path, "limit": 3}));
    assert_eq!(page["isError"], false, "{page}");
}

#[test]
fn c21_cancelling_ends_the_tree_and_no_answer_comes() {
    let desk = Desk::new();
    let mut client = Client::legacy(
        desk.serve(&["--shell", "local", "--allow", "Bash"]),
        json!({}),
    );
    let word = format!("cancelled-tree-{}", std::process::id());
    let beat = desk.ws.join("beat");
    let line = format!(
        "exec -a {word} bash -c '(setsid bash -c \"while :; do printf . >> beat; sleep .02; done # {word}\" &) ; sleep 600'"
    );
    let id = client.begin(
        "tools/call",
        json!({"name": "Bash", "arguments": {"command": line}}),
    );
    grows(&beat);
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id, "reason": "a test"}}),
    );
    rests(&beat);
    assert!(client.line(Duration::from_millis(300)).is_none());
    let done = client.call("Read", json!({"file_path": "a.txt"}));
    assert_eq!(done["isError"], false);
    let record = desk.records_of("Bash").remove(0);
    assert_eq!(record["ending"], "stopped", "{record}");
    assert_eq!(record["detail"]["bound"], "cancelled", "{record}");
    assert_eq!(processes_with(&word), 0);
}

/// Waits until something writes to a file.
pub fn grows(beat: &std::path::Path) {
    let begun = std::time::Instant::now();
    while std::fs::metadata(beat).map_or(0, |file| file.len()) < 3 {
        assert!(begun.elapsed() < crate::client::PATIENCE, "nothing beats");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until nothing writes to a file any more.
pub fn rests(beat: &std::path::Path) {
    let length = || std::fs::metadata(beat).map_or(0, |file| file.len());
    let begun = std::time::Instant::now();
    let mut last = length();
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = length();
        if now == last {
            return;
        }
        last = now;
        assert!(begun.elapsed() < crate::client::PATIENCE, "it still beats");
    }
}

#[test]
fn a_long_call_gives_signs_of_life_that_grow() {
    let desk = Desk::new();
    let mut client = Client::legacy(
        desk.serve(&["--shell", "local", "--allow", "Bash"]),
        json!({}),
    );
    let params = json!({"name": "Bash", "arguments": {"command": "sleep 7"}, "_meta": {"progressToken": "tok"}});
    let id = client.begin("tools/call", params);
    client.answer(&id);
    let signs: Vec<&Value> = client
        .others
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .collect();
    assert!(signs.len() >= 2, "{signs:?}");
    let numbers: Vec<f64> = signs
        .iter()
        .map(|sign| {
            assert_eq!(sign["params"]["progressToken"], "tok");
            sign["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert!(
        numbers.windows(2).all(|pair| pair[0] < pair[1]),
        "{numbers:?}"
    );
    // None without a token, and none after the result.
    client.call("Bash", json!({"command": "sleep 2"}));
    let more = client
        .others
        .iter()
        .filter(|message| message["method"] == "notifications/progress");
    assert_eq!(more.count(), numbers.len());
}

#[test]
fn a_guests_progress_reaches_the_client_of_its_call() {
    let desk = Desk::new();
    let loops = desk.named("loops.wasm", toolgate_artifacts::LOOPS_FOREVER);
    let mut client = Client::legacy(desk.serve(&["--component", &loops]), json!({}));
    let call = |token: &str| json!({"name": "LoopsForever", "arguments": {}, "_meta": {"progressToken": token}});
    for token in ["one", "two"] {
        let id = client.begin("tools/call", call(token));
        let sign = client.heard("notifications/progress");
        assert_eq!(sign["params"]["progressToken"], token, "{sign}");
        assert_eq!(sign["params"]["message"], "looping", "{sign}");
        client.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id}}),
        );
    }
}

#[test]
fn both_eras_are_served_and_say_so() {
    let desk = Desk::new();
    let mut client = Client::start(desk.serve(&[]));
    let found = client.request("server/discover", json!({"_meta": modern(json!({}))}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let list = client.request("tools/list", json!({"_meta": modern(json!({}))}))["result"].clone();
    assert_eq!(list["resultType"], "complete");
    assert_eq!(list["cacheScope"], "private");
    assert!(
        list["ttlMs"]
            .as_u64()
            .is_some_and(|ms| (5_000..=60_000).contains(&ms)),
        "{list}"
    );
    let wrong = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}}});
    assert_eq!(client.request("tools/list", wrong)["error"]["code"], -32022);
}

#[test]
fn many_calls_at_once_all_get_their_own_answer() {
    let desk = Desk::new();
    for number in 0..64 {
        std::fs::write(
            desk.ws.join(format!("{number}.txt")),
            format!("only {number}\n"),
        )
        .unwrap();
    }
    let mut client = Client::legacy(desk.serve(&[]), json!({}));
    let ids: Vec<Value> = (0..64)
        .map(|number| {
            let params =
                json!({"name": "Read", "arguments": {"file_path": format!("{number}.txt")}});
            client.begin("tools/call", params)
        })
        .collect();
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < ids.len() {
        let message = client.line(crate::client::PATIENCE).expect("an answer");
        answers.insert(message["id"].as_i64().unwrap(), text(&message["result"]));
    }
    for (number, id) in ids.iter().enumerate() {
        let said = &answers[&id.as_i64().unwrap()];
        assert!(said.contains(&format!("only {number}")), "{number}: {said}");
    }
}
