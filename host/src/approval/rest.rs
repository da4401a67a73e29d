//! The input as a person reads it: without what the change above it shows already, long texts with their own line breaks.
//!
//! Guarantees that no text of the input can pass for another field of it: a text of several lines stands behind bars of its
//! own, everything else as JSON. Not escaped for a terminal: that is for who prints it.

use serde_json::{Map, Value};

/// Fields of the built-in file tools whose values a difference shows.
const CONTENTS: [&str; 3] = ["content", "old_string", "new_string"];
/// The list of edits of one of them.
const EDITS: &str = "edits";

/// The input without the contents that a difference shows.
pub(super) fn without_contents(input: &Map<String, Value>) -> Map<String, Value> {
    let mut rest = without(input);
    if let Some(Value::Array(edits)) = rest.get_mut(EDITS) {
        for edit in edits.iter_mut() {
            if let Value::Object(object) = edit {
                *object = without(object);
            }
        }
        let says_nothing = |edit: &Value| edit.as_object().is_some_and(Map::is_empty);
        if edits.iter().all(says_nothing) {
            rest.shift_remove(EDITS);
        }
    }
    rest
}

fn without(object: &Map<String, Value>) -> Map<String, Value> {
    let other = object
        .iter()
        .filter(|(key, _)| !CONTENTS.contains(&key.as_str()));
    other
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// An input in lines. Texts of several lines that stand above already are only mentioned.
pub(super) fn lines(input: &Map<String, Value>, above: &[(String, String)]) -> String {
    let mut text = String::new();
    let whole = Value::Object(input.clone());
    print(&mut text, 0, "", &whole, "", above);
    text
}

/// One value behind its label, each line but the last ended.
fn print(
    text: &mut String,
    depth: usize,
    label: &str,
    value: &Value,
    comma: &str,
    above: &[(String, String)],
) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(object) if !object.is_empty() => {
            text.push_str(&format!("{indent}{label}{{\n"));
            let last = object.len() - 1;
            for (at, (key, value)) in object.iter().enumerate() {
                let label = format!("{}: ", Value::from(key.as_str()));
                print(text, depth + 1, &label, value, comma_after(at, last), above);
                text.push('\n');
            }
            text.push_str(&format!("{indent}}}{comma}"));
        }
        Value::Array(items) if !items.is_empty() => {
            text.push_str(&format!("{indent}{label}[\n"));
            let last = items.len() - 1;
            for (at, value) in items.iter().enumerate() {
                print(text, depth + 1, "", value, comma_after(at, last), above);
                text.push('\n');
            }
            text.push_str(&format!("{indent}]{comma}"));
        }
        Value::String(long) if long.contains('\n') => {
            let count = long.split('\n').count();
            if let Some((kind, _)) = above.iter().find(|(_, shown)| shown == long) {
                text.push_str(&format!(
                    "{indent}{label}the {kind} above, {count} lines{comma}"
                ));
                return;
            }
            text.push_str(&format!("{indent}{label}a text of {count} lines:"));
            for line in long.split('\n') {
                text.push_str(&format!("\n{indent}  | {line}"));
            }
        }
        Value::Object(_)
        | Value::Array(_)
        | Value::String(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_) => text.push_str(&format!("{indent}{label}{value}{comma}")),
    }
}

fn comma_after(at: usize, last: usize) -> &'static str {
    if at == last { "" } else { "," }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn texts_have_their_own_lines_and_cannot_pass_for_fields() {
        let input = object(json!({
            "script": "one\n\ttwo\n\"timeout\": 9",
            "list": [1, "a\"b", {}, []],
            "timeout": 5,
        }));
        assert_eq!(
            lines(&input, &[]),
            "{\n  \"script\": a text of 3 lines:\n    | one\n    | \ttwo\n    | \"timeout\": 9\n  \"list\": [\n    1,\n    \"a\\\"b\",\n    {},\n    []\n  ],\n  \"timeout\": 5\n}"
        );
        let above = [("command".to_owned(), "a\nb".to_owned())];
        let input = object(json!({"command": "a\nb", "n": 1}));
        assert_eq!(
            lines(&input, &above),
            "{\n  \"command\": the command above, 2 lines,\n  \"n\": 1\n}"
        );
        assert_eq!(lines(&Map::new(), &[]), "{}");
    }

    #[test]
    fn contents_are_left_out_and_nothing_else() {
        let write = object(json!({"file_path": "a", "content": "x", "more": 1}));
        assert_eq!(
            Value::from(without_contents(&write)),
            json!({"file_path": "a", "more": 1})
        );
        let plain = json!({"old_string": "a", "new_string": "b"});
        let edits = object(json!({"file_path": "a", "edits": [plain]}));
        assert_eq!(
            Value::from(without_contents(&edits)),
            json!({"file_path": "a"})
        );
        let all = json!({"old_string": "a", "new_string": "b", "replace_all": true});
        let edits = object(json!({"edits": [plain, all, 7]}));
        assert_eq!(
            Value::from(without_contents(&edits)),
            json!({"edits": [{}, {"replace_all": true}, 7]})
        );
    }
}
