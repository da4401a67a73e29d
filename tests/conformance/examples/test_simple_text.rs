//! One text.

use toolgate_conformance_guests::Nothing;
use toolgate_guest::{Context, Declaration, Output, Tool, ToolError};

/// The tool.
#[derive(Debug)]
pub struct SimpleText;

impl Tool for SimpleText {
    const DECLARATION: Declaration = Declaration::read_only("test_simple_text", "Gives one text.");
    type Input = Nothing;

    fn run(_input: Nothing, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text("This is a simple text response for testing."))
    }
}

toolgate_guest::export!(SimpleText);
