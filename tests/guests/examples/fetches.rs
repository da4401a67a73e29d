//! Fetches by wasi:http, without asking for a network.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};
use toolgate_test_guests::wasi::fetch;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Host, and port if there is one.
    authority: String,
}

/// The tool.
#[derive(Debug)]
pub struct Fetches;

impl Tool for Fetches {
    const DECLARATION: Declaration = Declaration::read_only("Fetches", "Fetches.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        match fetch(&input.authority, "/") {
            Ok(status) => Ok(Output::text(format!("status {status}"))),
            Err(error) => Err(ToolError::Denied(format!("{error:?}"))),
        }
    }
}

toolgate_guest::export!(Fetches);
