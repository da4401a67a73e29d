//! What a server answers: data, never more, and what is no answer is said to be none.

use serde_json::{Value, json};
use toolgate::gate::MAX_OUTPUT_CHARS;
use toolgate::model::{Content, Ending};

use crate::fixture::{failure, fake, settled, tool};

fn raw(result: &str) -> Value {
    json!({"raw": format!(r#"{{"jsonrpc":"2.0","id":$ID,{result}}}"#)})
}

#[tokio::test]
async fn m22_an_answer_that_is_none_is_an_error_and_the_session_lives() {
    let replies = [
        ("null", raw(r#""result":null"#)),
        ("number", raw(r#""result":5"#)),
        ("empty", raw(r#""result":{}"#)),
        (
            "both",
            raw(r#""result":{"content":[]},"error":{"code":1,"message":"x"}"#),
        ),
        ("neither", raw(r#""more":1"#)),
        ("text", raw(r#""result":{"content":"x"}"#)),
        (
            "deep",
            raw(&format!(
                r#""result":{{"content":{}{}}}"#,
                "[".repeat(400),
                "]".repeat(400)
            )),
        ),
    ];
    let mut calls = json!({});
    let mut tools = vec![tool("t")];
    for (name, reply) in &replies {
        calls[*name] = reply.clone();
        tools.push(tool(name));
    }
    let host = settled(&[fake("s", json!({"tools": tools, "calls": calls}))]).await;
    for (name, _) in &replies {
        let (kind, text) = failure(&host, &format!("s__{name}"), json!({})).await;
        assert_eq!(kind, "invalid-reply", "{name}: {text}");
        assert!(
            text.contains("reply of the server 's' is invalid"),
            "{name}: {text}"
        );
        assert_eq!(host.done("s__t", json!({})).await, "did t {}", "{name}");
    }
}

#[tokio::test]
async fn errors_and_failures_are_the_servers_words() {
    let host = settled(&[fake(
        "s",
        json!({
            "tools": [tool("error"), tool("failed")],
            "calls": {
                "error": raw(r#""error":{"code":-32602,"message":"bad\u001b[2J params"}"#),
                "failed": {"result": {"content": [{"type": "text", "text": "no such file"}], "isError": true}},
            },
        }),
    )])
    .await;
    let (kind, text) = failure(&host, "s__error", json!({})).await;
    assert_eq!(kind, "refused");
    assert!(
        text.contains("bad\\u{1b}[2J params (error -32602)"),
        "{text}"
    );
    let said = failure(&host, "s__failed", json!({})).await;
    assert_eq!(said, ("failed".to_owned(), "no such file".to_owned()));
}

#[tokio::test]
async fn check_30_a_server_can_ask_nobody_through_the_host() {
    let ask = |method: &str| json!({"ask": method});
    let host = settled(&[fake(
        "s",
        json!({
            "tools": [tool("elicit"), tool("sample"), tool("roots"), tool("modern")],
            "calls": {
                "elicit": ask("elicitation/create"),
                "sample": ask("sampling/createMessage"),
                "roots": ask("roots/list"),
                "modern": {"result": {"resultType": "input_required", "inputRequests": {}, "requestState": "x"}},
            },
            "heard": "/outside/heard",
        }),
    )])
    .await;
    for tool in ["s__elicit", "s__sample", "s__roots"] {
        let text = host.done(tool, json!({})).await;
        assert!(
            text.contains("-32601") || text.contains("-32602"),
            "{tool}: {text}"
        );
        assert!(!text.contains("\"result\""), "{tool}: {text}");
    }
    let (kind, text) = failure(&host, "s__modern", json!({})).await;
    assert_eq!(kind, "input-required");
    assert!(text.contains("does not pass on"), "{text}");
    let heard = crate::fixture::lines(&host, "heard");
    let hello: Value = serde_json::from_str(&heard[0]).expect("JSON");
    assert_eq!(
        hello["params"]["capabilities"],
        json!({}),
        "nothing is offered"
    );
}

#[tokio::test]
async fn results_are_capped_over_all_their_parts_and_links_are_not_followed() {
    let part = |n: usize| json!({"type": "text", "text": format!("{n}").repeat(20_000)});
    let secret = "file:///etc/passwd";
    let host = settled(&[fake(
        "s",
        json!({
            "tools": [tool("long"), tool("mixed")],
            "calls": {
                "long": {"result": {"content": [part(1), part(2), part(3)]}},
                "mixed": {"result": {"content": [
                    {"type": "resource_link", "uri": secret, "name": "passwd"},
                    {"type": "image", "data": "AAE=", "mimeType": "image/png"},
                    {"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}},
                ], "structuredContent": {"n": 1}}},
            },
        }),
    )])
    .await;
    let outcome = host.call("s__long", json!({})).await;
    let Ending::Done(output) = &outcome.ending else {
        panic!("{:?}", outcome.ending);
    };
    assert!(output.capped && output.text().chars().count() <= MAX_OUTPUT_CHARS);
    assert!(output.text().starts_with("111") && output.text().ends_with("333"));
    let outcome = host.call("s__mixed", json!({})).await;
    let Ending::Done(output) = &outcome.ending else {
        panic!("{:?}", outcome.ending);
    };
    assert!(matches!(&output.content[0], Content::Link { uri, .. } if uri == secret));
    assert!(matches!(&output.content[1], Content::Blob { data, .. } if data == &[0, 1]));
    assert_eq!(
        output.text(),
        "[file:///x]\ninside",
        "the link was not read"
    );
    assert_eq!(output.structured, None);
}
