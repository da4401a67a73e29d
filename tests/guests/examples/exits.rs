//! Leaves instead of answering.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The exit code.
    code: i32,
}

/// The tool.
#[derive(Debug)]
pub struct Exits;

impl Tool for Exits {
    const DECLARATION: Declaration = Declaration::read_only("Exits", "Leaves.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        std::process::exit(input.code)
    }
}

toolgate_guest::export!(Exits);
