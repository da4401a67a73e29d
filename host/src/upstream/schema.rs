//! Input schemas of foreign servers: what is kept for validation, what is shown, and what no client should be given.
//!
//! Guarantees that a schema refers to nothing outside of itself, has an object at its root, and is bounded in size, depth
//! and number. Two come out of it: the one that inputs are held against, and the one that is shown, without the words at
//! its root that some model APIs refuse with the whole list of tools.

use serde_json::{Map, Value};

/// The largest schema, bytes of JSON.
const MAX_BYTES: usize = 64 << 10;
/// The deepest.
const MAX_DEPTH: usize = 32;
/// The most schemas within one.
const MAX_SCHEMAS: usize = 500;
/// Dialects that are understood; what names another one is read as the newest.
const DIALECTS: [&str; 3] = [
    "json-schema.org/draft/2020-12/",
    "json-schema.org/draft/2019-09/",
    "json-schema.org/draft-07/",
];
/// Words whose values are tables of schemas.
const TABLES: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// Words whose values are values, not schemas.
const VALUES: [&str; 4] = ["const", "default", "enum", "examples"];
/// Words that may not stand at the root of what is shown.
const NOT_AT_ROOT: [&str; 8] = [
    "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$ref",
];

/// A schema in its two forms.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cleaned {
    /// What inputs are held against.
    pub(super) strict: Value,
    /// What is shown.
    pub(super) shown: Value,
    /// What was changed, one phrase each.
    pub(super) altered: Vec<String>,
}

/// Cleans a schema.
///
/// # Errors
/// Why the tool cannot be offered.
pub(super) fn clean(schema: Option<&Value>) -> Result<Cleaned, String> {
    let Some(Value::Object(root)) = schema else {
        let what = match schema {
            None => "is missing",
            Some(_) => "is no object",
        };
        return Err(format!("its input schema {what}"));
    };
    let mut walk = Walk::default();
    let mut strict = walk.schema(root, 0, "")?;
    root_type(&mut strict, &mut walk.altered)?;
    if let Some(dialect) = strict.get("$schema")
        && !dialect.as_str().is_some_and(is_known)
    {
        strict.shift_remove("$schema");
        walk.altered
            .push("the schema's dialect was left out".to_owned());
    }
    let size = serde_json::to_string(&strict).map_or(usize::MAX, |text| text.len());
    if size > MAX_BYTES {
        return Err(format!(
            "its input schema is larger than {} KiB",
            MAX_BYTES >> 10
        ));
    }
    let mut shown = strict.clone();
    for word in NOT_AT_ROOT {
        if shown.shift_remove(word).is_some() {
            let what = format!("'{word}' at the root of the schema is not shown");
            walk.altered.push(what);
        }
    }
    if shown.len() < strict.len() && !shown.contains_key("properties") {
        shown.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    Ok(Cleaned {
        strict: Value::Object(strict),
        shown: Value::Object(shown),
        altered: walk.altered,
    })
}

fn is_known(dialect: &str) -> bool {
    DIALECTS.iter().any(|known| dialect.contains(known))
}

/// An input is an object, whatever else the root says.
fn root_type(root: &mut Map<String, Value>, altered: &mut Vec<String>) -> Result<(), String> {
    let object = Value::from("object");
    match root.get("type") {
        Some(kind) if *kind == object => return Ok(()),
        Some(Value::Array(kinds)) if kinds.contains(&object) => {}
        None => {}
        Some(other) => {
            return Err(format!(
                "its input is no object, but of the type {}",
                short(other)
            ));
        }
    }
    root.insert("type".to_owned(), object);
    altered.push("the schema's root was made an object".to_owned());
    Ok(())
}

fn short(value: &Value) -> String {
    let text: String = value.to_string().chars().take(80).collect();
    crate::model::visible(&text).into_owned()
}

#[derive(Default)]
struct Walk {
    schemas: usize,
    altered: Vec<String>,
}

impl Walk {
    /// One schema, at a pointer.
    fn schema(
        &mut self,
        schema: &Map<String, Value>,
        depth: usize,
        at: &str,
    ) -> Result<Map<String, Value>, String> {
        self.schemas += 1;
        if self.schemas > MAX_SCHEMAS {
            return Err(format!(
                "its input schema holds more than {MAX_SCHEMAS} schemas"
            ));
        }
        let mut kept = Map::new();
        for (word, value) in schema {
            let here = format!("{at}/{word}");
            if is_reference(word) {
                self.reference(value, &here)?;
            }
            if VALUES.contains(&word.as_str()) {
                bounded(value, depth)?;
                kept.insert(word.clone(), value.clone());
                continue;
            }
            if value.is_null() || word == "x-mcp-header" {
                self.alter(format!("'{}' was left out", crate::model::visible(&here)));
                continue;
            }
            let value = match value {
                Value::Object(table) if TABLES.contains(&word.as_str()) => {
                    self.table(table, depth + 1, &here)?
                }
                other => self.value(other, depth + 1, &here)?,
            };
            kept.insert(word.clone(), value);
        }
        Ok(kept)
    }

    /// A table of schemas by names of their own.
    fn table(
        &mut self,
        table: &Map<String, Value>,
        depth: usize,
        at: &str,
    ) -> Result<Value, String> {
        deep(depth)?;
        let mut kept = Map::new();
        for (name, schema) in table {
            let here = format!("{at}/{name}");
            match schema {
                Value::Object(schema) => {
                    let schema = self.schema(schema, depth + 1, &here)?;
                    kept.insert(name.clone(), Value::Object(schema));
                }
                // Many clients take no schema but an object.
                Value::Bool(true) => {
                    kept.insert(name.clone(), Value::Object(Map::new()));
                }
                Value::Bool(false) => {
                    let nothing = [("not".to_owned(), Value::Object(Map::new()))];
                    kept.insert(name.clone(), Value::Object(nothing.into_iter().collect()));
                }
                Value::Null => {
                    self.alter(format!("'{}' was left out", crate::model::visible(&here)))
                }
                other => {
                    return Err(format!(
                        "its input schema has {} where a schema belongs, at {}",
                        short(other),
                        crate::model::visible(&here)
                    ));
                }
            }
        }
        Ok(Value::Object(kept))
    }

    /// What stands behind a word: a schema, a list of them, or neither.
    fn value(&mut self, value: &Value, depth: usize, at: &str) -> Result<Value, String> {
        deep(depth)?;
        match value {
            Value::Object(schema) => Ok(Value::Object(self.schema(schema, depth, at)?)),
            Value::Array(items) => {
                let items = items.iter().enumerate();
                let items = items
                    .map(|(index, item)| self.value(item, depth + 1, &format!("{at}/{index}")));
                Ok(Value::Array(items.collect::<Result<_, _>>()?))
            }
            other => Ok(other.clone()),
        }
    }

    fn reference(&mut self, value: &Value, at: &str) -> Result<(), String> {
        match value.as_str() {
            Some(reference) if reference.starts_with('#') => Ok(()),
            _ => Err(format!(
                "its input schema refers to {}, outside of itself, at {}",
                short(value),
                crate::model::visible(at)
            )),
        }
    }

    fn alter(&mut self, what: String) {
        if self.altered.len() < 20 {
            self.altered.push(what.chars().take(200).collect());
        }
    }
}

fn is_reference(word: &str) -> bool {
    ["$ref", "$dynamicRef", "$recursiveRef"].contains(&word)
}

fn deep(depth: usize) -> Result<(), String> {
    match depth > MAX_DEPTH {
        true => Err(format!(
            "its input schema is deeper than {MAX_DEPTH} levels"
        )),
        false => Ok(()),
    }
}

fn bounded(value: &Value, depth: usize) -> Result<(), String> {
    deep(depth)?;
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| bounded(item, depth + 1)),
        Value::Object(entries) => entries
            .values()
            .try_for_each(|entry| bounded(entry, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cleaned(schema: Value) -> Cleaned {
        clean(Some(&schema)).unwrap()
    }

    fn refused(schema: Value) -> String {
        clean(Some(&schema)).unwrap_err()
    }

    #[test]
    fn what_is_in_order_stays_as_it_is() {
        for schema in [
            json!({"type": "object"}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                "properties": {"a": {"$ref": "#/$defs/x"}, "n": {"type": ["string", "null"], "default": null}},
                "$defs": {"x": {"enum": [null, 1], "const": null}}, "additionalProperties": false}),
        ] {
            let Cleaned {
                strict,
                shown,
                altered,
            } = cleaned(schema.clone());
            assert_eq!((&strict, &shown), (&schema, &schema));
            assert_eq!(altered, [""; 0]);
        }
    }

    #[test]
    fn what_clients_choke_on_is_changed_and_said() {
        let odd = cleaned(
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "title": null,
            "properties": {"a": true, "b": false, "c": {"description": null, "x-mcp-header": "X"}}}),
        );
        assert_eq!(
            odd.shown,
            json!({"properties": {"a": {}, "b": {"not": {}}, "c": {}}, "type": "object"})
        );
        assert_eq!(odd.altered.len(), 5, "{:?}", odd.altered);
        let any = cleaned(json!({"type": "object", "anyOf": [{"required": ["a"]}]}));
        assert_eq!(any.strict["anyOf"], json!([{"required": ["a"]}]));
        assert_eq!(any.shown, json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn what_cannot_be_offered_is_refused_with_its_place() {
        assert_eq!(clean(None).unwrap_err(), "its input schema is missing");
        assert!(refused(Value::Null).contains("no object"));
        assert!(refused(json!({"type": "array"})).contains("of the type \"array\""));
        let remote =
            json!({"type": "object", "properties": {"q": {"$ref": "http://127.0.0.1:9/x.json"}}});
        assert_eq!(
            refused(remote),
            "its input schema refers to \"http://127.0.0.1:9/x.json\", outside of itself, at /properties/q/$ref"
        );
        let mut deep = json!({"type": "string"});
        for _ in 0..40 {
            deep = json!({"type": "array", "items": deep});
        }
        let deep = json!({"type": "object", "properties": {"a": deep}});
        assert!(refused(deep).contains("deeper than 32"));
        let many: Map<String, Value> = (0..600).map(|n| (n.to_string(), json!({}))).collect();
        assert!(refused(json!({"type": "object", "properties": many})).contains("500 schemas"));
        let large = json!({"type": "object", "description": "x".repeat(70_000)});
        assert!(refused(large).contains("64 KiB"));
    }
}
