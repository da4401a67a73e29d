//! A failure.

use toolgate_conformance_guests::Nothing;
use toolgate_guest::{Context, Declaration, Output, Tool, ToolError};

/// The tool.
#[derive(Debug)]
pub struct ErrorHandling;

impl Tool for ErrorHandling {
    const DECLARATION: Declaration = Declaration::read_only("test_error_handling", "Fails.");
    type Input = Nothing;

    fn run(_input: Nothing, _context: &Context) -> Result<Output, ToolError> {
        Err(ToolError::failed(
            "This tool intentionally returns an error for testing",
        ))
    }
}

toolgate_guest::export!(ErrorHandling);
