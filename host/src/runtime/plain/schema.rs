//! From a type to the JSON Schema of its values.
//!
//! | WIT | JSON |
//! |---|---|
//! | `bool`, `string`, `f32`, `f64` | boolean, string, number |
//! | `s8` to `u32` | integer with its range |
//! | `s64`, `u64` | integer, or the same as decimal text: readers of JSON round what is beyond 2^53 |
//! | `char` | string of one character |
//! | `list<u8>` | string, base64 |
//! | `list<T>`, `list<T, N>`, `tuple` | array |
//! | `map<string, T>`; other maps | object; array of pairs |
//! | `record` | object; an `option` field may be left out, or be null |
//! | `variant`, `result` | the case's name, or an object with the case's name as its one key |
//! | `enum`; `flags` | string; array of strings |
//! | `option<T>` | `T` or null; an option in an option is `{"some": …}` or null |

use serde_json::{Map, Value, json};

use super::shape::Shape;

/// The schema of a record, or of a function's parameters.
pub(super) fn object(fields: &[(String, Shape)]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|(name, shape)| (name.clone(), schema(shape)))
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|(_, shape)| !shape.is_optional())
        .map(|(name, _)| name.as_str())
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The schema of one value.
pub(super) fn schema(shape: &Shape) -> Value {
    match shape {
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Whole(whole) if whole.is_wide() => json!({
            "type": ["integer", "string"],
            "pattern": "^-?[0-9]{1,20}$",
            "description": "A whole number of 64 bits; as text where it is beyond 2^53.",
        }),
        Shape::Whole(whole) => {
            let (low, high) = whole.range();
            let (low, high) = (i64::try_from(low).ok(), i64::try_from(high).ok());
            json!({"type": "integer", "minimum": low, "maximum": high})
        }
        Shape::Float32 | Shape::Float64 => json!({"type": "number"}),
        Shape::Char => json!({"type": "string", "minLength": 1, "maxLength": 1}),
        Shape::Text => json!({"type": "string"}),
        Shape::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
        Shape::List(item) => json!({"type": "array", "items": schema(item)}),
        Shape::Fixed(item, count) => json!({
            "type": "array", "items": schema(item), "minItems": count, "maxItems": count,
        }),
        Shape::Map(key, value) if **key == Shape::Text => {
            json!({"type": "object", "additionalProperties": schema(value)})
        }
        Shape::Map(key, value) => json!({"type": "array", "items": pair(key, value)}),
        Shape::Record(fields) => object(fields),
        Shape::Tuple(items) => tuple(items.iter()),
        Shape::Enum(names) => json!({"type": "string", "enum": names}),
        Shape::Flags(names) => json!({
            "type": "array", "items": {"type": "string", "enum": names}, "uniqueItems": true,
        }),
        Shape::Option(inner) => optional(inner),
        Shape::Variant(_) | Shape::Result(_) => cases(shape),
    }
}

fn pair(key: &Shape, value: &Shape) -> Value {
    tuple([key, value].into_iter())
}

fn tuple<'a>(items: impl ExactSizeIterator<Item = &'a Shape>) -> Value {
    let count = items.len();
    let items: Vec<Value> = items.map(schema).collect();
    json!({"type": "array", "prefixItems": items, "minItems": count, "maxItems": count})
}

fn optional(inner: &Shape) -> Value {
    if inner.is_optional() {
        let some = one_key("some", schema(inner));
        return json!({"anyOf": [some, {"type": "null"}]});
    }
    let mut schema = schema(inner);
    // Where the type is one word, null is one more: what reads schemas understands that best.
    let single = schema.get("type").and_then(Value::as_str);
    let single = single.filter(|_| schema.get("enum").is_none());
    match single.map(str::to_owned) {
        Some(single) => {
            if let Some(object) = schema.as_object_mut() {
                object.insert("type".to_owned(), json!([single, "null"]));
            }
            schema
        }
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

fn cases(shape: &Shape) -> Value {
    let cases = shape.cases().unwrap_or_default();
    let bare: Vec<&str> = cases
        .iter()
        .filter(|(_, carried)| carried.is_none())
        .map(|(name, _)| *name)
        .collect();
    let mut any = Vec::new();
    if !bare.is_empty() {
        any.push(json!({"type": "string", "enum": bare}));
    }
    let carrying = cases
        .iter()
        .filter_map(|(name, carried)| carried.map(|shape| one_key(name, schema(shape))));
    any.extend(carrying);
    if any.len() == 1 {
        return any.pop().unwrap_or_default();
    }
    json!({"anyOf": any})
}

fn one_key(name: &str, schema: Value) -> Value {
    json!({
        "type": "object",
        "properties": {name: schema},
        "required": [name],
        "additionalProperties": false,
    })
}
