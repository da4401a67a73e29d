//! JSON as calls bring it: strict where serde_json is lenient.

use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The deepest nesting. serde_json stops at 128 by itself.
pub(super) const MAX_DEPTH: usize = 64;

/// Reads one JSON value. Refuses duplicate keys at every level, nesting below [`MAX_DEPTH`], and numbers whose magnitude
/// is beyond 64 bits, since those would arrive rounded.
pub(super) fn strict(text: &str) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0 }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        if self.depth < MAX_DEPTH {
            Ok(Self {
                depth: self.depth + 1,
            })
        } else {
            Err(E::custom(format_args!(
                "nesting is deeper than {MAX_DEPTH} levels"
            )))
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        // An integer literal beyond 64 bits arrives here, already rounded, and looks like a float of that size: 2^64 and
        // more, or -2^63 and less (which as an exact integer arrives as `i64`).
        if value >= 18_446_744_073_709_551_616.0 || value <= -9_223_372_036_854_775_808.0 {
            return Err(E::custom("a number is beyond 64 bits"));
        }
        Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(deeper)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let deeper = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(deeper)?;
            if object.contains_key(&key) {
                let shown: String = key.chars().take(100).collect();
                return Err(de::Error::custom(format_args!(
                    "duplicate key '{}'",
                    shown.escape_debug()
                )));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_serde_json_lets_through_is_refused() {
        for (text, reason) in [
            (r#"{"a":1,"a":2}"#, "duplicate key 'a'"),
            (r#"{"o":[{"b":1,"b":1}]}"#, "duplicate key 'b'"),
            ("123456789012345678901234567890", "beyond 64 bits"),
            ("-123456789012345678901234567890", "beyond 64 bits"),
            ("-9223372036854775809", "beyond 64 bits"),
            ("18446744073709551616", "beyond 64 bits"),
            ("1e400", "out of range"),
            ("{} {}", "trailing characters"),
            (r#""\ud800a""#, "hex escape"),
        ] {
            let error = strict(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(strict(&nested(64)).is_ok());
        assert!(
            strict(&nested(65))
                .unwrap_err()
                .to_string()
                .contains("64 levels")
        );
        assert!(strict(&nested(200)).is_err());
    }

    #[test]
    fn numbers_within_64_bits_stay_exact() {
        for text in [
            "9007199254740993",
            "18446744073709551615",
            "-9223372036854775808",
        ] {
            assert_eq!(strict(text).unwrap().to_string(), text);
        }
    }
}
