//! Cases of the family `schema` about values: what reaches a tool is what the caller meant, exactly.

use serde_json::{Value, json};
use toolgate::model::Ending;
use toolgate_tests::{Scratch, TestHost};

use crate::schema_host::SchemaHost;
use crate::support::holds;

cases! {
    "S01" => s01_null_for_an_optional_field_is_absence,
    "S03" => s03_null_for_a_required_field_is_missing_and_never_zero,
    "S05" => s05_null_is_absence_at_every_depth,
    "S06" => s06_canonical_number_text_is_converted_and_journalled,
    "S07" => s07_false_as_text_is_false,
    "S09" => s09_a_whole_float_reaches_the_tool_as_an_integer,
    "S10" => s10_integers_of_64_bits_stay_exact,
    "S11" => s11_larger_integers_are_never_rounded,
    "S12" => s12_an_array_as_text_is_converted_once,
    "S13" => s13_an_untyped_field_is_left_alone,
    "S26" => s26_lone_surrogates_never_reach_the_wire,
    "S28" => s28_a_cut_ends_between_characters,
    "S37" => s37_spellings_of_integers,
}

fn object(properties: Value, required: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn optional(properties: Value) -> SchemaHost {
    SchemaHost::new(object(properties, json!([])))
}

async fn s01_null_for_an_optional_field_is_absence() {
    let properties = json!({"query": {"type": "string"}, "country": {"type": "string"}});
    let host = SchemaHost::new(object(properties, json!(["query"])));
    host.takes(r#"{"query":"x","country":null}"#, r#"{"query":"x"}"#)
        .await;
}

async fn s03_null_for_a_required_field_is_missing_and_never_zero() {
    let host = SchemaHost::new(object(
        json!({"limit": {"type": "integer"}}),
        json!(["limit"]),
    ));
    let text = host.rejects(r#"{"limit":null}"#).await;
    holds(&text, &["'limit' is required"]);
    assert!(host.received().is_empty());
}

async fn s05_null_is_absence_at_every_depth() {
    let inner = object(
        json!({"a": {"type": "string"}, "c": {"type": "string"}}),
        json!(["c"]),
    );
    let host = SchemaHost::new(object(json!({"p": inner}), json!(["p"])));
    host.takes(r#"{"p":{"a":null,"c":"V"}}"#, r#"{"p":{"c":"V"}}"#)
        .await;
}

async fn s06_canonical_number_text_is_converted_and_journalled() {
    let host = optional(json!({"offset": {"type": "integer"}}));
    host.takes(r#"{"offset":"50"}"#, r#"{"offset":50}"#).await;
    let record = host.last_record();
    let gates = record["gates"].as_array().expect("the gates");
    let at = |gate: &str| {
        gates
            .iter()
            .position(|step| step["gate"] == gate)
            .expect("the gate's step")
    };
    let step = &gates[at("normalise")];
    assert_eq!(step["note"], "changed");
    holds(
        step["detail"].as_str().expect("a text"),
        &["offset", "\"50\"", "50"],
    );
    assert!(at("normalise") < at("permission"));
}

async fn s07_false_as_text_is_false() {
    let host = optional(json!({"replace_all": {"type": "boolean", "default": true}}));
    host.takes(r#"{"replace_all":"false"}"#, r#"{"replace_all":false}"#)
        .await;
}

async fn s09_a_whole_float_reaches_the_tool_as_an_integer() {
    let host = optional(json!({"limit": {"type": "integer"}}));
    host.takes(r#"{"limit":5.0}"#, r#"{"limit":5}"#).await;
}

async fn s10_integers_of_64_bits_stay_exact() {
    let host = optional(json!({"id": {"type": "integer"}}));
    host.takes(r#"{"id":9007199254740993}"#, r#"{"id":9007199254740993}"#)
        .await;
}

async fn s11_larger_integers_are_never_rounded() {
    let host = optional(json!({"id": {"type": "integer"}}));
    for digits in [
        "123456789012345678901234567890",
        "18446744073709551617",
        "-9223372036854775809",
    ] {
        let input = format!("{{\"id\":{digits}}}");
        let outcome = host.call(&input).await;
        match outcome.ending {
            Ending::Denied(_) => {}
            Ending::Done(_) => assert_eq!(host.received().last(), Some(&input)),
            other => panic!("{other:?}"),
        }
    }
}

async fn s12_an_array_as_text_is_converted_once() {
    let to = json!({"to": {"type": "array", "items": {"type": "string"}}});
    let host = SchemaHost::new(object(to, json!(["to"])));
    host.takes(
        r#"{"to":"[\"a@example.org\"]"}"#,
        r#"{"to":["a@example.org"]}"#,
    )
    .await;
    // Text inside of what was converted stays text.
    host.takes(r#"{"to":"[\"[1]\"]"}"#, r#"{"to":["[1]"]}"#)
        .await;
}

async fn s13_an_untyped_field_is_left_alone() {
    let host = optional(json!({"assignees": {}}));
    host.takes(
        r#"{"assignees":["u1","u2"]}"#,
        r#"{"assignees":["u1","u2"]}"#,
    )
    .await;
}

async fn s26_lone_surrogates_never_reach_the_wire() {
    let scratch = Scratch::new();
    scratch.file("b.bin", b"\xED\xA0\x80\x41");
    let host = TestHost::approving(scratch).await;
    let outcome = host.call("Read", json!({"file_path": "/ws/b.bin"})).await;
    let wire = serde_json::to_vec(&outcome).expect("JSON");
    let text = std::str::from_utf8(&wire).expect("UTF-8");
    // A reader that refuses escapes of lone surrogates takes it.
    serde_json::from_str::<Value>(text).expect("strict JSON");
    let lower = text.to_lowercase();
    for surrogate in [
        "\\ud8", "\\ud9", "\\uda", "\\udb", "\\udc", "\\udd", "\\ude", "\\udf",
    ] {
        assert!(!lower.contains(surrogate), "{text}");
    }
    holds(text, &["A"]);
}

async fn s28_a_cut_ends_between_characters() {
    const CHARACTERS: usize = 40_000;
    let scratch = Scratch::new();
    scratch.file("e.txt", "😀".repeat(CHARACTERS));
    let host = TestHost::approving(scratch).await;
    let text = host.done("Read", json!({"file_path": "/ws/e.txt"})).await;
    let start = text.find('😀').expect("a character");
    let shown = &text[start..];
    let end = shown.find(|c| c != '😀').expect("a notice");
    let count = shown[..end].chars().count();
    assert!((1_000..CHARACTERS).contains(&count), "{count} characters");
    let notice = &shown[end..];
    holds(notice, &["line cut", &(CHARACTERS - count).to_string()]);
    assert!(!text.contains('\u{fffd}'), "a character was cut apart");
}

async fn s37_spellings_of_integers() {
    let host = optional(json!({"n": {"type": "integer", "minimum": 0}}));
    host.takes(r#"{"n":1e2}"#, r#"{"n":100}"#).await;
    host.takes(r#"{"n":-0}"#, r#"{"n":0}"#).await;
    holds(
        &host.rejects(r#"{"n":1.5}"#).await,
        &["'n' must be an integer"],
    );
    host.rejects(r#"{"n":1e400}"#).await;
}
