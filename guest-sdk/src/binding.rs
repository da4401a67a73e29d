//! From JSON text to an input struct, with all violations at once, and the parts that the derive builds on. Nothing an
//! input holds makes this trap: malformed text, a value that is no object and deep nesting are all invalid input.

use serde_json::{Map, Value, json};

use crate::{Faults, InputField, JsonType, ToolError, ToolInput};

/// Binds the JSON text of an input, as a call does before it runs the tool. For unit tests and for tools that take
/// JSON from elsewhere.
///
/// # Errors
/// [`ToolError::InvalidInput`] with one sentence for each violation. Text that nests deeper than 128 levels is not
/// JSON here.
pub fn bind<Input: ToolInput>(input: &str) -> Result<Input, ToolError> {
    let value = serde_json::from_str(input).map_err(|error| {
        ToolError::invalid_input(format!(
            "The input is not valid JSON: {error}. The tool was not executed."
        ))
    })?;
    let mut faults = Faults::default();
    match Input::bind(value, &mut faults) {
        Some(bound) if faults.is_empty() => Ok(bound),
        _ => {
            if faults.is_empty() {
                faults.report("does not fit");
            }
            Err(ToolError::InvalidInput(faults.into_sentences()))
        }
    }
}

/// An object whose fields are being bound. Unknown fields were reported when it was opened.
#[derive(Debug)]
pub struct Object {
    fields: Map<String, Value>,
}

impl Object {
    /// Opens an object that has no other fields than `known`.
    pub fn open(value: Value, known: &[&str], faults: &mut Faults) -> Option<Self> {
        let Value::Object(fields) = value else {
            faults.wrong_type(JsonType::Object);
            return None;
        };
        for name in fields.keys() {
            if !known.contains(&name.as_str()) {
                faults.unknown(name, known);
            }
        }
        Some(Self { fields })
    }

    /// Binds a field that is required, or that its own type lets be absent.
    pub fn take<T: InputField>(&mut self, name: &str, faults: &mut Faults) -> Option<T> {
        let value = self.remove(name);
        faults.in_field(name, |faults| T::bind_field(value, faults))
    }

    /// Binds a field with a default.
    pub fn take_or<T: ToolInput>(
        &mut self,
        name: &str,
        default: impl FnOnce() -> T,
        faults: &mut Faults,
    ) -> Option<T> {
        match self.remove(name) {
            Some(value) => faults.in_field(name, |faults| T::bind(value, faults)),
            None => Some(default()),
        }
    }

    /// Null stands for an absent field.
    fn remove(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name).filter(|value| !value.is_null())
    }
}

/// Binds one of some strings: the index of the wire name in `names`.
pub fn choice(value: &Value, names: &[&str], faults: &mut Faults) -> Option<usize> {
    let Some(text) = value.as_str() else {
        faults.wrong_type(JsonType::String);
        return None;
    };
    let index = names.iter().position(|name| *name == text);
    if index.is_none() {
        faults.not_one_of(names, text);
    }
    index
}

/// The properties of an object's schema, in declaration order.
#[derive(Debug, Default)]
pub struct Properties {
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Properties {
    /// Adds a field that is required, or that its own type lets be absent.
    pub fn add<T: InputField>(&mut self, name: &str, description: &str) {
        if T::REQUIRED {
            self.required.push(json!(name));
        }
        self.insert(name, description, T::field_schema());
    }

    /// Adds a field with a default.
    pub fn add_with_default<T: ToolInput>(
        &mut self,
        name: &str,
        description: &str,
        default: impl FnOnce() -> T,
    ) {
        let mut schema = T::schema();
        schema.insert("default".to_owned(), default().to_json());
        self.insert(name, description, schema);
    }

    /// The schema of an object with these properties and no others.
    #[must_use]
    pub fn into_schema(self) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(JsonType::Object.name()));
        schema.insert("properties".to_owned(), Value::Object(self.properties));
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(self.required));
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }

    fn insert(&mut self, name: &str, description: &str, mut schema: Map<String, Value>) {
        schema.insert("description".to_owned(), json!(description));
        self.properties
            .insert(name.to_owned(), Value::Object(schema));
    }
}

/// The schema of one of some strings.
#[must_use]
pub fn choice_schema(names: &[&str]) -> Map<String, Value> {
    Map::from_iter([
        ("type".to_owned(), json!(JsonType::String.name())),
        ("enum".to_owned(), json!(names)),
    ])
}

/// The wire value of an object, without its absent fields.
#[must_use]
pub fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let present = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect())
}
