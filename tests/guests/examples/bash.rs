//! Stands where the native bridge to the shell will: the name, the subject and the fields of `Bash`, and nothing that runs.
//! It gives back `ran: COMMAND`, so that a test sees whether a call was executed, and with which bytes.

use toolgate_guest::{
    Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput, Value,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The command line.
    command: String,
    /// Milliseconds that the command may take.
    timeout: Option<i64>,
    /// Variables that the command is given.
    environment: Option<Value>,
}

/// The tool.
#[derive(Debug)]
pub struct Bash;

impl Tool for Bash {
    const DECLARATION: Declaration =
        Declaration::mutating("Bash", "Gives back the command line that it was given.")
            .destructive()
            .open_world()
            .subject(SubjectKind::Command, "command");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let mut text = format!("ran: {}", input.command);
        if let Some(timeout) = input.timeout {
            text.push_str(&format!("\ntimeout: {timeout}"));
        }
        if let Some(environment) = input.environment {
            text.push_str(&format!("\nenvironment: {environment}"));
        }
        Ok(Output::text(text))
    }
}

toolgate_guest::export!(Bash);
