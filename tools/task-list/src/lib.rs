//! The TaskList tool: all tasks of the host.
#![forbid(unsafe_code)]

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, shell};

/// The most tasks that are shown; the latest ones.
const MAX_SHOWN: usize = 80;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {}

/// The tool.
#[derive(Debug)]
pub struct TaskList;

impl Tool for TaskList {
    // Read-only and idempotent: it lists and changes nothing. Not exclusive: reading conflicts with nothing.
    const DECLARATION: Declaration = Declaration::read_only(
        "TaskList",
        "Lists the background tasks that Bash started: id, how each stands, for how long, and what it is.",
    )
    .idempotent()
    .capability(Capability::new("shell", "tasks", "lists the tasks"));
    type Input = Input;

    fn run(_input: Input, _context: &Context) -> Result<Output, ToolError> {
        let tasks = shell::list_tasks()?;
        if tasks.is_empty() {
            return Ok(Output::text("There are no tasks."));
        }
        let left_out = tasks.len().saturating_sub(MAX_SHOWN);
        let mut lines: Vec<String> = tasks
            .iter()
            .skip(left_out)
            .map(toolgate_tasks::line)
            .collect();
        if left_out > 0 {
            lines.push(format!("[{left_out} older tasks are not shown]"));
        }
        Ok(Output::text(lines.join("\n")))
    }
}

toolgate_guest::export!(TaskList);
