//! What of a schema is enforced, and how far its references unfold.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the enums of JSON and of the validator are not ours"
)]

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Ranges, lengths, counts and formats: the tool's business.
const NOT_ENFORCED: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minContains",
    "maxContains",
    "minProperties",
    "maxProperties",
    "format",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
];

/// Keywords whose value is a map of names to schemas.
const MAPS: &[&str] = &[
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Keywords whose value is a schema, or a list of schemas.
const SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "allOf",
    "anyOf",
    "oneOf",
];

/// The schema without the keywords that are not enforced. A property that is called `minimum` stays.
pub(super) fn relaxed(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let kept = object
                .iter()
                .filter(|(key, _)| !NOT_ENFORCED.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), relaxed_keyword(key, value)));
            Value::Object(kept.collect())
        }
        other => other.clone(),
    }
}

fn relaxed_keyword(key: &str, value: &Value) -> Value {
    match value {
        Value::Object(map) if MAPS.contains(&key) => {
            let schemas = map
                .iter()
                .map(|(name, schema)| (name.clone(), relaxed(schema)));
            Value::Object(schemas.collect::<Map<_, _>>())
        }
        Value::Object(_) if SCHEMAS.contains(&key) => relaxed(value),
        Value::Array(items) if SCHEMAS.contains(&key) => {
            Value::Array(items.iter().map(relaxed).collect())
        }
        _ => value.clone(),
    }
}

/// How many subschemas one visit of the root visits, references followed. A reference back to a schema that is being
/// counted counts one: recursion is bounded by the data.
pub(super) fn unfolded(root: &Value) -> u64 {
    let mut counter = Counter {
        root,
        counted: HashMap::new(),
    };
    counter.count(root)
}

struct Counter<'a> {
    root: &'a Value,
    /// Of each reference; none while it is being counted.
    counted: HashMap<&'a str, Option<u64>>,
}

impl<'a> Counter<'a> {
    fn count(&mut self, schema: &'a Value) -> u64 {
        let Value::Object(object) = schema else {
            return 1;
        };
        let mut total: u64 = 1;
        for (key, value) in object {
            let part = match (key.as_str(), value) {
                ("$ref", Value::String(reference)) => self.count_reference(reference),
                ("$defs" | "definitions", _) => 0,
                (key, Value::Object(map)) if MAPS.contains(&key) => self.count_all(map.values()),
                (key, Value::Object(_)) if SCHEMAS.contains(&key) => self.count(value),
                (key, Value::Array(items)) if SCHEMAS.contains(&key) => {
                    self.count_all(items.iter())
                }
                _ => 0,
            };
            total = total.saturating_add(part);
        }
        total
    }

    fn count_all(&mut self, schemas: impl Iterator<Item = &'a Value>) -> u64 {
        schemas.fold(0, |total, schema| total.saturating_add(self.count(schema)))
    }

    fn count_reference(&mut self, reference: &'a str) -> u64 {
        if let Some(counted) = self.counted.get(reference) {
            return counted.unwrap_or(1);
        }
        let root = self.root;
        let Some(target) = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer))
        else {
            return 1;
        };
        self.counted.insert(reference, None);
        let count = self.count(target);
        self.counted.insert(reference, Some(count));
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ranges_go_and_properties_of_the_same_name_stay() {
        let schema = json!({"type": "object", "properties": {
            "minimum": {"type": "integer", "minimum": 3},
            "list": {"type": "array", "minItems": 2, "items": {"type": "string", "maxLength": 4}}}});
        let expected = json!({"type": "object", "properties": {
            "minimum": {"type": "integer"},
            "list": {"type": "array", "items": {"type": "string"}}}});
        assert_eq!(relaxed(&schema), expected);
    }

    #[test]
    fn references_are_counted_as_often_as_they_unfold() {
        let mut defs = json!({"d0": {"type": "string"}});
        for level in 1..=30 {
            let before = format!("#/$defs/d{}", level - 1);
            defs[format!("d{level}")] = json!({"allOf": [{"$ref": before}, {"$ref": before}]});
        }
        let schema = json!({"$defs": defs, "properties": {"x": {"$ref": "#/$defs/d30"}}});
        assert!(unfolded(&schema) > 1_000_000_000);

        let tree = json!({"$defs": {"t": {"properties": {"child": {"$ref": "#/$defs/t"}}}}, "$ref": "#/$defs/t"});
        assert!(unfolded(&tree) < 10);
    }
}
