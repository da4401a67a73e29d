//! [`ToolInput`] for the types that are no author's own. A number is taken if it loses nothing: `5.0` is an integer,
//! `"5"` is not.

use serde_json::{Map, Number, Value, json};

use crate::{Faults, JsonType, ToolInput};

impl ToolInput for String {
    const TYPE: JsonType = JsonType::String;

    fn schema() -> Map<String, Value> {
        of_type(Self::TYPE)
    }

    fn bind(value: Value, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::String(text) => Some(text),
            _ => mismatch(Self::TYPE, faults),
        }
    }

    fn to_json(&self) -> Value {
        Value::String(self.clone())
    }
}

impl ToolInput for bool {
    const TYPE: JsonType = JsonType::Boolean;

    fn schema() -> Map<String, Value> {
        of_type(Self::TYPE)
    }

    fn bind(value: Value, faults: &mut Faults) -> Option<Self> {
        match value {
            Value::Bool(truth) => Some(truth),
            _ => mismatch(Self::TYPE, faults),
        }
    }

    fn to_json(&self) -> Value {
        Value::Bool(*self)
    }
}

impl ToolInput for f64 {
    const TYPE: JsonType = JsonType::Number;

    fn schema() -> Map<String, Value> {
        of_type(Self::TYPE)
    }

    fn bind(value: Value, faults: &mut Faults) -> Option<Self> {
        value.as_f64().or_else(|| mismatch(Self::TYPE, faults))
    }

    fn to_json(&self) -> Value {
        Number::from_f64(*self).map_or(Value::Null, Value::Number)
    }
}

macro_rules! integers {
    ($($type:ty: $minimum:expr;)*) => {$(
        impl ToolInput for $type {
            const TYPE: JsonType = JsonType::Integer;

            fn schema() -> Map<String, Value> {
                integer_schema($minimum)
            }

            fn bind(value: Value, faults: &mut Faults) -> Option<Self> {
                let whole = integer(&value, i128::from(Self::MIN), i128::from(Self::MAX), faults)?;
                Self::try_from(whole).ok()
            }

            fn to_json(&self) -> Value {
                Value::Number(Number::from(*self))
            }
        }
    )*};
}

integers! {
    u32: Some(0);
    u64: Some(0);
    i32: None;
    i64: None;
}

impl<T: ToolInput> ToolInput for Vec<T> {
    const TYPE: JsonType = JsonType::Array;

    fn schema() -> Map<String, Value> {
        let mut schema = of_type(Self::TYPE);
        schema.insert("items".to_owned(), Value::Object(T::schema()));
        schema
    }

    fn bind(value: Value, faults: &mut Faults) -> Option<Self> {
        let Value::Array(values) = value else {
            return mismatch(Self::TYPE, faults);
        };
        let count = values.len();
        let mut bound = Self::with_capacity(count);
        for (index, value) in values.into_iter().enumerate() {
            // Every element is looked at, also behind one that does not fit.
            bound.extend(faults.in_element(index, |faults| T::bind(value, faults)));
        }
        (bound.len() == count).then_some(bound)
    }

    fn to_json(&self) -> Value {
        self.iter().map(T::to_json).collect()
    }
}

/// Any JSON but null, taken as it is.
impl ToolInput for Value {
    const TYPE: JsonType = JsonType::Any;

    fn schema() -> Map<String, Value> {
        Map::new()
    }

    fn bind(value: Value, faults: &mut Faults) -> Option<Self> {
        if value.is_null() {
            faults.required(Self::TYPE);
            return None;
        }
        Some(value)
    }

    fn to_json(&self) -> Value {
        self.clone()
    }
}

fn of_type(json_type: JsonType) -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), json!(json_type.name()))])
}

fn integer_schema(minimum: Option<u32>) -> Map<String, Value> {
    let mut schema = of_type(JsonType::Integer);
    if let Some(minimum) = minimum {
        schema.insert("minimum".to_owned(), json!(minimum));
    }
    schema
}

fn mismatch<T>(expected: JsonType, faults: &mut Faults) -> Option<T> {
    faults.wrong_type(expected);
    None
}

fn integer(value: &Value, min: i128, max: i128, faults: &mut Faults) -> Option<i128> {
    let Some(whole) = whole_number(value) else {
        return mismatch(JsonType::Integer, faults);
    };
    if whole < min || whole > max {
        faults.out_of_range(min, max);
        return None;
    }
    Some(whole)
}

/// The value as an integer if it is a number without a fraction. Beyond the range of `i128` it is the nearest bound,
/// which no integer type here reaches.
fn whole_number(value: &Value) -> Option<i128> {
    let number = value.as_number()?;
    if let Some(integer) = number.as_i64() {
        return Some(i128::from(integer));
    }
    if let Some(integer) = number.as_u64() {
        return Some(i128::from(integer));
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0).then_some(float as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound value, or the sentences.
    fn bind<T: ToolInput>(value: Value) -> Result<T, Vec<String>> {
        let mut faults = Faults::default();
        let bound = faults.in_field("x", |faults| T::bind(value, faults));
        bound.ok_or_else(|| faults.into_sentences())
    }

    fn sentence(rule: &str) -> Vec<String> {
        vec![format!("Parameter 'x' {rule}. The tool was not executed.")]
    }

    #[test]
    fn a_number_without_a_fraction_is_an_integer() {
        assert_eq!(bind::<u32>(json!(5.0)), Ok(5));
        assert_eq!(bind::<i32>(json!(-5)), Ok(-5));
        assert_eq!(bind::<i64>(json!(-1e3)), Ok(-1000));
        assert_eq!(bind::<u64>(json!(u64::MAX)), Ok(u64::MAX));
        assert_eq!(bind::<u32>(json!(-0.0)), Ok(0));
        for other in [json!(5.5), json!("5"), json!(true), json!([5]), json!(null)] {
            assert_eq!(bind::<u32>(other), Err(sentence("must be an integer")));
        }
    }

    #[test]
    fn an_integer_out_of_range_names_the_range() {
        let unsigned = sentence("must be an integer from 0 to 4294967295");
        for value in [
            json!(-1),
            json!(4_294_967_296_u64),
            json!(1e300),
            json!(-1e300),
        ] {
            assert_eq!(bind::<u32>(value), Err(unsigned.clone()));
        }
        let signed = sentence("must be an integer from -2147483648 to 2147483647");
        assert_eq!(bind::<i32>(json!(2_147_483_648_u32)), Err(signed));
        let wide = sentence("must be an integer from 0 to 18446744073709551615");
        assert_eq!(bind::<u64>(json!(18_446_744_073_709_551_616.0)), Err(wide));
    }

    #[test]
    fn every_element_is_looked_at() {
        assert_eq!(
            bind::<Vec<bool>>(json!([true, false])),
            Ok(vec![true, false])
        );
        assert_eq!(
            bind::<Vec<Vec<String>>>(json!([["a"], [1, "b", 2], 3])),
            Err(vec![
                "Parameter 'x[1][0]' must be a string. The tool was not executed.".to_owned(),
                "Parameter 'x[1][2]' must be a string. The tool was not executed.".to_owned(),
                "Parameter 'x[2]' must be an array. The tool was not executed.".to_owned(),
            ])
        );
    }

    #[test]
    fn any_value_is_taken_as_it_is() {
        assert_eq!(bind::<Value>(json!({"a": [1]})), Ok(json!({"a": [1]})));
        assert_eq!(bind::<Value>(Value::Null), Err(sentence("is required")));
    }

    #[test]
    fn numbers_and_booleans_are_not_strings() {
        assert_eq!(bind::<String>(json!(1)), Err(sentence("must be a string")));
        assert_eq!(
            bind::<bool>(json!("true")),
            Err(sentence("must be a boolean"))
        );
        assert_eq!(bind::<f64>(json!("1")), Err(sentence("must be a number")));
        assert_eq!(bind::<f64>(json!(1)), Ok(1.0));
    }

    #[test]
    fn a_value_binds_again_from_its_json() {
        assert_eq!(bind::<Vec<u32>>(vec![1_u32, 2].to_json()), Ok(vec![1, 2]));
        assert_eq!(bind::<f64>(0.5.to_json()), Ok(0.5));
        assert_eq!(bind::<i64>(i64::MIN.to_json()), Ok(i64::MIN));
    }

    #[test]
    fn schemas_are_flat() {
        assert_eq!(
            Value::Object(u32::schema()),
            json!({"type": "integer", "minimum": 0})
        );
        assert_eq!(Value::Object(i64::schema()), json!({"type": "integer"}));
        assert_eq!(
            Value::Object(Vec::<String>::schema()),
            json!({"type": "array", "items": {"type": "string"}})
        );
    }
}
