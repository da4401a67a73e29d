//! A parameter that clients repeat in a header of the request.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput as _};

toolgate_conformance_guests::raw_input!(
    Input,
    &["region"],
    r##"{
        "type": "object",
        "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        "required": ["region"],
        "additionalProperties": false
    }"##
);

/// The tool.
#[derive(Debug)]
pub struct CustomHeader;

impl Tool for CustomHeader {
    const DECLARATION: Declaration =
        Declaration::read_only("test_custom_header", "Gives back its region.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text(input.to_json().to_string()))
    }
}

toolgate_guest::export!(CustomHeader);
