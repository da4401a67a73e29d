//! An input that is whatever the tool's own schema lets through.

use toolgate_guest::{Map, Value};

/// The JSON Schema that a text holds.
///
/// # Panics
/// The text is no JSON object: a fault of the fixture.
pub fn schema(text: &str) -> Map<String, Value> {
    match text.parse() {
        Ok(Value::Object(schema)) => schema,
        other => panic!("the fixture's schema is no object: {other:?}"),
    }
}

/// Implements [`ToolInput`](toolgate_guest::ToolInput) for a type that holds an object as it came.
#[macro_export]
macro_rules! raw_input {
    ($input:ident, $fields:expr, $schema:expr) => {
        /// The input, as it came.
        #[derive(Debug)]
        pub struct $input(toolgate_guest::Value);

        impl toolgate_guest::ToolInput for $input {
            const TYPE: toolgate_guest::JsonType = toolgate_guest::JsonType::Object;
            const FIELDS: &'static [&'static str] = $fields;

            fn schema() -> toolgate_guest::Map<String, toolgate_guest::Value> {
                $crate::raw::schema($schema)
            }

            fn bind(
                value: toolgate_guest::Value,
                _faults: &mut toolgate_guest::Faults,
            ) -> Option<Self> {
                Some(Self(value))
            }

            fn to_json(&self) -> toolgate_guest::Value {
                self.0.clone()
            }
        }
    };
}
