//! A rule as it may be written: a text, or a table with examples.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::{Spanned, Value};

use crate::policy::Examples;

/// See the module. A table's keys keep their positions, so that whatever is wrong with one is said with its line.
#[derive(Clone, Debug)]
pub(super) enum RuleEntry {
    Text(String),
    Table(Vec<(String, Spanned<Value>)>),
}

/// The text of a rule, where it begins, and its examples.
pub(super) struct RuleParts {
    pub(super) text: String,
    pub(super) at: usize,
    pub(super) examples: Examples,
}

/// What is wrong with an entry, and where.
pub(super) struct EntryError {
    pub(super) at: usize,
    pub(super) what: String,
}

impl RuleEntry {
    /// Takes a rule apart; `at` is where it begins.
    pub(super) fn parts(self, at: usize) -> Result<RuleParts, EntryError> {
        let keys = match self {
            Self::Text(text) => {
                return Ok(RuleParts {
                    text,
                    at,
                    examples: Examples::default(),
                });
            }
            Self::Table(keys) => keys,
        };
        let mut rule = None;
        let mut examples = Examples::default();
        for (key, value) in keys {
            match key.as_str() {
                "rule" => rule = Some(text(&key, value)?),
                "allows" => examples.allows = texts(&key, value)?,
                "asks" => examples.asks = texts(&key, value)?,
                "denies" => examples.denies = texts(&key, value)?,
                _ => {
                    return Err(EntryError {
                        at: value.span().start,
                        what: format!("unknown key '{key}' in a rule"),
                    });
                }
            }
        }
        let (text, at) = rule.ok_or_else(|| EntryError {
            at,
            what: "this table has no key 'rule', which holds the rule itself".to_owned(),
        })?;
        Ok(RuleParts { text, at, examples })
    }
}

fn text(key: &str, value: Spanned<Value>) -> Result<(String, usize), EntryError> {
    let at = value.span().start;
    match value.into_inner() {
        Value::String(text) => Ok((text, at)),
        other => Err(EntryError {
            at,
            what: format!(
                "the key '{key}' of a rule must be a text, but is of type {}",
                other.type_str()
            ),
        }),
    }
}

fn texts(key: &str, value: Spanned<Value>) -> Result<Vec<String>, EntryError> {
    let at = value.span().start;
    let wrong = |kind: &str| EntryError {
        at,
        what: format!("the key '{key}' of a rule must be a list of texts, but {kind}"),
    };
    let Value::Array(items) = value.into_inner() else {
        return Err(wrong("is no list"));
    };
    items
        .into_iter()
        .map(|item| match item {
            Value::String(text) => Ok(text),
            other => Err(wrong(&format!(
                "holds a value of type {}",
                other.type_str()
            ))),
        })
        .collect()
}

impl<'de> Deserialize<'de> for RuleEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

struct EntryVisitor;

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = RuleEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule: a text such as \"Read(docs/**)\", or a table with the key 'rule'")
    }

    fn visit_str<E>(self, text: &str) -> Result<RuleEntry, E> {
        Ok(RuleEntry::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RuleEntry, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = map.next_key()? {
            keys.push((key, map.next_value()?));
        }
        Ok(RuleEntry::Table(keys))
    }
}

impl JsonSchema for RuleEntry {
    fn schema_name() -> Cow<'static, str> {
        "RuleEntry".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let examples = |what: &str| {
            serde_json::json!({
                "description": what,
                "type": "array",
                "items": {"type": "string"},
            })
        };
        json_schema!({
            "description": "A rule, `Name` or `Name(pattern)`; as a table with examples, which are checked at the start.",
            "anyOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "properties": {
                        "rule": {"description": "The rule itself.", "type": "string"},
                        "allows": examples("Subjects of calls that are allowed."),
                        "asks": examples("Subjects of calls that are asked for."),
                        "denies": examples("Subjects of calls that are denied."),
                    },
                    "required": ["rule"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
