//! What calls and hooks bring: gates 1 and 3, and replies.

use serde_json::{Map, Value};

use super::first_line;
use crate::gate::{HookReply, normalised, parse_object};
use crate::hooks::in_both_formats;

/// Gate 1. An object that passes is the same object after it was written and read again.
pub fn input(data: &[u8]) {
    let Ok(object) = parse_object(data) else {
        return;
    };
    let written = Value::Object(object.clone()).to_string();
    // Escapes may make it longer than gate 1 takes.
    if written.len() <= data.len() {
        let again = parse_object(written.as_bytes()).expect("what was written is an object");
        assert_eq!(again, object);
    }
}

/// Gate 3: a schema on the first line, an input behind it. What is normalised stays as it is when it is normalised again,
/// and without a schema nothing but null goes.
pub fn normalise(data: &[u8]) {
    let Some((schema, input)) = first_line(data) else {
        return;
    };
    let Ok(object) = parse_object(input.as_bytes()) else {
        return;
    };
    let untyped = normalised(&Value::Bool(true), object.clone());
    assert!(
        untyped
            .iter()
            .all(|(name, value)| object.get(name) == Some(value))
    );
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return;
    };
    let once = normalised(&schema, object);
    let twice = normalised(&schema, once.clone());
    assert_eq!(once, twice);
}

/// Replies of hook programs in both formats. What a reply brings as an input would pass gate 1.
pub fn hook_reply(data: &[u8]) {
    let Ok(stdout) = std::str::from_utf8(data) else {
        return;
    };
    for reply in in_both_formats(stdout) {
        match reply {
            Ok(
                HookReply::Rewrite { input }
                | HookReply::Ask {
                    input: Some(input), ..
                },
            ) => {
                within_gate_1(&input, stdout);
            }
            Ok(
                HookReply::Nothing | HookReply::Deny { .. } | HookReply::Ask { input: None, .. },
            ) => {}
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn within_gate_1(input: &Map<String, Value>, stdout: &str) {
    let written = Value::Object(input.clone()).to_string();
    if written.len() <= stdout.len() {
        let again = parse_object(written.as_bytes()).expect("a reply's input passes gate 1");
        assert_eq!(&again, input);
    }
}
