//! Tells of its progress without measure.

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// How often.
    times: u32,
    /// Bytes of each message.
    width: u32,
}

/// The tool.
#[derive(Debug)]
pub struct FloodsProgress;

impl Tool for FloodsProgress {
    const DECLARATION: Declaration =
        Declaration::read_only("FloodsProgress", "Tells of its progress.");
    type Input = Input;

    fn run(input: Input, context: &Context) -> Result<Output, ToolError> {
        let message = "é".repeat(input.width as usize / 2);
        for number in 0..input.times {
            context.progress(number, Some(input.times), &message);
        }
        Ok(Output::text("told"))
    }
}

toolgate_guest::export!(FloodsProgress);
