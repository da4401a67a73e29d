//! The native shell, for tools that declare the capability `shell`: with the target `run` for commands, with `tasks` for
//! reading and stopping those that run.
//!
//! A command runs only if its line is what the host granted to the call: the command lines of the call's subjects, byte for
//! byte, or what the operator's patterns for the tool allow. A host without a shell does not load a component that calls
//! anything of this.
//!
//! The functions need a host: natively they panic. Unit tests call what works on the results.

use std::fmt;

use crate::shell_bindings::toolgate::shell::shell as wit;

/// What to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The exact bytes that bash will run.
    pub line: String,
    /// Directory inside the granted directories; the workspace root if none.
    pub cwd: Option<String>,
    /// Milliseconds. Default: 120,000, and 3,600,000 for a task. Clamped to 1,000 ..= 600,000, for a task to 86,400,000.
    pub timeout_ms: Option<u32>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its exit code: a value, whatever it is.
    Exit(u32),
    /// A signal, without its `SIG`.
    Signal(String),
    /// Its deadline.
    TimedOut,
    /// Somebody ended it.
    Cancelled,
    /// It printed more than the host takes.
    OutputLimit,
    /// A kind that this SDK does not know.
    Other(String),
}

/// A command that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// What the model reads: output, notes, and a marker on its own last line unless it ended with exit code 0.
    pub text: String,
    /// It did not end by itself. An exit code is no failure.
    pub failed: bool,
    /// How it ended.
    pub ending: Ending,
    /// How much it printed, bytes.
    pub bytes: u64,
    /// Something is missing in `text`.
    pub truncated: bool,
    /// Where all of the output can be read.
    pub spill: Option<String>,
    /// Processes that were left behind and stopped.
    pub background_killed: u32,
    /// What held its processes together.
    pub containment: String,
    /// What of the sandbox was not in force.
    pub gaps: Vec<String>,
    /// How long it took, milliseconds.
    pub duration_ms: u32,
}

/// A command that nobody waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Never used twice.
    pub id: String,
    /// Its command line.
    pub line: String,
    /// What it is for.
    pub description: String,
    /// None while it runs.
    pub ending: Option<Ending>,
    /// How much it has printed, bytes.
    pub bytes: u64,
    /// Since its start, or how long it took, milliseconds.
    pub duration_ms: u64,
}

/// A part of a task's output.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPage {
    /// The task.
    pub task: Task,
    /// Without control sequences.
    pub text: String,
    /// Where the next page begins.
    pub next: u64,
    /// Bytes between the asked and the given beginning that are no longer kept.
    pub dropped: u64,
    /// Where all of the output can be read, once the task has ended.
    pub spill: Option<String>,
    /// For the model, once the task has ended.
    pub notes: Vec<String>,
}

/// Why there is no result. `?` turns it into a [`ToolError`](crate::ToolError).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// `denied`, `could-not-start`, `not-found`, `limit` or one of a later host.
    pub code: String,
    /// A sentence for the model.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Runs a command and waits for its end.
///
/// # Errors
/// The line is not granted, or nothing was executed.
pub fn run(command: &Command) -> Result<Finished, Error> {
    Ok(wit::run(&command.into())?.into())
}

/// Starts a command that outlives the call. Gives the task's id.
///
/// # Errors
/// The line is not granted, or nothing was executed.
pub fn start_task(command: &Command, description: &str) -> Result<String, Error> {
    Ok(wit::start_task(&command.into(), description)?)
}

/// The output of a task from an offset on. Waits at most so many milliseconds until there is some, or the task has ended.
///
/// # Errors
/// There is no such task, or the tool may not see tasks.
pub fn task_output(id: &str, from: u64, wait_ms: u32) -> Result<TaskPage, Error> {
    Ok(wit::task_output(id, from as f64, wait_ms)?.into())
}

/// All tasks, the latest last.
///
/// # Errors
/// The tool may not see tasks.
pub fn list_tasks() -> Result<Vec<Task>, Error> {
    Ok(wit::list_tasks()?.into_iter().map(Into::into).collect())
}

/// Ends a task and waits for that. One that has ended stays as it is.
///
/// # Errors
/// There is no such task, or the tool may not stop it.
pub fn stop_task(id: &str) -> Result<Task, Error> {
    Ok(wit::stop_task(id)?.into())
}

impl From<wit::Failure> for Error {
    fn from(failure: wit::Failure) -> Self {
        Self {
            code: failure.code,
            message: failure.message,
        }
    }
}

impl From<&Command> for wit::Command {
    fn from(command: &Command) -> Self {
        Self {
            line: command.line.clone(),
            cwd: command.cwd.clone(),
            timeout_ms: command.timeout_ms,
        }
    }
}

impl From<wit::Ending> for Ending {
    fn from(ending: wit::Ending) -> Self {
        match ending {
            wit::Ending::Exit(code) => Self::Exit(code),
            wit::Ending::Signal(name) => Self::Signal(name),
            wit::Ending::TimedOut => Self::TimedOut,
            wit::Ending::Cancelled => Self::Cancelled,
            wit::Ending::OutputLimit => Self::OutputLimit,
            wit::Ending::Other(kind) => Self::Other(kind),
        }
    }
}

impl From<wit::Finished> for Finished {
    fn from(finished: wit::Finished) -> Self {
        Self {
            text: finished.text,
            failed: finished.failed,
            ending: finished.ending.into(),
            bytes: finished.bytes as u64,
            truncated: finished.truncated,
            spill: finished.spill,
            background_killed: finished.background_killed,
            containment: finished.containment,
            gaps: finished.gaps,
            duration_ms: finished.duration_ms,
        }
    }
}

impl From<wit::Task> for Task {
    fn from(task: wit::Task) -> Self {
        Self {
            id: task.id,
            line: task.line,
            description: task.description,
            ending: task.ending.map(Into::into),
            bytes: task.bytes as u64,
            duration_ms: task.duration_ms as u64,
        }
    }
}

impl From<wit::TaskPage> for TaskPage {
    fn from(page: wit::TaskPage) -> Self {
        Self {
            task: page.task.into(),
            text: page.text,
            next: page.next as u64,
            dropped: page.dropped as u64,
            spill: page.spill,
            notes: page.notes,
        }
    }
}
