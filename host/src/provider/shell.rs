//! The shell provider: the port of `toolgate:shell`, over a native shell and the tasks of the host.
//!
//! Guarantees that each command gets the sandbox of its own call's grant, and that what ends a call ends its command.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::shell_sandbox::{Made, sandbox};
use crate::policy::ShellGrant;
use crate::runtime::{
    CommandEnding, CommandForce, CommandOrder, FinishedCommand, SessionPort, ShellFailure,
    ShellPort, StartedTask, TaskPage, TaskState,
};
use crate::shell::{
    Command, CommandEnd, CouldNotStart, Ended, Kind, Network, NoTask, Sandbox, Sessions, Shell,
    Spill, SpillFile, StartFailure, Task, Tasks, WatchedShell,
};

/// The places of a host that matter to commands.
#[derive(Clone, Debug, Default)]
pub struct ShellPlaces {
    /// The home directory, in which credentials are hidden.
    pub home: Option<PathBuf>,
    /// What no command reads or writes: the host's own folder, where approvals are answered.
    pub hidden: Vec<PathBuf>,
    /// Files of the operator: hidden, or read-only where they lie in a granted directory.
    pub own: Vec<PathBuf>,
    /// Where long outputs go.
    pub spill: PathBuf,
}

/// Runs commands on a shell.
#[derive(Debug)]
pub struct NativeShell {
    shell: Arc<WatchedShell>,
    network: Network,
    terminals: bool,
    places: ShellPlaces,
    tasks: Tasks,
    pub(super) sessions: Sessions,
}

impl NativeShell {
    /// A port over a shell. Dropping it ends its tasks and sessions.
    pub fn new(shell: Arc<dyn Shell>, network: Network, places: ShellPlaces) -> Self {
        Self {
            terminals: shell.has_terminals(),
            shell: Arc::new(WatchedShell::new(shell)),
            network,
            places,
            tasks: Tasks::new(),
            sessions: Sessions::new(),
        }
    }

    /// The same without terminals: what is typed into one is read by nobody.
    #[must_use]
    pub fn without_terminals(mut self) -> Self {
        self.terminals = false;
        self
    }

    /// Whether there are terminals.
    pub fn has_terminals(&self) -> bool {
        self.terminals
    }

    /// What runs the commands.
    pub fn shell(&self) -> &dyn Shell {
        self.shell.as_ref()
    }

    /// Ends every command, every task and every session, and waits at most so long until their processes are gone. Gives how many
    /// are not.
    pub async fn end_all(&self, longest: Duration) -> usize {
        self.shell.end_all(longest).await
    }

    pub(super) async fn prepared(
        &self,
        order: CommandOrder,
        grant: &ShellGrant,
    ) -> Result<(Command, Sandbox, Vec<String>), ShellFailure> {
        let roots = grant.roots();
        let mut command = Command::new(order.line);
        let cwd = order.cwd.unwrap_or_else(|| ".".to_owned());
        command.cwd = Some(roots.absolute(&cwd));
        command.timeout = order.timeout;
        command.network = self.network;
        command.spill = match SpillFile::create(&self.places.spill) {
            Ok(file) => Some(Box::new(file) as Box<dyn Spill>),
            Err(error) => {
                tracing::warn!("outputs of commands are not kept: {error}");
                None
            }
        };
        let (grant, places) = (grant.clone(), self.places.clone());
        let made = tokio::task::spawn_blocking(move || sandbox(&grant, &places)).await;
        match made {
            Ok(Ok(Made { sandbox, gaps })) => Ok((command, sandbox, gaps)),
            Ok(Err(what)) => Err(could_not_start(what)),
            Err(lost) => Err(could_not_start(format!("the sandbox was not made: {lost}"))),
        }
    }
}

#[async_trait]
impl ShellPort for NativeShell {
    async fn run(
        &self,
        order: CommandOrder,
        grant: &ShellGrant,
    ) -> Result<FinishedCommand, ShellFailure> {
        let (mut command, sandbox, mut gaps) = self.prepared(order, grant).await?;
        command.kind = Kind::Foreground;
        let running = self.shell.start(command, &sandbox).await?;
        let ended = needed_spill(running.wait().await);
        gaps.extend(ended.sandbox.gaps.iter().cloned());
        Ok(FinishedCommand {
            text: ended.text(),
            failed: ended.failed(),
            ending: CommandEnding::from(&ended.outcome),
            bytes: ended.output.bytes,
            truncated: ended.output.truncated,
            spill: ended.spill.map(|path| path.display().to_string()),
            background_killed: ended.background_killed,
            force: CommandForce {
                containment: Some(ended.containment.as_str().to_owned()),
                gaps,
            },
            duration: ended.duration,
        })
    }

    async fn start_task(
        &self,
        order: CommandOrder,
        description: String,
        grant: &ShellGrant,
    ) -> Result<StartedTask, ShellFailure> {
        let (command, sandbox, gaps) = self.prepared(order, grant).await?;
        let started = self
            .tasks
            .start(self.shell(), command, &sandbox, description, gaps);
        let started = started.await?;
        Ok(StartedTask {
            id: started.id,
            force: CommandForce {
                containment: Some(started.containment.as_str().to_owned()),
                gaps: started.gaps,
            },
        })
    }

    async fn task_output(
        &self,
        id: &str,
        from: u64,
        wait: Duration,
    ) -> Result<TaskPage, ShellFailure> {
        let page = self.tasks.output(id, from, wait).await?;
        let ended = page.task.ended.clone();
        let spill = ended.as_ref().and_then(|ended| ended.spill.clone());
        Ok(TaskPage {
            text: page.text,
            next: page.next,
            dropped: page.dropped,
            spill: spill.map(|path| path.display().to_string()),
            notes: ended
                .map(|ended| notes(&ended, &page.task.gaps))
                .unwrap_or_default(),
            task: page.task.into(),
        })
    }

    async fn list_tasks(&self) -> Vec<TaskState> {
        self.tasks.list().into_iter().map(Into::into).collect()
    }

    async fn stop_task(&self, id: &str) -> Result<TaskState, ShellFailure> {
        Ok(self.tasks.stop(id).await?.into())
    }

    fn sessions(&self) -> Option<&dyn SessionPort> {
        self.terminals.then_some(self)
    }
}

/// What is to be known of a task that has ended.
fn notes(ended: &Ended, gaps: &[String]) -> Vec<String> {
    let not_whole =
        (!gaps.is_empty()).then(|| format!("not in force in its sandbox: {}", gaps.join("; ")));
    ended.notes.iter().cloned().chain(not_whole).collect()
}

/// Without the spilled output, where all of it stands in the result.
fn needed_spill(mut ended: Ended) -> Ended {
    if !ended.output.truncated
        && let Some(path) = ended.spill.take()
        && let Err(error) = std::fs::remove_file(&path)
    {
        tracing::warn!("{} stays: {error}", path.display());
    }
    ended
}

fn could_not_start(what: impl std::fmt::Display) -> ShellFailure {
    ShellFailure {
        code: "could-not-start",
        message: what.to_string(),
    }
}

impl From<CouldNotStart> for ShellFailure {
    fn from(error: CouldNotStart) -> Self {
        could_not_start(error)
    }
}

impl From<StartFailure> for ShellFailure {
    fn from(failure: StartFailure) -> Self {
        match failure {
            StartFailure::Command(error) => error.into(),
            StartFailure::TooMany => Self {
                code: "limit",
                message: failure.to_string(),
            },
        }
    }
}

impl From<NoTask> for ShellFailure {
    fn from(error: NoTask) -> Self {
        Self {
            code: "not-found",
            message: error.to_string(),
        }
    }
}

impl From<&CommandEnd> for CommandEnding {
    fn from(end: &CommandEnd) -> Self {
        match end {
            // A code is 0 to 255.
            CommandEnd::Exit { code } => Self::Exit(code.unsigned_abs()),
            CommandEnd::Signal { name } => Self::Signal(name.clone()),
            CommandEnd::TimedOut { .. } => Self::TimedOut,
            CommandEnd::Cancelled => Self::Cancelled,
            CommandEnd::OutputLimit { .. } => Self::OutputLimit,
            CommandEnd::Idle { .. } => Self::Idle,
        }
    }
}

impl From<Task> for TaskState {
    fn from(task: Task) -> Self {
        Self {
            ending: task.end().map(Into::into),
            id: task.id,
            line: task.line,
            description: task.description,
            bytes: task.bytes,
            duration: task.duration,
        }
    }
}
