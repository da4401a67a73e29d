//! Gate 3: the input as its schema means it.
//!
//! Lossless and directed by the schema. JSON null is absence, at every depth, unless the schema admits null there.
//! Canonical text becomes what a single declared type says: `"5"` 5, `"true"` true, `"[…]"` an array; 5.0 becomes 5. Never
//! into a string, from a boolean or an array to a number, from padded or empty text, where a union admits a string, or
//! where no type is declared. It never reports: what it cannot convert is left for gate 5. Rules, hooks, approver, guest
//! and journal all see the same value.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::g01_parse::Header;
use super::g02_resolve::Resolved;
use super::json;
use super::registry::RegisteredTool;
use super::schema::{Kind, SchemaView};
use super::trail::{GateNote, Trail};
use crate::model::Gate;

/// A call whose input is as its schema means it.
#[derive(Clone, Debug)]
pub(super) struct Normalised {
    header: Header,
    tool: Arc<RegisteredTool>,
    input: Arc<Map<String, Value>>,
}

impl Normalised {
    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn tool(&self) -> &Arc<RegisteredTool> {
        &self.tool
    }

    pub(super) fn input(&self) -> &Arc<Map<String, Value>> {
        &self.input
    }
}

/// Normalises a call.
pub(super) fn normalise(call: Resolved, trail: &mut Trail) -> Normalised {
    let (header, tool, mut input) = call.into_parts();
    let mut changes = Changes::default();
    if !tool.declaration().raw_input() {
        let schema = SchemaView::root(&tool.declaration().input_schema);
        normalise_object(&schema, &mut input, "", &mut changes);
    }
    match changes.0.as_str() {
        "" => trail.note(Gate::Normalise, GateNote::Passed, "nothing to convert"),
        words => trail.note(Gate::Normalise, GateNote::Changed, words.to_owned()),
    }
    Normalised {
        header,
        tool,
        input: Arc::new(input),
    }
}

/// An input as a schema means it, for what is fuzzed.
#[cfg(any(test, fuzzing))]
pub(crate) fn normalised(schema: &Value, mut input: Map<String, Value>) -> Map<String, Value> {
    let schema = SchemaView::root(schema);
    normalise_object(&schema, &mut input, "", &mut Changes::default());
    input
}

fn normalise_object(
    schema: &SchemaView<'_>,
    object: &mut Map<String, Value>,
    path: &str,
    changes: &mut Changes,
) {
    let at = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    object.retain(|name, value| {
        let absent = value.is_null()
            && !schema
                .property(name)
                .is_some_and(|property| property.admits_null());
        if absent {
            changes.note(|| format!("{}: null is absence", at(name)));
        }
        !absent
    });
    for (name, value) in object.iter_mut() {
        if let Some(property) = schema.property(name) {
            normalise_value(&property, value, &at(name), changes);
        }
    }
}

/// What was changed, in words; no more of them than a record holds.
#[derive(Default)]
struct Changes(String);

impl Changes {
    /// The most bytes of all words together.
    const MAX: usize = 2_048;

    fn note(&mut self, words: impl FnOnce() -> String) {
        if self.0.len() < Self::MAX {
            let separator = if self.0.is_empty() { "" } else { "; " };
            self.0.push_str(separator);
            self.0.push_str(&words());
        }
    }
}

fn normalise_value(schema: &SchemaView<'_>, value: &mut Value, path: &str, changes: &mut Changes) {
    if let Some(kind) = schema.single_kind()
        && let Some(converted) = convert(kind, value)
    {
        changes.note(|| format!("{path}: {value} is {converted}"));
        *value = converted;
    }
    match value {
        Value::Object(object) => normalise_object(schema, object, path, changes),
        Value::Array(items) => {
            if let Some(item_schema) = schema.items() {
                for (index, item) in items.iter_mut().enumerate() {
                    normalise_value(&item_schema, item, &format!("{path}[{index}]"), changes);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The one other spelling of `value` that is of `kind`, if there is exactly one.
fn convert(kind: Kind, value: &Value) -> Option<Value> {
    match (kind, value) {
        (Kind::Integer, Value::Number(number)) => {
            whole(number.as_f64().filter(|_| number.is_f64())?)
        }
        (Kind::Integer, Value::String(text)) => number_text(text).filter(|parsed| !parsed.is_f64()),
        (Kind::Number, Value::String(text)) => number_text(text),
        (Kind::Boolean, Value::String(text)) => match text.as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        (Kind::Array, Value::String(text)) if text.starts_with('[') => {
            json::strict(text).ok().filter(Value::is_array)
        }
        _ => None,
    }
}

/// A float without a fraction as an integer, where every integer up to it is exact.
fn whole(float: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if float.fract() != 0.0 || float.abs() >= EXACT {
        return None;
    }
    format!("{float:.0}").parse::<i64>().ok().map(Value::from)
}

fn number_text(text: &str) -> Option<Value> {
    let parsed = json::strict(text).ok().filter(Value::is_number)?;
    let canonical = parsed.to_string();
    (canonical == text).then_some(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn normalised(schema: Value, input: Value) -> Value {
        let Value::Object(object) = input else {
            panic!("an object")
        };
        Value::Object(super::normalised(&schema, object))
    }

    fn one(property: Value, value: Value) -> Value {
        let schema = json!({"type": "object", "properties": {"x": property}});
        normalised(schema, json!({"x": value}))
    }

    #[test]
    fn null_is_absence_unless_it_is_admitted() {
        assert_eq!(one(json!({"type": "string"}), Value::Null), json!({}));
        for admits in [
            json!({"type": ["number", "null"]}),
            json!({"enum": ["A", null]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!({}),
        ] {
            assert_eq!(one(admits, Value::Null), json!({"x": null}));
        }
        let nested = json!({"type": "object", "properties": {
            "p": {"type": "object", "properties": {"a": {"type": "string"}, "c": {"type": "string"}}}}});
        assert_eq!(
            normalised(nested, json!({"p": {"a": null, "c": "V"}})),
            json!({"p": {"c": "V"}})
        );
    }

    #[test]
    fn canonical_text_becomes_the_single_declared_type() {
        let integer = json!({"type": "integer"});
        assert_eq!(one(integer.clone(), json!("5")), json!({"x": 5}));
        assert_eq!(one(integer.clone(), json!("-7")), json!({"x": -7}));
        assert_eq!(one(integer.clone(), json!(5.0)), json!({"x": 5}));
        assert_eq!(one(integer.clone(), json!(-0.0)), json!({"x": 0}));
        assert_eq!(
            one(json!({"type": "boolean"}), json!("false")),
            json!({"x": false})
        );
        assert_eq!(
            one(json!({"type": "number"}), json!("1.5")),
            json!({"x": 1.5})
        );
        let list = json!({"type": "array", "items": {"type": "integer"}});
        assert_eq!(one(list, json!("[\"1\", 2]")), json!({"x": [1, 2]}));
        assert_eq!(
            one(json!({"type": ["integer", "null"]}), json!("5")),
            json!({"x": 5})
        );
    }

    #[test]
    fn what_could_mean_two_things_stays() {
        let unchanged = |property: Value, value: Value| {
            assert_eq!(one(property, value.clone()), json!({ "x": value }));
        };
        let integer = json!({"type": "integer"});
        for value in [
            json!(" 5"),
            json!("05"),
            json!("5.0"),
            json!("+5"),
            json!(""),
            json!(true),
            json!([5]),
            json!(1.5),
        ] {
            unchanged(integer.clone(), value);
        }
        unchanged(json!({"type": "string"}), json!(5));
        unchanged(json!({"type": ["integer", "string"]}), json!("5"));
        unchanged(
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            json!("5"),
        );
        unchanged(json!({}), json!("5"));
        unchanged(json!({"type": "boolean"}), json!("True"));
        unchanged(json!({"type": "array"}), json!("[1"));
    }
}
