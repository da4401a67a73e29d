//! Declarations: what a tool says of itself, checked once when it is registered.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::visible::hides;
use super::{
    Capability, CapabilityError, CapabilityKind, Claim, Evidence, NameError, ShellTarget,
    SubjectField, ToolName,
};

/// The longest description, characters. Longer ones crowd a model's context without helping it.
const MAX_DESCRIPTION: usize = 4_096;
/// The largest schema text, bytes.
const MAX_SCHEMA: usize = 256 << 10;

/// A declaration as it came out of a component, unchecked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclarationParts {
    /// Tool name.
    pub name: String,
    /// For the model.
    pub description: String,
    /// JSON Schema text of the input.
    pub input_schema: String,
    /// JSON Schema text of the structured output.
    pub output_schema: Option<String>,
    /// The claim.
    pub claim: Claim,
    /// Where the permission subject stands.
    pub subject: Option<SubjectField>,
    /// Kind, target, reason, optional.
    pub capabilities: Vec<(String, String, String, bool)>,
    /// Key to JSON text.
    pub annotations: Vec<(String, String)>,
}

/// A checked declaration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Declaration {
    /// Tool name.
    pub name: ToolName,
    /// For the model.
    pub description: String,
    /// JSON Schema of the input: an object at the top.
    pub input_schema: Value,
    /// JSON Schema of the structured output.
    pub output_schema: Option<Value>,
    /// The claim, as made.
    pub claim: Claim,
    /// Where the permission subject stands.
    pub subject: Option<SubjectField>,
    /// What the tool asks for.
    pub capabilities: Vec<Capability>,
    /// Hints and examples.
    pub annotations: Map<String, Value>,
}

/// Why a declaration is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// The name.
    #[error("{0}")]
    Name(#[from] NameError),
    /// The description's length or characters.
    #[error("the description {0}")]
    Description(&'static str),
    /// A schema.
    #[error("the {which} schema {what}")]
    Schema {
        /// `input` or `output`.
        which: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// The subject's field.
    #[error("the subject names the field '{field}', which {what}")]
    Subject {
        /// The field.
        field: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A capability that this host cannot understand.
    #[error("{0}")]
    Capability(#[from] CapabilityError),
    /// An annotation that is no JSON.
    #[error("the annotation '{0}' is not JSON")]
    Annotation(String),
}

impl Declaration {
    /// Checks a declaration.
    ///
    /// # Errors
    /// The first part that does not hold.
    pub fn check(parts: DeclarationParts) -> Result<Self, DeclarationError> {
        let name = ToolName::try_from(parts.name.as_str())?;
        check_description(&parts.description)?;
        let input_schema = schema("input", &parts.input_schema)?;
        let output_schema = match &parts.output_schema {
            Some(text) => Some(schema("output", text)?),
            None => None,
        };
        if let Some(subject) = &parts.subject {
            check_subject(subject, &input_schema)?;
        }
        let capabilities = parts
            .capabilities
            .iter()
            .map(|(kind, target, reason, optional)| {
                Capability::parse(kind, target, reason, *optional)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut annotations = Map::new();
        for (key, text) in parts.annotations {
            match serde_json::from_str(&text) {
                Ok(value) => annotations.insert(key, value),
                Err(_) => return Err(DeclarationError::Annotation(key)),
            };
        }
        Ok(Self {
            name,
            description: parts.description,
            input_schema,
            output_schema,
            claim: parts.claim,
            subject: parts.subject,
            capabilities,
            annotations,
        })
    }

    /// The same as it came out of the component, but for the layout of its JSON.
    pub fn parts(&self) -> DeclarationParts {
        let asked = self.capabilities.iter().map(|asked| {
            let text = asked.kind.to_string();
            let (kind, target) = text.split_once(':').unwrap_or((&text, ""));
            let (kind, target) = (kind.to_owned(), target.to_owned());
            (kind, target, asked.reason.clone(), asked.optional)
        });
        let annotations = self.annotations.iter();
        DeclarationParts {
            name: self.name.to_string(),
            description: self.description.clone(),
            input_schema: self.input_schema.to_string(),
            output_schema: self.output_schema.as_ref().map(Value::to_string),
            claim: self.claim,
            subject: self.subject.clone(),
            capabilities: asked.collect(),
            annotations: annotations
                .map(|(key, value)| (key.clone(), value.to_string()))
                .collect(),
        }
    }

    /// What of the shell is asked for; running is the greater.
    pub fn shell(&self) -> Option<ShellTarget> {
        let asked = self.capabilities.iter().filter_map(|asked| {
            if let CapabilityKind::Shell(target) = &asked.kind {
                Some(*target)
            } else {
                None
            }
        });
        asked.max_by_key(|target| *target == ShellTarget::Run)
    }

    /// What the sandbox could be asked to give, read off the capabilities.
    pub fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::default();
        for asked in &self.capabilities {
            match asked.kind {
                CapabilityKind::FsWrite(_) => evidence.writes_files = true,
                CapabilityKind::Net(_) => evidence.network = true,
                CapabilityKind::Shell(ShellTarget::Run) => evidence.shell = true,
                CapabilityKind::Store => evidence.store = true,
                CapabilityKind::FsRead(_)
                | CapabilityKind::Shell(ShellTarget::Tasks)
                | CapabilityKind::Env(_)
                | CapabilityKind::Secret(_)
                | CapabilityKind::ClockReal => {}
            }
        }
        evidence
    }

    /// The tool's schema is shown and not enforced.
    pub fn raw_input(&self) -> bool {
        self.annotations.get("raw-input") == Some(&Value::Bool(true))
    }
}

fn check_description(text: &str) -> Result<(), DeclarationError> {
    let count = text.chars().count();
    if count == 0 {
        return Err(DeclarationError::Description("is empty"));
    }
    if count > MAX_DESCRIPTION {
        return Err(DeclarationError::Description(
            "is longer than 4,096 characters",
        ));
    }
    if hides(text) {
        return Err(DeclarationError::Description(
            "holds characters that a reader does not see",
        ));
    }
    Ok(())
}

fn schema(which: &'static str, text: &str) -> Result<Value, DeclarationError> {
    let wrong = |what: String| DeclarationError::Schema { which, what };
    if text.len() > MAX_SCHEMA {
        return Err(wrong("is larger than 256 KiB".to_owned()));
    }
    let value: Value =
        serde_json::from_str(text).map_err(|error| wrong(format!("is not JSON: {error}")))?;
    if value.get("type") != Some(&Value::from("object")) {
        return Err(wrong(
            "does not say \"type\": \"object\" at the top".to_owned(),
        ));
    }
    Ok(value)
}

fn check_subject(subject: &SubjectField, schema: &Value) -> Result<(), DeclarationError> {
    let wrong = |what| DeclarationError::Subject {
        field: subject.field.clone(),
        what,
    };
    let property = schema
        .get("properties")
        .and_then(|properties| properties.get(&subject.field))
        .ok_or_else(|| wrong("the input schema does not have"))?;
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|name| name == subject.field.as_str()));
    if required || property.get("default").is_some() {
        Ok(())
    } else {
        Err(wrong("is neither required nor has a default"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{SideEffect, SubjectKind};

    fn parts() -> DeclarationParts {
        DeclarationParts {
            name: "Peek".into(),
            description: "Looks.".into(),
            input_schema:
                r#"{"type":"object","properties":{"p":{"type":"string"}},"required":["p"]}"#.into(),
            output_schema: None,
            claim: Claim {
                level: SideEffect::ReadOnly,
                destructive: false,
                idempotent: true,
                open_world: false,
                exclusive: false,
            },
            subject: Some(SubjectField {
                kind: SubjectKind::Path,
                field: "p".into(),
            }),
            capabilities: vec![("fs-read".into(), "subject".into(), "looks".into(), false)],
            annotations: vec![("raw-input".into(), "true".into())],
        }
    }

    #[test]
    fn a_good_declaration_passes() {
        let declaration = Declaration::check(parts()).unwrap();
        assert!(declaration.raw_input());
        assert_eq!(declaration.evidence(), Evidence::default());
    }

    #[test]
    fn the_parts_of_a_declaration_make_it_again() {
        let mut parts = parts();
        parts.output_schema = Some("{\"type\":\"object\"}".to_owned());
        for (kind, target) in [
            ("fs-write", "workspace"),
            ("net", "https://a.example:8443/x"),
            ("env", "LANG"),
            ("secret", "token"),
            ("shell", "run"),
            ("store", ""),
            ("clock-real", ""),
        ] {
            let asked = (kind.into(), target.into(), "for it".into(), true);
            parts.capabilities.push(asked);
        }
        let declaration = Declaration::check(parts).unwrap();
        let again = Declaration::check(declaration.parts()).unwrap();
        assert_eq!(declaration, again);
    }

    #[test]
    fn each_fault_is_named() {
        let fault = |change: fn(&mut DeclarationParts)| {
            let mut parts = parts();
            change(&mut parts);
            Declaration::check(parts).unwrap_err().to_string()
        };
        assert!(fault(|p| p.name = "9".into()).contains("not a tool name"));
        assert!(fault(|p| p.description = String::new()).contains("is empty"));
        assert!(fault(|p| p.description = "a\u{202e}b".into()).contains("does not see"));
        assert!(fault(|p| p.input_schema = "{".into()).contains("not JSON"));
        assert!(fault(|p| p.input_schema = "{\"type\":\"string\"}".into()).contains("object"));
        assert!(fault(|p| p.subject.as_mut().unwrap().field = "q".into()).contains("'q'"));
        assert!(fault(|p| p.capabilities[0].0 = "gpu".into()).contains("unknown to this host"));
        assert!(
            fault(|p| p.capabilities[0].1 = "/etc".into()).contains("'subject' or 'workspace'")
        );
        assert!(fault(|p| p.annotations[0].1 = "{".into()).contains("not JSON"));
    }
}
