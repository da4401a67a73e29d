//! Tools as a client sees them.
//!
//! Guarantees the same order every time, all four annotations of every tool, taken from the host's verdict and never from
//! the tool's claim, and no definition that makes a client drop the whole list.

use std::sync::Arc;

use rmcp::model::{ErrorData, JsonObject, ListToolsResult, Tool, ToolAnnotations};
use serde_json::{Map, Value};

use crate::gate::RegisteredTool;
use crate::model::{SideEffect, ToolName, Traits};

/// Tools in one page of the list.
pub(super) const PAGE: usize = 100;
/// How long a list may be taken for fresh, milliseconds; changes are told as well.
const FRESH_MS: u64 = 10_000;
/// What stands before the name in a cursor.
const CURSOR: &str = "after:";
/// The longest title, characters.
const MAX_TITLE: usize = 80;
/// The dialects of JSON Schema that clients know.
const DIALECTS: [&str; 2] = ["draft-07/schema", "2020-12/schema"];

/// One page of the list.
///
/// # Errors
/// The cursor is none of ours.
pub(super) fn page(
    tools: &[Arc<RegisteredTool>],
    cursor: Option<&str>,
) -> Result<ListToolsResult, ErrorData> {
    let after = match cursor {
        None => None,
        Some(cursor) => {
            let name = cursor.strip_prefix(CURSOR);
            let name = name.and_then(|name| ToolName::try_from(name).ok());
            let unknown = || ErrorData::invalid_params("the cursor is none of this server's", None);
            Some(name.ok_or_else(unknown)?)
        }
    };
    let rest = tools
        .iter()
        .filter(|tool| after.as_ref().is_none_or(|after| tool.name() > after));
    let mut listed: Vec<&Arc<RegisteredTool>> = rest.collect();
    listed.sort_by(|a, b| a.name().cmp(b.name()));
    let more = listed.len() > PAGE;
    listed.truncate(PAGE);
    let last = listed.last().filter(|_| more);
    let next = last.map(|tool| format!("{CURSOR}{}", tool.name()));
    let tools = listed.into_iter().map(|tool| self::tool(tool)).collect();
    let mut result = ListToolsResult::with_all_items(tools)
        .with_ttl_ms(FRESH_MS)
        .with_cache_scope(rmcp::model::CacheScope::Private);
    result.next_cursor = next;
    Ok(result)
}

/// One tool.
pub(super) fn tool(registered: &RegisteredTool) -> Tool {
    let declaration = registered.declaration();
    let title = title(registered);
    let mut tool = Tool::new(
        registered.name().as_str().to_owned(),
        declaration.description.clone(),
        clean(&declaration.input_schema),
    )
    .with_annotations(annotations(&registered.facts().traits, title.clone()))
    .with_title(title);
    if let Some(schema) = output_schema(registered) {
        tool = tool.with_raw_output_schema(schema);
    }
    tool
}

/// The schema of what every success carries; none where the tool promises nothing, or what clients cannot read.
pub(super) fn output_schema(registered: &RegisteredTool) -> Option<Arc<JsonObject>> {
    let schema = registered.declaration().output_schema.as_ref()?;
    let dialect = schema.get("$schema").and_then(Value::as_str);
    let known = |name: &str| DIALECTS.iter().any(|dialect| name.contains(dialect));
    let readable = dialect.is_none_or(known) && !refers_elsewhere(schema);
    readable.then(|| clean(schema))
}

/// The host's verdict in the protocol's words, all four of them: what is absent would be read as a guess.
fn annotations(traits: &Traits, title: String) -> ToolAnnotations {
    let reads = traits.level == SideEffect::ReadOnly;
    ToolAnnotations::with_title(title)
        .read_only(reads)
        .destructive(traits.destructive)
        .idempotent(reads || traits.idempotent)
        .open_world(traits.open_world)
}

/// What the tool calls itself, or its name in words.
fn title(registered: &RegisteredTool) -> String {
    let annotations = &registered.declaration().annotations;
    let own = annotations.get("title").and_then(Value::as_str);
    let own = own.filter(|title| !title.trim().is_empty());
    match own {
        Some(title) => {
            let title: String = title.chars().take(MAX_TITLE).collect();
            crate::model::visible(&title).replace('\n', " ")
        }
        None => words(registered.name().as_str()),
    }
}

/// `BashOutput` is "Bash Output"; a name that has its own way of separating words stays.
fn words(name: &str) -> String {
    if name.contains(['_', '-']) {
        return name.to_owned();
    }
    let mut title = String::with_capacity(name.len() + 4);
    let mut before: Option<char> = None;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before.is_some_and(|c| c.is_ascii_lowercase()) {
            title.push(' ');
        }
        title.push(letter);
        before = Some(letter);
    }
    title
}

/// A schema that every client reads: no property is `true` or `false`, and nothing at the top is null.
fn clean(schema: &Value) -> Arc<JsonObject> {
    let mut schema = schema.clone();
    clean_below(&mut schema, 0);
    let Value::Object(mut object) = schema else {
        return Arc::default();
    };
    object.retain(|_, value| !value.is_null());
    Arc::new(object)
}

/// The deepest nesting that is cleaned; below it a schema stays as it is.
const MAX_DEPTH: usize = 64;

fn clean_below(schema: &mut Value, depth: usize) {
    let Value::Object(object) = schema else {
        return;
    };
    if depth > MAX_DEPTH {
        return;
    }
    for (key, value) in object {
        match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions",
                Value::Object(named),
            ) => {
                for below in named.values_mut() {
                    spell_out(below);
                    clean_below(below, depth + 1);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(several)) => several
                .iter_mut()
                .for_each(|below| clean_below(below, depth + 1)),
            ("items" | "additionalProperties" | "not" | "if" | "then" | "else", below) => {
                clean_below(below, depth + 1);
            }
            _ => {}
        }
    }
}

/// A schema that is a boolean, as an object that means the same.
fn spell_out(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = Value::Object(Map::new()),
        Value::Bool(false) => *schema = serde_json::json!({"not": {}}),
        _ => {}
    }
}

/// Whether a `$ref` leads out of the schema.
fn refers_elsewhere(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.iter().any(|(key, value)| {
            let elsewhere = |text: &str| !text.starts_with('#');
            (key == "$ref" && value.as_str().is_some_and(elsewhere)) || refers_elsewhere(value)
        }),
        Value::Array(items) => items.iter().any(refers_elsewhere),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn titles_are_names_in_words() {
        for (name, title) in [
            ("Read", "Read"),
            ("BashOutput", "Bash Output"),
            ("LS", "LS"),
            ("git__status", "git__status"),
            ("a-b", "a-b"),
        ] {
            assert_eq!(words(name), title);
        }
    }

    #[test]
    fn no_property_is_a_boolean() {
        let schema = json!({
            "type": "object",
            "title": null,
            "properties": {
                "a": true,
                "b": {"type": "object", "properties": {"c": false}},
                "properties": {"type": "array", "uniqueItems": true},
            },
            "additionalProperties": false,
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "a": {},
                "b": {"type": "object", "properties": {"c": {"not": {}}}},
                "properties": {"type": "array", "uniqueItems": true},
            },
            "additionalProperties": false,
        });
        assert_eq!(Value::Object(clean(&schema).as_ref().clone()), expected);
    }

    #[test]
    fn references_out_of_a_schema_are_found() {
        assert!(refers_elsewhere(
            &json!({"a": [{"$ref": "https://x.test/s"}]})
        ));
        assert!(!refers_elsewhere(&json!({"a": {"$ref": "#/$defs/b"}})));
    }
}
