//! Waits inside the host, where no instruction is counted.

use std::time::Duration;

use toolgate_guest::{Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {}

/// The tool.
#[derive(Debug)]
pub struct SleepsInHostWait;

impl Tool for SleepsInHostWait {
    const DECLARATION: Declaration =
        Declaration::read_only("SleepsInHostWait", "Sleeps for an hour.");
    type Input = Input;

    fn run(_input: Input, context: &Context) -> Result<Output, ToolError> {
        context.progress(0, None, "sleeping");
        std::thread::sleep(Duration::from_secs(3_600));
        Ok(Output::text("slept"))
    }
}

toolgate_guest::export!(SleepsInHostWait);
