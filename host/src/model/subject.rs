//! Permission subjects: what a rule's pattern is compared with.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What kind of thing a subject is. The kind travels with the subject, because the text of a rule cannot tell a path
/// from a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// A command line.
    Command,
    /// A file path.
    Path,
    /// A URL.
    Url,
}

impl SubjectKind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Path => "path",
            Self::Url => "url",
        }
    }
}

impl fmt::Display for SubjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One subject of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Subject {
    /// What it is.
    pub kind: SubjectKind,
    /// Its text, as the input gave it.
    pub value: String,
}

/// Which field of the input holds the subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectField {
    /// What the field holds.
    pub kind: SubjectKind,
    /// Name of a top-level input field.
    pub field: String,
}

/// The most subjects of one call: each is compared with every rule.
const MAX_SUBJECTS: usize = 1_000;

impl SubjectField {
    /// Takes the subjects out of a normalised input: one for a string, one for each string of an array. An absent field
    /// yields the `default` of its schema. Anything else yields nothing, which a pattern cannot match.
    pub fn take(&self, schema: &Value, input: &Map<String, Value>) -> Vec<Subject> {
        let default = || {
            schema
                .get("properties")
                .and_then(|properties| properties.get(&self.field))
                .and_then(|property| property.get("default"))
        };
        let texts = match input.get(&self.field).or_else(default) {
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(items)) if items.len() <= MAX_SUBJECTS => match strings(items) {
                Some(texts) => texts,
                None => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        texts
            .into_iter()
            .map(|value| Subject {
                kind: self.kind,
                value,
            })
            .collect()
    }
}

fn strings(items: &[Value]) -> Option<Vec<String>> {
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn take(schema: Value, input: Value) -> Vec<String> {
        let field = SubjectField {
            kind: SubjectKind::Path,
            field: "path".into(),
        };
        let subjects = field.take(&schema, input.as_object().unwrap());
        subjects.into_iter().map(|subject| subject.value).collect()
    }

    #[test]
    fn subjects_come_from_the_field_or_its_default() {
        let schema = json!({"properties": {"path": {"type": "string", "default": "."}}});
        assert_eq!(take(schema.clone(), json!({"path": "a"})), ["a"]);
        assert_eq!(take(schema.clone(), json!({})), ["."]);
        assert_eq!(
            take(schema.clone(), json!({"path": ["a", "b"]})),
            ["a", "b"]
        );
        assert!(take(schema.clone(), json!({"path": ["a", 1]})).is_empty());
        assert!(take(schema, json!({"path": 7})).is_empty());
        assert!(take(json!({}), json!({})).is_empty());
    }
}
