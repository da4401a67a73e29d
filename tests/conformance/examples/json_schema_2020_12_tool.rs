//! A schema with the wider words of JSON Schema 2020-12, which must reach the client as it is.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput as _};

toolgate_conformance_guests::raw_input!(
    Input,
    &["name", "address", "contactMethod", "phone", "email"],
    r##"{
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
            }
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" }
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false
    }"##
);

/// The tool.
#[derive(Debug)]
pub struct JsonSchema;

impl Tool for JsonSchema {
    const DECLARATION: Declaration = Declaration::read_only(
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
    );
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text(input.to_json().to_string()))
    }
}

toolgate_guest::export!(JsonSchema);
