//! From the values of a component to JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};
use wasmtime::component::Val;

use super::shape::Shape;

/// The largest whole number that every reader of JSON keeps: 2^53 - 1.
const EXACT: i128 = (1 << 53) - 1;

/// A value of this shape. What is not of the shape, which a component cannot give, is null.
pub(super) fn json(shape: &Shape, val: &Val) -> Value {
    match (shape, val) {
        (_, Val::Bool(value)) => Value::Bool(*value),
        (_, Val::S8(number)) => (*number).into(),
        (_, Val::U8(number)) => (*number).into(),
        (_, Val::S16(number)) => (*number).into(),
        (_, Val::U16(number)) => (*number).into(),
        (_, Val::S32(number)) => (*number).into(),
        (_, Val::U32(number)) => (*number).into(),
        (_, Val::S64(number)) => wide((*number).into(), (*number).into()),
        (_, Val::U64(number)) => wide((*number).into(), (*number).into()),
        (_, Val::Float32(number)) => float(f64::from(*number)),
        (_, Val::Float64(number)) => float(*number),
        (_, Val::Char(one)) => Value::String(one.to_string()),
        (_, Val::String(text)) => Value::String(text.clone()),
        (_, Val::Enum(name)) => Value::String(name.clone()),
        (_, Val::Flags(names)) => names.iter().cloned().map(Value::String).collect(),
        (Shape::Bytes, Val::List(bytes)) => Value::String(base64(bytes)),
        (Shape::List(of), Val::List(items)) => items.iter().map(|item| json(of, item)).collect(),
        (Shape::Fixed(of, _), Val::FixedLengthList(items)) => {
            items.iter().map(|item| json(of, item)).collect()
        }
        (Shape::Tuple(of), Val::Tuple(items)) => {
            let items = of.iter().zip(items);
            items.map(|(of, item)| json(of, item)).collect()
        }
        (Shape::Record(of), Val::Record(fields)) => {
            let fields = of.iter().zip(fields);
            let fields = fields.map(|((name, of), (_, val))| (name.clone(), json(of, val)));
            Value::Object(fields.collect())
        }
        (Shape::Option(_), Val::Option(None)) => Value::Null,
        (Shape::Option(of), Val::Option(Some(val))) => match of.is_optional() {
            true => one_key("some", json(of, val)),
            false => json(of, val),
        },
        (Shape::Variant(_), Val::Variant(name, carried)) => case(shape, name, carried.as_deref()),
        (Shape::Result(_), Val::Result(Ok(carried))) => case(shape, "ok", carried.as_deref()),
        (Shape::Result(_), Val::Result(Err(carried))) => case(shape, "err", carried.as_deref()),
        (Shape::Map(key, of), Val::Map(pairs)) => map(key, of, pairs),
        _ => Value::Null,
    }
}

fn map(key: &Shape, of: &Shape, pairs: &[(Val, Val)]) -> Value {
    let pairs = pairs.iter();
    if *key != Shape::Text {
        let pairs =
            pairs.map(|(first, second)| Value::Array(vec![json(key, first), json(of, second)]));
        return pairs.collect();
    }
    let mut object = Map::new();
    for (name, val) in pairs {
        if let Val::String(name) = name {
            object.insert(name.clone(), json(of, val));
        }
    }
    Value::Object(object)
}

fn case(shape: &Shape, name: &str, carried: Option<&Val>) -> Value {
    let cases = shape.cases().unwrap_or_default();
    let of = cases.iter().find(|(case, _)| *case == name);
    match (of.and_then(|(_, of)| *of), carried) {
        (Some(of), Some(val)) => one_key(name, json(of, val)),
        _ => Value::String(name.to_owned()),
    }
}

fn one_key(name: &str, value: Value) -> Value {
    let mut object = Map::new();
    object.insert(name.to_owned(), value);
    Value::Object(object)
}

fn wide(number: i128, exact: Number) -> Value {
    match number.abs() <= EXACT {
        true => Value::Number(exact),
        false => Value::String(number.to_string()),
    }
}

/// What is no number in JSON is its name.
fn float(number: f64) -> Value {
    match Number::from_f64(number) {
        Some(number) => Value::Number(number),
        None => Value::String(number.to_string()),
    }
}

fn base64(bytes: &[Val]) -> String {
    let bytes = bytes.iter().filter_map(|byte| match byte {
        Val::U8(byte) => Some(*byte),
        _ => None,
    });
    STANDARD.encode(bytes.collect::<Vec<u8>>())
}
