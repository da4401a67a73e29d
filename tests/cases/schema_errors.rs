//! Cases of the family `schema` about inputs that do not fit: one answer that a single retry can act on.

use serde_json::json;
use toolgate::model::{DenialReason, Ending, Gate, Outcome};
use toolgate_tests::{Scratch, Setup, TestHost};

use crate::schema_host::SchemaHost;
use crate::support::{holds, lacks, last_record};

cases! {
    "S15" => s15_a_field_without_its_dash_is_named_with_it,
    "S17" => s17_other_spellings_of_a_field_are_named_with_the_right_one,
    "S18" => s18_duplicate_keys_are_refused_at_every_level,
    "S30" => s30_a_pattern_that_blows_up_elsewhere_is_answered,
    "S31" => s31_an_input_that_is_no_object_reaches_no_tool,
    "S33" => s33_a_type_that_admits_null,
    "S35" => s35_alternatives_and_enums_with_null,
    "S38" => s38_constants_and_conditions,
}

/// The gate that denied, after an assertion that one did.
fn gate(outcome: &Outcome) -> Gate {
    match &outcome.ending {
        Ending::Denied(denial) => denial.gate,
        other => panic!("not denied: {other:?}"),
    }
}

async fn s15_a_field_without_its_dash_is_named_with_it() {
    let host = TestHost::new().await;
    let outcome = host
        .call("Grep", json!({"pattern": "TODO", "n": true}))
        .await;
    assert_eq!(gate(&outcome), Gate::Schema);
    holds(&outcome.ending.text(), &["Unknown parameter 'n'", "'-n'"]);
}

async fn s17_other_spellings_of_a_field_are_named_with_the_right_one() {
    let scratch = Scratch::new();
    scratch.file("a.txt", "content\n");
    let host = TestHost::with(scratch, Setup::default(), |builder| builder).await;
    for name in ["path", "filePath", "FILE_PATH"] {
        let outcome = host.call("Read", json!({name: "/ws/a.txt"})).await;
        assert_eq!(gate(&outcome), Gate::Schema, "{name}");
        let text = outcome.ending.text();
        holds(
            &text,
            &[&format!("Unknown parameter '{name}'"), "'file_path'"],
        );
        lacks(&text, &["content"]);
    }
    holds(
        &host.done("Read", json!({"file_path": "/ws/a.txt"})).await,
        &["content"],
    );
}

async fn s18_duplicate_keys_are_refused_at_every_level() {
    let scratch = Scratch::new();
    scratch.file("ok.txt", "fine\n");
    scratch.file(".env", "KEY=abc123\n");
    let setup = Setup::default()
        .allow(&["Read(/ws/**)"])
        .deny(&["Read(/ws/.env)"]);
    let host = TestHost::with(scratch, setup, |builder| builder).await;
    let raw = host
        .scratch
        .mapped(r#"{"file_path":"/ws/ok.txt","file_path":"/ws/.env"}"#);
    let outcome = host.call_raw("Read", &raw).await;
    assert_eq!(gate(&outcome), Gate::Parse);
    holds(&outcome.ending.text(), &["duplicate key"]);
    lacks(&outcome.ending.text(), &["abc123", "fine"]);

    let nested = SchemaHost::new(json!({"type": "object"}));
    for input in [
        r#"{"a":{"b":1,"b":2}}"#,
        r#"{"a":[{"b":{"c":1,"c":1}}]}"#,
        r#"{"a":1,"\u0061":2}"#,
    ] {
        holds(&nested.rejects(input).await, &["duplicate key"]);
    }
}

async fn s30_a_pattern_that_blows_up_elsewhere_is_answered() {
    let schema =
        json!({"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a+)+$"}}});
    let host = SchemaHost::new(schema);
    let text = host
        .rejects(&json!({"s": format!("{}!", "a".repeat(40))}).to_string())
        .await;
    holds(&text, &["'s'", "pattern"]);
    // So long that anything but linear time would not end within the ceiling.
    host.rejects(&json!({"s": format!("{}!", "a".repeat(500_000))}).to_string())
        .await;
    host.takes(r#"{"s":"aaa"}"#, r#"{"s":"aaa"}"#).await;
}

async fn s31_an_input_that_is_no_object_reaches_no_tool() {
    let host = TestHost::new().await;
    for input in ["[]", r#""{\"file_path\":\"/ws/a\"}""#, "7"] {
        let outcome = host.call_raw("Read", input).await;
        let Ending::Denied(denial) = &outcome.ending else {
            panic!("{input}: {:?}", outcome.ending)
        };
        assert_eq!(denial.gate, Gate::Parse);
        assert!(
            matches!(denial.reason, DenialReason::Malformed { .. }),
            "{denial:?}"
        );
        holds(&outcome.ending.text(), &["must be an object"]);
        let record = last_record(&host);
        assert!(record["component"].is_null(), "{input} came to a component");
        assert_eq!(outcome.usage.fuel, 0);
    }
}

async fn s33_a_type_that_admits_null() {
    let schema = json!({"type": "object", "properties": {"c": {"type": ["number", "null"]}}, "required": []});
    let host = SchemaHost::new(schema);
    assert_eq!(host.names(), ["Probe"]);
    host.takes(r#"{"c":3}"#, r#"{"c":3}"#).await;
    host.takes(r#"{"c":null}"#, r#"{"c":null}"#).await;
    holds(
        &host.rejects(r#"{"c":"x"}"#).await,
        &["'c' must be", "number", "null"],
    );
}

async fn s35_alternatives_and_enums_with_null() {
    let schema = json!({"type": "object", "required": [], "properties": {
        "e": {"anyOf": [{"type": "string", "enum": ["A", "B"]}, {"type": "null", "enum": ["A", "B"]}]},
        "f": {"enum": ["A", null]},
    }});
    let host = SchemaHost::new(schema);
    host.takes(r#"{"e":"A"}"#, r#"{"e":"A"}"#).await;
    host.takes(r#"{"f":null}"#, r#"{"f":null}"#).await;
    holds(
        &host.rejects(r#"{"f":"C"}"#).await,
        &["'f' must be one of [A, null]", "'C'"],
    );
}

async fn s38_constants_and_conditions() {
    let schema = json!({
        "type": "object",
        "properties": {"v": {"const": "v1"}, "m": {"enum": ["a", "b"]}},
        "required": ["v"],
        "if": {"properties": {"m": {"const": "b"}}, "required": ["m"]},
        "then": {"required": ["x"]},
    });
    let host = SchemaHost::new(schema);
    host.takes(r#"{"v":"v1"}"#, r#"{"v":"v1"}"#).await;
    holds(&host.rejects(r#"{"v":"v2"}"#).await, &["'v'", "v1"]);
    holds(
        &host.rejects(r#"{"v":"v1","m":"b"}"#).await,
        &["'x' is required"],
    );
    host.takes(r#"{"v":"v1","m":"b","x":1}"#, r#"{"v":"v1","m":"b","x":1}"#)
        .await;
}
