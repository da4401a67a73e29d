//! The innocent neighbour: gives back what it was given.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// What to give back.
    text: String,
}

/// The tool.
#[derive(Debug)]
pub struct Echo;

impl Tool for Echo {
    const DECLARATION: Declaration =
        Declaration::read_only("Echo", "Gives back its text.").idempotent();
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text(input.text))
    }
}

toolgate_guest::export!(Echo);
