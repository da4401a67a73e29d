//! JSON of settings files, read with what `serde_json` drops silently: keys that stand in an object twice.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::ImportError;

/// Reads a file's text.
pub(super) fn read(text: &str, file: &Path) -> Result<Value, ImportError> {
    let wrong = |error: serde_json::Error| {
        let (line, column) = (error.line(), error.column());
        let what = error.to_string();
        let position = format!(" at line {line} column {column}");
        ImportError::Json {
            file: file.to_owned(),
            line,
            column,
            what: what.strip_suffix(&position).unwrap_or(&what).to_owned(),
        }
    };
    serde_json::from_str::<UniqueKeys>(text).map_err(wrong)?;
    serde_json::from_str(text).map_err(wrong)
}

/// A value and where it stands, which every message names.
#[derive(Clone, Debug)]
pub(super) struct At<'a> {
    pub(super) value: &'a Value,
    pub(super) pointer: String,
    file: &'a Path,
}

impl<'a> At<'a> {
    /// The whole file.
    pub(super) fn root(value: &'a Value, file: &'a Path) -> Self {
        Self {
            value,
            pointer: String::new(),
            file,
        }
    }

    /// The text of the value, for people.
    pub(super) fn shown(&self) -> String {
        const MOST: usize = 200;
        let text = match self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if text.chars().count() <= MOST {
            return text;
        }
        let begin: String = text.chars().take(MOST).collect();
        format!("{begin}…")
    }

    /// What kind of value it is, with the keys of an object: values of settings may be secrets.
    pub(super) fn kind(&self) -> String {
        match self.value.as_object() {
            Some(object) if !object.is_empty() => {
                let keys: Vec<&str> = object.keys().map(String::as_str).collect();
                format!("an object with {}", keys.join(", "))
            }
            _ => self.type_name().to_owned(),
        }
    }

    pub(super) fn object(&self) -> Result<&'a Map<String, Value>, ImportError> {
        let object = self.value.as_object();
        object.ok_or_else(|| self.wrong("an object"))
    }

    /// The entries of an object.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, At<'a>)>, ImportError> {
        let object = self.object()?;
        Ok(object
            .iter()
            .map(|(key, value)| {
                let token = key.replace('~', "~0").replace('/', "~1");
                (key.as_str(), self.below(&token, value))
            })
            .collect())
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Result<Vec<At<'a>>, ImportError> {
        let items = self.value.as_array().ok_or_else(|| self.wrong("a list"))?;
        Ok(items
            .iter()
            .enumerate()
            .map(|(at, value)| self.below(&at.to_string(), value))
            .collect())
    }

    pub(super) fn text(&self) -> Result<&'a str, ImportError> {
        self.value.as_str().ok_or_else(|| self.wrong("a text"))
    }

    pub(super) fn truth(&self) -> Result<bool, ImportError> {
        let truth = self.value.as_bool();
        truth.ok_or_else(|| self.wrong("true or false"))
    }

    pub(super) fn number(&self) -> Result<f64, ImportError> {
        self.value.as_f64().ok_or_else(|| self.wrong("a number"))
    }

    fn below(&self, token: &str, value: &'a Value) -> At<'a> {
        At {
            value,
            pointer: format!("{}/{token}", self.pointer),
            file: self.file,
        }
    }

    fn wrong(&self, expected: &'static str) -> ImportError {
        ImportError::Type {
            file: self.file.to_owned(),
            pointer: if self.pointer.is_empty() {
                "/".to_owned()
            } else {
                self.pointer.escape_debug().to_string()
            },
            expected,
            found: self.type_name(),
        }
    }

    fn type_name(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        }
    }
}

/// Any value in whose objects no key stands twice.
struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            entries.next_value::<Self>()?;
            if let Some(twice) = keys.replace(key) {
                return Err(A::Error::custom(format_args!(
                    "the key '{}' stands there twice: one of the two would be dropped silently",
                    twice.escape_debug()
                )));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_has_its_line_and_column() {
        let wrong = |text: &str| read(text, Path::new("s.json")).unwrap_err().to_string();
        assert_eq!(wrong("{\n  oops"), "s.json:2:3: key must be a string");
        assert_eq!(wrong(""), "s.json:1:0: EOF while parsing a value");
        assert!(wrong("{} {}").contains("trailing characters"));
        let twice = wrong("{\"a\":{\n\"deny\":[],\n\"deny\":[]}}");
        assert!(twice.starts_with("s.json:3:"), "{twice}");
        assert!(twice.contains("'deny' stands there twice"), "{twice}");
    }

    #[test]
    fn pointers_are_escaped() {
        let value = serde_json::json!({"a/b~c": [1]});
        let root = At::root(&value, Path::new("s.json"));
        let entries = root.entries().unwrap();
        let items = entries[0].1.items().unwrap();
        assert_eq!(items[0].pointer, "/a~1b~0c/0");
        assert_eq!(value.pointer(&items[0].pointer), Some(&1.into()));
        assert_eq!(
            items[0].text().unwrap_err().to_string(),
            "s.json: /a~1b~0c/0 must be a text, but is a number"
        );
    }
}
