//! The Bash tool: one command in the host's shell.
//!
//! Guarantees that the line reaches the bridge byte for byte, and that what was printed is told however the command ended.
#![forbid(unsafe_code)]

use toolgate_guest::shell::{self, Command, Finished};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput, json,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The command line, for bash. Each call begins in the workspace root, or in cwd: a cd does not outlive its call.
    command: String,
    /// Milliseconds after which the command is ended, 1000 to 600000; others are taken to the nearer end. Default 120000.
    /// With run_in_background up to 86400000, and an hour by default.
    timeout: Option<i64>,
    /// What the command does, in 5 to 10 words.
    description: Option<String>,
    /// Do not wait: gives a task's id at once. Read with TaskOutput, end with TaskStop.
    #[input(default = false)]
    run_in_background: bool,
    /// Directory to begin in: absolute, or relative to the workspace root.
    cwd: Option<String>,
}

/// The tool.
#[derive(Debug)]
pub struct Bash;

impl Tool for Bash {
    // Destructive and not idempotent: a command does anything that the sandbox lets it. Open-world: the operator may give
    // commands the network. Not exclusive: each command has processes of its own, and agents run several on purpose.
    const DECLARATION: Declaration = Declaration::mutating(
        "Bash",
        "Runs a command line with bash in the operating system's sandbox and gives what it printed, stdout and stderr in \
         one. A line at the end tells how it ended unless that was exit code 0: [exit code: N], [killed by signal: NAME], \
         [timed out after Nms]. An exit code that is not 0 is a result, not a failure. There is no terminal and no stdin; \
         processes that are left behind are stopped when the shell ends. Only the granted directories can be written; /tmp \
         is the command's own and vanishes with it; there is no network unless the operator gave it. Output over 30,000 \
         characters is cut in the middle. To read, find or change files, use Read, Grep, Glob and Edit.",
    )
    .destructive()
    .open_world()
    .subject(SubjectKind::Command, "command")
    .capability(Capability::new("shell", "run", "runs the command that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let background = input.run_in_background;
        let command = Command {
            line: input.command,
            cwd: input.cwd,
            timeout_ms: input.timeout.map(asked_for),
        };
        if background {
            let description = input.description.unwrap_or_default();
            let id = shell::start_task(&command, &description).map_err(never_ran)?;
            return Ok(started(&id));
        }
        told(shell::run(&command).map_err(never_ran)?)
    }
}

/// The deadline that is asked for, as the border carries it: the host takes it to its range, and says so.
fn asked_for(asked: i64) -> u32 {
    u32::try_from(asked.max(0)).unwrap_or(u32::MAX)
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

fn started(id: &str) -> Output {
    Output::text(format!(
        "Started in the background as {id}. Read its output with TaskOutput, end it with TaskStop."
    ))
    .with_structured(json!({ "task_id": id }))
}

/// A command that did not end by itself failed; what it printed until then is told all the same.
fn told(finished: Finished) -> Result<Output, ToolError> {
    if finished.failed {
        return Err(ToolError::Other {
            kind: "command".to_owned(),
            message: finished.text,
        });
    }
    let text = match finished.text.is_empty() {
        true => "[no output]".to_owned(),
        false => finished.text,
    };
    Ok(Output::text(text))
}

toolgate_guest::export!(Bash);

#[cfg(test)]
mod tests {
    use super::*;
    use toolgate_guest::shell::Ending;

    fn finished(text: &str, failed: bool) -> Finished {
        Finished {
            text: text.to_owned(),
            failed,
            ending: Ending::Exit(0),
            bytes: 0,
            truncated: false,
            spill: None,
            background_killed: 0,
            containment: "pid_namespace".to_owned(),
            gaps: Vec::new(),
            duration_ms: 1,
        }
    }

    #[test]
    fn no_deadline_becomes_another_on_its_way() {
        for (asked, told) in [(-5, 0), (0, 0), (5_000, 5_000), (999_999_999_999, u32::MAX)] {
            assert_eq!(asked_for(asked), told);
        }
    }

    #[test]
    fn an_exit_code_is_a_result_and_an_end_by_others_a_failure() {
        assert!(told(finished("x\n[exit code: 1]", false)).is_ok());
        let failure = told(finished("half\n[timed out after 1000ms]", true)).unwrap_err();
        assert!(failure.to_string().starts_with("half\n[timed out"));
    }

    #[test]
    fn what_never_ran_says_so_first() {
        let error = |code: &str| shell::Error {
            code: code.to_owned(),
            message: "no.".to_owned(),
        };
        for code in ["denied", "could-not-start"] {
            let said = never_ran(error(code)).to_string();
            assert!(said.starts_with("Command failed: no."), "{said}");
        }
    }
}
