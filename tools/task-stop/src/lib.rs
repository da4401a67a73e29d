//! The TaskStop tool: the end of a task and of everything that it started.
#![forbid(unsafe_code)]

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, shell};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The id that Bash gave with run_in_background.
    task_id: String,
}

/// The tool.
#[derive(Debug)]
pub struct TaskStop;

impl Tool for TaskStop {
    // Mutating: it ends processes. Not destructive: it removes no file, and the task's output stays. Idempotent: a task that
    // has ended stays as it is. Not exclusive: two ends of one task are one.
    const DECLARATION: Declaration = Declaration::mutating(
        "TaskStop",
        "Ends a background task with everything that it started, and says how it stands. A task that has ended already \
         stays as it is. Its output stays readable with TaskOutput.",
    )
    .idempotent()
    .capability(Capability::new("shell", "tasks", "ends the task that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let task = shell::stop_task(&input.task_id)?;
        Ok(Output::text(toolgate_tasks::line(&task)))
    }
}

toolgate_guest::export!(TaskStop);
