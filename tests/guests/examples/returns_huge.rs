//! Gives back more than anybody wants.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// How much, MiB.
    mebibytes: u32,
}

/// The tool.
#[derive(Debug)]
pub struct ReturnsHuge;

impl Tool for ReturnsHuge {
    const DECLARATION: Declaration = Declaration::read_only("ReturnsHuge", "Gives back a lot.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text("x".repeat((input.mebibytes as usize) << 20)))
    }
}

toolgate_guest::export!(ReturnsHuge);
