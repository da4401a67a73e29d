//! JSON Schema as the gates need it: a view to walk (gate 3), a validator with one set of sentences (gate 5).
//!
//! Shape here, ranges in the tool: minimum, maximum, lengths, counts and formats are not enforced. References outside of
//! the schema are never followed: no file is read, nothing is dialled. Patterns run on a linear-time engine.

mod relax;
mod sentences;
mod view;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

pub(super) use view::{Kind, SchemaView};

/// The most subschemas that one validation may visit before data multiplies them. A schema whose references unfold
/// beyond it (30 definitions that each hold the one before twice make 10^9) is refused when it is loaded.
const MAX_UNFOLDED: u64 = 100_000;

/// The most violations that are listed.
const MAX_VIOLATIONS: usize = 50;

/// A compiled input schema.
#[derive(Debug)]
pub struct InputSchema {
    validator: Validator,
    schema: Value,
}

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is no schema, or refers to something outside of itself.
    #[error("the input schema does not hold: {0}")]
    Invalid(String),
    /// Its references unfold without end in sight.
    #[error("the input schema unfolds to more than {MAX_UNFOLDED} subschemas")]
    Unfolds,
}

impl InputSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// [`SchemaError`].
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let relaxed = relax::relaxed(schema);
        if relax::unfolded(&relaxed) > MAX_UNFOLDED {
            return Err(SchemaError::Unfolds);
        }
        let patterns = PatternOptions::regex()
            .size_limit(1 << 20)
            .dfa_size_limit(1 << 20);
        let validator = jsonschema::options()
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(patterns)
            .build(&relaxed)
            .map_err(|error| SchemaError::Invalid(error.to_string()))?;
        Ok(Self {
            validator,
            schema: relaxed,
        })
    }

    /// All violations, one sentence each; empty for an input that fits.
    pub fn violations(&self, input: &Value) -> Vec<String> {
        if self.validator.is_valid(input) {
            return Vec::new();
        }
        let mut violations: Vec<String> = Vec::new();
        for error in self.validator.iter_errors(input) {
            for sentence in sentences::sentences(&error, input, &self.schema) {
                if violations.len() == MAX_VIOLATIONS {
                    violations.push("There are more violations.".to_owned());
                    return violations;
                }
                if !violations.contains(&sentence) {
                    violations.push(sentence);
                }
            }
        }
        violations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn violations(schema: &Value, input: &Value) -> Vec<String> {
        InputSchema::compile(schema).unwrap().violations(input)
    }

    #[test]
    fn all_violations_come_at_once_in_the_given_sentences() {
        let schema = json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string"},
                "limit": {"type": "integer"},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "range": {"type": "object", "properties": {"start": {"type": "integer"}}, "required": ["end"],
                          "additionalProperties": false},
                "globs": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["file_path"],
            "additionalProperties": false,
        });
        let input = json!({"file_paht": "x", "limit": "many", "mode": "c", "range": {"start": "s"}, "globs": ["a", 1]});
        let mut found = violations(&schema, &input);
        found.sort();
        assert_eq!(
            found,
            [
                "Parameter 'file_path' is required (string). The tool was not executed.",
                "Parameter 'globs[1]' must be a string. The tool was not executed.",
                "Parameter 'limit' must be an integer. The tool was not executed.",
                "Parameter 'mode' must be one of [a, b], but was 'c'. The tool was not executed.",
                "Parameter 'range.end' is required. The tool was not executed.",
                "Parameter 'range.start' must be an integer. The tool was not executed.",
                "Unknown parameter 'file_paht'. Did you mean 'file_path'? The tool was not executed.",
            ]
        );
    }

    #[test]
    fn ranges_and_formats_are_the_tools_business() {
        let schema = json!({"type": "object", "properties": {
            "n": {"type": "integer", "minimum": 1}, "s": {"type": "string", "maxLength": 1, "format": "email"}}});
        assert!(violations(&schema, &json!({"n": 0, "s": "long"})).is_empty());
    }

    #[test]
    fn nothing_outside_of_the_schema_is_read() {
        for reference in ["http://127.0.0.1:9/x.json", "file:///etc/hostname"] {
            let schema = json!({"type": "object", "properties": {"q": {"$ref": reference}}});
            assert!(
                matches!(InputSchema::compile(&schema), Err(SchemaError::Invalid(_))),
                "{reference}"
            );
        }
    }

    #[test]
    fn a_schema_that_unfolds_without_end_is_refused() {
        let mut defs = json!({"d0": {"type": "string"}});
        for level in 1..=30 {
            let before = format!("#/$defs/d{}", level - 1);
            defs[format!("d{level}")] = json!({"allOf": [{"$ref": before}, {"$ref": before}]});
        }
        let schema =
            json!({"type": "object", "$defs": defs, "properties": {"x": {"$ref": "#/$defs/d30"}}});
        assert_eq!(
            InputSchema::compile(&schema).unwrap_err(),
            SchemaError::Unfolds
        );
    }
}
