//! The BashOutput tool: what a task has printed.
//!
//! The same as TaskOutput, under the name and the field that agents knew before.
#![forbid(unsafe_code)]

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, shell};

/// The longest wait, milliseconds.
const MAX_WAIT_MS: i64 = 600_000;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The id that Bash gave with run_in_background.
    bash_id: String,
    /// Where to begin, bytes; what the last page named. Default: the beginning of the output.
    #[input(default = 0)]
    offset: i64,
    /// Milliseconds to wait for output or the task's end where there is nothing yet, at most 600000. Default: do not wait.
    #[input(default = 0)]
    wait_ms: i64,
}

/// The tool.
#[derive(Debug)]
pub struct BashOutput;

impl Tool for BashOutput {
    // Read-only and idempotent: it looks at what is kept and changes nothing. Not exclusive: reading conflicts with nothing.
    const DECLARATION: Declaration = Declaration::read_only(
        "BashOutput",
        "The older name of TaskOutput: gives what a background command has printed from an offset on, and how it stands. At \
         most 28,000 bytes a call: the last line names the offset of what follows.",
    )
    .idempotent()
    .capability(Capability::new("shell", "tasks", "reads the output of the task that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let from = u64::try_from(input.offset).unwrap_or(0);
        let wait = u32::try_from(input.wait_ms.clamp(0, MAX_WAIT_MS)).unwrap_or(0);
        let page = shell::task_output(&input.bash_id, from, wait)?;
        Ok(Output::text(toolgate_tasks::page(&page)))
    }
}

toolgate_guest::export!(BashOutput);
