//! Three reports of progress.

use toolgate_conformance_guests::Nothing;
use toolgate_guest::{Context, Declaration, Output, Tool, ToolError};

/// The tool.
#[derive(Debug)]
pub struct ToolWithProgress;

impl Tool for ToolWithProgress {
    const DECLARATION: Declaration =
        Declaration::read_only("test_tool_with_progress", "Reports its progress.");
    type Input = Nothing;

    fn run(_input: Nothing, context: &Context) -> Result<Output, ToolError> {
        for done in [0, 50, 100] {
            context.progress(done, Some(100), "working");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Ok(Output::text("The work is done."))
    }
}

toolgate_guest::export!(ToolWithProgress);
