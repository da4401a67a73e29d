//! The ShellRead tool: what a session shows.
#![forbid(unsafe_code)]

use toolgate_guest::{
    Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, sessions,
};

/// The longest wait, milliseconds.
const MAX_WAIT_MS: i64 = 60_000;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The id that ShellStart gave.
    session: String,
    /// Where to begin, bytes; what the last page named. Default: the beginning.
    #[input(default = 0)]
    offset: i64,
    /// Milliseconds to wait where there is nothing yet, at most 60000.
    #[input(default = 1_000)]
    wait_ms: i64,
}

/// The tool.
#[derive(Debug)]
pub struct ShellRead;

impl Tool for ShellRead {
    // Read-only and idempotent: it looks at what is kept; that the session counts as used changes nothing of it. Not
    // exclusive: reading conflicts with nothing.
    const DECLARATION: Declaration = Declaration::read_only(
        "ShellRead",
        "Gives what a session of ShellStart has shown from an offset on, without control sequences, and how the session \
         stands. Waits for something new and for the moment of quiet after it. At most 28,000 bytes a call: the last line \
         names the offset of what follows.",
    )
    .idempotent()
    .capability(Capability::new("shell", "tasks", "reads what the session that the call names has shown"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let from = u64::try_from(input.offset).unwrap_or(0);
        let wait = u32::try_from(input.wait_ms.clamp(0, MAX_WAIT_MS)).unwrap_or(0);
        let page = sessions::read(&input.session, from, wait)?;
        Ok(Output::text(toolgate_sessions::page(&page)))
    }
}

toolgate_guest::export!(ShellRead);
