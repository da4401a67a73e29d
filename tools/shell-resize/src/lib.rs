//! The ShellResize tool: another size for a session's terminal.
#![forbid(unsafe_code)]

use toolgate_guest::{
    Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, sessions,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The id that ShellStart gave.
    session: String,
    /// Lines, 1 to 1000.
    rows: u32,
    /// Characters of a line, 1 to 1000.
    columns: u32,
}

/// The tool.
#[derive(Debug)]
pub struct ShellResize;

impl Tool for ShellResize {
    // Mutating: the programs of the session are told and may act on it. Not destructive: a size removes nothing. Idempotent:
    // the same size again tells nobody anything. Not exclusive: the last size counts.
    const DECLARATION: Declaration = Declaration::mutating(
        "ShellResize",
        "Gives the terminal of a session of ShellStart another size, which its programs are told.",
    )
    .idempotent()
    .capability(Capability::new(
        "shell",
        "tasks",
        "resizes the session that the call names",
    ));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let session = sessions::resize(&input.session, input.rows, input.columns)?;
        Ok(Output::text(toolgate_sessions::line(&session)))
    }
}

toolgate_guest::export!(ShellResize);
