//! Logs, for the host alone.

use toolgate_conformance_guests::Nothing;
use toolgate_guest::{Context, Declaration, Output, Tool, ToolError};

/// The tool.
#[derive(Debug)]
pub struct LoggingTool;

impl Tool for LoggingTool {
    const DECLARATION: Declaration = Declaration::read_only("test_logging_tool", "Logs a line.");
    type Input = Nothing;

    fn run(_input: Nothing, context: &Context) -> Result<Output, ToolError> {
        context.info("a line for the host's log");
        Ok(Output::text("logged"))
    }
}

toolgate_guest::export!(LoggingTool);
