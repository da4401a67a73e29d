//! Dies of itself.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// How to die.
    how: How,
}

/// How to die.
#[derive(Debug, ToolInput)]
pub enum How {
    /// By a panic.
    Panic,
    /// By an abort.
    Abort,
}

/// The tool.
#[derive(Debug)]
pub struct Traps;

impl Tool for Traps {
    const DECLARATION: Declaration = Declaration::read_only("Traps", "Dies.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        match input.how {
            How::Panic => panic!("the guest's own words"),
            How::Abort => std::process::abort(),
        }
    }
}

toolgate_guest::export!(Traps);
