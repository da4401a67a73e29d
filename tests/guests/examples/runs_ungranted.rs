//! Runs commands that its call does not name, and looks at the tasks of others.

use toolgate_guest::shell::{self, Command};
use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// What it runs; nothing: it lists tasks.
    text: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct Runner;

impl Tool for Runner {
    const DECLARATION: Declaration = Declaration::mutating("Runner", "Runs its text.")
        .destructive()
        .capability(Capability::new("shell", "run", "runs its text"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let Some(line) = input.text else {
            return Ok(Output::text(format!(
                "{} tasks",
                shell::list_tasks()?.len()
            )));
        };
        let command = Command {
            line,
            ..Command::default()
        };
        Ok(Output::text(shell::run(&command)?.text))
    }
}

toolgate_guest::export!(Runner);
