//! Unknown keys, found with their position: the schema that editors get is the list of what is known.

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use crate::model::suggestion;

/// A key that the schema does not know: where it begins, and what to say of it.
pub(super) struct UnknownKey {
    pub(super) at: usize,
    pub(super) what: String,
}

/// The first unknown key of a file.
pub(super) fn unknown(table: &DeTable<'_>, root: &Value) -> Option<UnknownKey> {
    in_table(table, root, root, "")
}

fn in_table(table: &DeTable<'_>, schema: &Value, root: &Value, path: &str) -> Option<UnknownKey> {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, value) in table.iter() {
        let name: &str = key.get_ref();
        let whole = if path.is_empty() {
            name.to_owned()
        } else {
            format!("{path}.{name}")
        };
        let declared = properties.and_then(|properties| properties.get(name));
        let any = schema
            .get("additionalProperties")
            .filter(|any| any.is_object());
        let Some(schema) = declared.or(any) else {
            let known = properties
                .into_iter()
                .flat_map(|properties| properties.keys().map(String::as_str));
            return Some(UnknownKey {
                at: key.span().start,
                what: format!("unknown key '{whole}'.{}", suggestion(name, known)),
            });
        };
        if let Some(found) = in_value(value.get_ref(), followed(schema, root), root, &whole) {
            return Some(found);
        }
    }
    None
}

fn in_value(value: &DeValue<'_>, schema: &Value, root: &Value, path: &str) -> Option<UnknownKey> {
    match value {
        DeValue::Table(table)
            if schema
                .get("properties")
                .or(schema.get("additionalProperties"))
                .is_some() =>
        {
            in_table(table, schema, root, path)
        }
        DeValue::Array(items) => {
            let item_schema = schema.get("items")?;
            let item_schema = followed(item_schema, root);
            items
                .iter()
                .find_map(|item| in_value(item.get_ref(), item_schema, root, path))
        }
        _ => None,
    }
}

/// The schema that a reference leads to; of several that a value may have, the one that speaks of keys.
fn followed<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let schema = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.strip_prefix('#'))
        .and_then(|pointer| root.pointer(pointer))
        .unwrap_or(schema);
    let any = schema.get("anyOf").and_then(Value::as_array);
    any.into_iter()
        .flatten()
        .map(|one| followed(one, root))
        .find(|one| one.get("properties").is_some())
        .unwrap_or(schema)
}
