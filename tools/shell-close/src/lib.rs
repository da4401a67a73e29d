//! The ShellClose tool: the end of a session and of everything that it started.
#![forbid(unsafe_code)]

use toolgate_guest::{
    Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, sessions,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The id that ShellStart gave.
    session: String,
}

/// The tool.
#[derive(Debug)]
pub struct ShellClose;

impl Tool for ShellClose {
    // Mutating: it ends processes. Not destructive: it removes no file, and what was shown stays. Idempotent: a session that
    // has ended stays as it is. Not exclusive: two ends of one session are one.
    const DECLARATION: Declaration = Declaration::mutating(
        "ShellClose",
        "Ends a session of ShellStart with everything that it started, and says how it stands. A session that has ended \
         already stays as it is. What it showed stays readable with ShellRead.",
    )
    .idempotent()
    .capability(Capability::new("shell", "tasks", "ends the session that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let session = sessions::close(&input.session)?;
        Ok(Output::text(toolgate_sessions::line(&session)))
    }
}

toolgate_guest::export!(ShellClose);
