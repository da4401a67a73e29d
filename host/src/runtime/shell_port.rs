//! The port to the native shell: what the door of `toolgate:shell` needs, declared where it is needed.
//!
//! Owns plain words only. Never contains a process: whoever builds the host decides what runs commands.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use super::shell_sessions::SessionPort;
use crate::policy::ShellGrant;

/// A command that the grant allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOrder {
    /// For bash, as it stands.
    pub line: String,
    /// Where it begins, as the guest wrote it; the workspace root if none.
    pub cwd: Option<String>,
    /// None: the default.
    pub timeout: Option<Duration>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellFailure {
    /// `denied`, `could-not-start`, `not-found` or `limit`.
    pub code: &'static str,
    /// A sentence for the model.
    pub message: String,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnding {
    /// Its exit code.
    Exit(u32),
    /// A signal, without its `SIG`.
    Signal(String),
    /// Its deadline.
    TimedOut,
    /// Somebody ended it.
    Cancelled,
    /// It printed too much.
    OutputLimit,
    /// Nobody used its terminal for too long.
    Idle,
}

/// What a command runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandForce {
    /// What holds its processes together.
    pub containment: Option<String>,
    /// What of the sandbox is not in force.
    pub gaps: Vec<String>,
}

/// A command that nobody waits for, as it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedTask {
    /// Never used twice.
    pub id: String,
    /// What is in force.
    pub force: CommandForce,
}

/// A command that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedCommand {
    /// What the model reads.
    pub text: String,
    /// It did not end by itself.
    pub failed: bool,
    /// How it ended.
    pub ending: CommandEnding,
    /// How much it printed.
    pub bytes: u64,
    /// Something is missing in `text`.
    pub truncated: bool,
    /// Where all of the output is.
    pub spill: Option<String>,
    /// Processes that were left behind and stopped.
    pub background_killed: u32,
    /// What was in force.
    pub force: CommandForce,
    /// From before its start to its end.
    pub duration: Duration,
}

/// A command that nobody waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskState {
    /// Never used twice.
    pub id: String,
    /// Its command line.
    pub line: String,
    /// What it is for, in the words of whoever started it.
    pub description: String,
    /// None while it runs.
    pub ending: Option<CommandEnding>,
    /// How much it has printed.
    pub bytes: u64,
    /// Since its start, or how long it took.
    pub duration: Duration,
}

/// A part of a task's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskPage {
    /// The task.
    pub task: TaskState,
    /// Without control sequences.
    pub text: String,
    /// Where the next page begins.
    pub next: u64,
    /// Bytes between the asked and the given beginning that are no longer kept.
    pub dropped: u64,
    /// Where all of the output is, once the task has ended.
    pub spill: Option<String>,
    /// For the model, once the task has ended.
    pub notes: Vec<String>,
}

/// Runs commands. The grant has been asked about the line before; it says where the command may write and read.
#[async_trait]
pub trait ShellPort: Debug + Send + Sync {
    /// Runs a command to its end. Dropping the future ends the whole process tree.
    ///
    /// # Errors
    /// Nothing was executed.
    async fn run(
        &self,
        order: CommandOrder,
        grant: &ShellGrant,
    ) -> Result<FinishedCommand, ShellFailure>;

    /// Starts a command that nobody waits for.
    ///
    /// # Errors
    /// Nothing was executed.
    async fn start_task(
        &self,
        order: CommandOrder,
        description: String,
        grant: &ShellGrant,
    ) -> Result<StartedTask, ShellFailure>;

    /// Output of a task from an offset on. Waits at most so long until there is some, or the task has ended.
    ///
    /// # Errors
    /// There is no such task.
    async fn task_output(
        &self,
        id: &str,
        from: u64,
        wait: Duration,
    ) -> Result<TaskPage, ShellFailure>;

    /// All tasks, the latest last.
    async fn list_tasks(&self) -> Vec<TaskState>;

    /// Ends a task and waits for that. One that has ended stays as it is.
    ///
    /// # Errors
    /// There is no such task.
    async fn stop_task(&self, id: &str) -> Result<TaskState, ShellFailure>;

    /// Commands on terminals; none where the shell has no terminals.
    fn sessions(&self) -> Option<&dyn SessionPort> {
        None
    }
}
