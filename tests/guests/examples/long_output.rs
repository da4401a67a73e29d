//! Gives back more text than a model should read at once.

use std::fmt::Write as _;

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// How many lines of 100 characters.
    lines: u32,
    /// Say it as a failure.
    #[input(default = false)]
    as_failure: bool,
}

/// The tool.
#[derive(Debug)]
pub struct LongOutput;

impl Tool for LongOutput {
    const DECLARATION: Declaration =
        Declaration::read_only("LongOutput", "Gives back numbered lines.");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let mut text = String::new();
        for number in 0..input.lines {
            // 9 characters of number, 90 of filling, the line feed.
            let written = writeln!(text, "{number:09}{}", "é".repeat(90));
            written.map_err(|error| ToolError::failed(error.to_string()))?;
        }
        match input.as_failure {
            false => Ok(Output::text(text)),
            true => Err(ToolError::failed(text)),
        }
    }
}

toolgate_guest::export!(LongOutput);
