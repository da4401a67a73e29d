//! The Monitor tool: waits until a task prints a text, or ends.
#![forbid(unsafe_code)]

pub mod watch;

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, shell};
use watch::Watch;

/// The longest wait, milliseconds.
const MAX_WAIT_MS: i64 = 600_000;
/// The longest single wait, milliseconds: between two of them the rest of the time is looked at.
const STEP_MS: u32 = 5_000;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The id that Bash gave with run_in_background.
    task_id: String,
    /// What to wait for: a text that a line holds, as it stands. Default: any output.
    text: Option<String>,
    /// Where to begin, bytes; what the last reply named. Default: the beginning of the output.
    #[input(default = 0)]
    offset: i64,
    /// Milliseconds to wait at most, 1 to 600000. Default 60000.
    #[input(default = 60000)]
    timeout: i64,
}

/// The tool.
#[derive(Debug)]
pub struct Monitor;

impl Tool for Monitor {
    // Read-only and idempotent: it looks and changes nothing. Not exclusive: reading conflicts with nothing.
    const DECLARATION: Declaration = Declaration::read_only(
        "Monitor",
        "Waits until a background task prints a line with a text, or ends, or the time is over, and gives the lines that \
         hold the text. The last line says how the task stands and from which offset to go on.",
    )
    .idempotent()
    .capability(Capability::new("shell", "tasks", "reads the output of the task that the call names"));
    type Input = Input;

    fn run(input: Input, context: &Context) -> Result<Output, ToolError> {
        let mut watch = Watch::new(input.text.unwrap_or_default());
        let mut next = u64::try_from(input.offset).unwrap_or(0);
        let total = u32::try_from(input.timeout.clamp(1, MAX_WAIT_MS)).unwrap_or(1);
        // The call's own deadline is the clock: a guest has no other that goes on while it waits.
        let begun = context.deadline_ms();
        loop {
            let left = total.saturating_sub(begun.saturating_sub(context.deadline_ms()));
            let page = shell::task_output(&input.task_id, next, left.min(STEP_MS))?;
            next = page.next;
            watch.push(&page.text);
            let done = page.task.ending.is_some() && next >= page.task.bytes;
            if done {
                watch.end();
            }
            if watch.found() || done || left == 0 {
                let status = toolgate_tasks::status(&page.task);
                let last = format!("[{} {status}; go on with offset {next}]", page.task.id);
                return Ok(Output::text(watch.finish(&last)));
            }
        }
    }
}

toolgate_guest::export!(Monitor);
