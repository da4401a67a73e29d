//! Cases of the family `schema` about schemas that others wrote: nothing outside is read, nothing unfolds without end,
//! and one odd tool takes none of the others with it.

use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Value, json};
use toolgate::model::Ending;
use toolgate_tests::Scratch;

use crate::schema_host::SchemaHost;
use crate::support::holds;

cases! {
    "S19" => s19_references_out_of_a_schema_are_never_followed,
    "S21" => s21_a_schema_that_unfolds_without_end_is_refused,
    "S22" => s22_a_tool_with_alternatives_at_the_top_is_listed_and_checked,
    "S24" => s24_one_broken_schema_costs_one_tool,
}

fn plain() -> Value {
    json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]})
}

/// Names with numbers from 1 on.
fn numbered(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(|number| format!("tool{number:02}"))
}

async fn s19_references_out_of_a_schema_are_never_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("no waiting");
    let scratch = Scratch::new();
    // A schema that holds: whoever reads it would register the tool.
    let file = scratch.file("schema.json", r#"{"type":"string"}"#);
    let http = format!(
        "http://{}/x.json",
        listener.local_addr().expect("its address")
    );
    for reference in [
        http,
        format!("file://{}", file.display()),
        "file:///etc/hostname".to_owned(),
    ] {
        let odd =
            json!({"type": "object", "properties": {"q": {"$ref": reference}}, "required": []});
        let host = SchemaHost::of([("odd".to_owned(), odd), ("plain".to_owned(), plain())]);
        assert_eq!(host.names(), ["plain"], "{reference}");
        let refused = host.refused();
        assert_eq!(refused.len(), 1);
        holds(&refused[0], &["odd"]);
        let outcome = host.call_of("odd", r#"{"q":"x"}"#).await;
        assert!(
            matches!(outcome.ending, Ending::Denied(_)),
            "{:?}",
            outcome.ending
        );
    }
    let connection = listener.accept().map(|(_, from)| from);
    assert_eq!(
        connection.map_err(|error| error.kind()),
        Err(ErrorKind::WouldBlock),
        "somebody connected"
    );
}

async fn s21_a_schema_that_unfolds_without_end_is_refused() {
    let mut definitions = json!({"d0": {"type": "string"}});
    for level in 1..=30 {
        let before = format!("#/$defs/d{}", level - 1);
        definitions[format!("d{level}")] = json!({"allOf": [{"$ref": before}, {"$ref": before}]});
    }
    let schema = json!({"type": "object", "$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d30"}}});
    let host = SchemaHost::of([("deep".to_owned(), schema), ("plain".to_owned(), plain())]);
    assert_eq!(host.names(), ["plain"]);
    assert_eq!(host.refused().len(), 1);
    holds(&host.refused()[0], &["deep", "unfolds"]);
    let outcome = host.call_of("deep", r#"{"x":"y"}"#).await;
    assert!(
        matches!(outcome.ending, Ending::Denied(_)),
        "{:?}",
        outcome.ending
    );
}

async fn s22_a_tool_with_alternatives_at_the_top_is_listed_and_checked() {
    let odd = json!({"type": "object", "anyOf": [
        {"properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
    ]});
    let tools = numbered(26)
        .map(|name| (name, plain()))
        .chain([("odd".to_owned(), odd)]);
    let host = SchemaHost::of(tools);
    assert!(host.refused().is_empty(), "{:?}", host.refused());
    assert_eq!(host.names().len(), 27);
    for fits in [r#"{"a":"x"}"#, r#"{"b":1}"#] {
        let outcome = host.call_of("odd", fits).await;
        assert!(
            matches!(outcome.ending, Ending::Done(_)),
            "{fits}: {:?}",
            outcome.ending
        );
    }
    for misfits in ["{}", r#"{"a":1}"#, r#"{"c":"x"}"#] {
        let outcome = host.call_of("odd", misfits).await;
        assert!(
            matches!(outcome.ending, Ending::Denied(_)),
            "{misfits}: {:?}",
            outcome.ending
        );
    }
    assert_eq!(host.received(), [r#"{"a":"x"}"#, r#"{"b":1}"#]);
}

async fn s24_one_broken_schema_costs_one_tool() {
    let broken = json!({"type": "object", "properties": {"x": {"type": "strng"}}});
    let tools = numbered(40).map(|name| {
        let schema = if name == "tool31" {
            broken.clone()
        } else {
            plain()
        };
        (name, schema)
    });
    let host = SchemaHost::of(tools);
    let expected: Vec<String> = numbered(40).filter(|name| name != "tool31").collect();
    assert_eq!(host.names(), expected);
    let refused = host.refused();
    assert_eq!(refused.len(), 1);
    holds(&refused[0], &["tool31"]);
    for name in expected {
        let outcome = host.call_of(&name, r#"{"x":"y"}"#).await;
        assert!(
            matches!(outcome.ending, Ending::Done(_)),
            "{name}: {:?}",
            outcome.ending
        );
    }
}
