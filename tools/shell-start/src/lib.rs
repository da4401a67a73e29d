//! The ShellStart tool: a command on a terminal of its own, which outlives the call.
//!
//! Guarantees that the line reaches the bridge byte for byte.
#![forbid(unsafe_code)]

use toolgate_guest::shell::{self, Command};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput, json,
    sessions,
};

/// The shortest life, milliseconds.
const SHORTEST: u32 = 1_000;
/// The longest life, milliseconds.
const LONGEST: u32 = 86_400_000;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The command line, for bash. Default: an interactive bash that reads no startup file.
    #[input(default = "bash".to_owned())]
    command: String,
    /// Directory to begin in: absolute, or relative to the workspace root.
    cwd: Option<String>,
    /// Lines of the terminal, 1 to 1000.
    #[input(default = 24)]
    rows: u32,
    /// Characters of a line, 1 to 1000.
    #[input(default = 80)]
    columns: u32,
    /// Without the terminal's line editing: no echo, no ctrl-c, and no limit of 4095 bytes for a line.
    #[input(default = false)]
    raw: bool,
    /// Milliseconds after which the session is ended, 1000 to 86400000; others are taken to the nearer end. Default 86400000.
    timeout: Option<i64>,
}

/// The tool.
#[derive(Debug)]
pub struct ShellStart;

impl Tool for ShellStart {
    // Destructive and not idempotent: a command does anything that the sandbox lets it, and each call starts another one.
    // Open-world: the operator may give commands the network. Not exclusive: each session has processes of its own.
    const DECLARATION: Declaration = Declaration::mutating(
        "ShellStart",
        "Starts a command on a terminal, for programs that prompt: an interactive shell (the default), a REPL, a debugger. \
         It stays when the call ends. Type with ShellWrite, read with ShellRead, end it with ShellClose. Rules see the \
         command line of this call, and nothing that is typed later: so this and ShellWrite ask for approval each time \
         unless a rule allows them. The sandbox is that of Bash. The session ends after 30 minutes without use, with all \
         that it started. For a command that needs no terminal, use Bash.",
    )
    .destructive()
    .open_world()
    .subject(SubjectKind::Command, "command")
    .capability(Capability::new("shell", "run", "runs the command that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let command = Command {
            line: input.command,
            cwd: input.cwd,
            timeout_ms: input.timeout.map(clamped),
        };
        let started = sessions::start(&command, input.rows, input.columns, input.raw);
        let session = started.map_err(never_ran)?;
        let text = format!(
            "Started {}. Type with ShellWrite, read with ShellRead from offset 0.",
            session.id
        );
        Ok(Output::text(text).with_structured(json!({ "session": session.id })))
    }
}

/// The life that is asked for, in the range that there is.
fn clamped(asked: i64) -> u32 {
    let taken = asked.clamp(SHORTEST.into(), LONGEST.into());
    u32::try_from(taken).unwrap_or(LONGEST)
}

/// Where nothing was executed, the text says so first.
fn never_ran(error: shell::Error) -> ToolError {
    let message = format!("Command failed: {}", error.message);
    match error.code.as_str() {
        "denied" => ToolError::Denied(message),
        _ => ToolError::Other {
            kind: error.code,
            message,
        },
    }
}

toolgate_guest::export!(ShellStart);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_lives_are_taken_to_the_nearer_end() {
        for (asked, taken) in [(-1, 1_000), (0, 1_000), (5_000, 5_000), (i64::MAX, LONGEST)] {
            assert_eq!(clamped(asked), taken);
        }
    }

    #[test]
    fn what_never_ran_says_so_first() {
        for code in ["denied", "limit"] {
            let error = shell::Error {
                code: code.to_owned(),
                message: "no.".to_owned(),
            };
            assert!(
                never_ran(error)
                    .to_string()
                    .starts_with("Command failed: no.")
            );
        }
    }
}
