//! Changes nothing, and says that it may: so that a person is asked.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// What the call is for.
    message: String,
}

/// The tool.
#[derive(Debug)]
pub struct Elicitation;

impl Tool for Elicitation {
    const DECLARATION: Declaration =
        Declaration::mutating("test_elicitation", "Runs when somebody allows it.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text(format!("allowed: {}", input.message)))
    }
}

toolgate_guest::export!(Elicitation);
