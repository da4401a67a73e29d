//! The interface `toolgate:shell`: commands, as far as the call's grant goes.
//!
//! Guarantees that no line reaches the port that the grant does not allow, and that every command, also a refused one,
//! stands in the call's record.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::bindings::shell::toolgate::shell::shell as wit;
use super::shell_guarded::lead_inside;
use super::shell_port::{
    CommandEnding, CommandForce, CommandOrder, FinishedCommand, ShellFailure, ShellPort,
    StartedTask, TaskPage, TaskState,
};
use super::state::State;
use crate::model::{CommandUse, Left, hex};
use crate::policy::{LineRefusal, ShellGrant};

type Answer<T> = wasmtime::Result<Result<T, wit::Failure>>;

/// The longest command line, bytes: what an input can hold.
const MAX_LINE: usize = 1 << 20;
/// The longest description of a task, characters.
const MAX_DESCRIPTION: usize = 400;
/// The longest wait for a task's output.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// How much sooner than the call a command must end, so that its output is still told: a little less than what such a call
/// has beyond its bound.
const BEFORE_THE_CALL: Duration = Duration::from_secs(14);
/// The same for a wait.
pub(super) const AFTER_A_WAIT: Duration = Duration::from_secs(1);
/// The most commands that a record names.
const MAX_USES: usize = 1_000;
/// The most of a line that a record quotes, bytes.
const MAX_PREVIEW: usize = 2_048;
/// No command that is waited for takes longer.
const LONGEST: Duration = Duration::from_secs(600);
/// Commands as long as this end by their default deadline.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// What a call has of the shell.
#[derive(Debug)]
pub(super) struct ShellDoor {
    pub(super) grant: ShellGrant,
    pub(super) port: Arc<dyn ShellPort>,
    pub(super) uses: Uses,
    left: Arc<Left>,
}

impl ShellDoor {
    pub(super) fn new(grant: ShellGrant, port: Arc<dyn ShellPort>, left: Arc<Left>) -> Self {
        Self {
            grant,
            port,
            uses: Uses::default(),
            left,
        }
    }

    pub(super) fn take_uses(&mut self) -> Vec<CommandUse> {
        std::mem::take(&mut self.uses.0)
    }

    /// The order that a guest's words make, if the grant allows it.
    pub(super) async fn order(
        &mut self,
        command: wit::Command,
    ) -> Result<CommandOrder, ShellFailure> {
        let judged = if command.line.len() > MAX_LINE {
            Err(ShellFailure {
                code: "limit",
                message: format!("the command line is longer than {MAX_LINE} bytes"),
            })
        } else {
            let roots = Arc::clone(self.grant.roots());
            let judged = match self.grant.judge(&command.line) {
                Ok(paths) => lead_inside(paths, command.cwd.clone(), roots).await,
                Err(refusal) => Err(refusal),
            };
            judged.map_err(ShellFailure::from)
        };
        if let Err(refusal) = judged {
            self.uses
                .note(&command.line, "refused".to_owned(), None, Duration::ZERO);
            return Err(refusal);
        }
        Ok(CommandOrder {
            line: command.line,
            cwd: command.cwd,
            timeout: command
                .timeout_ms
                .map(|millis| Duration::from_millis(millis.into())),
        })
    }

    async fn run(
        &mut self,
        command: wit::Command,
        call_ends: Instant,
    ) -> Result<FinishedCommand, ShellFailure> {
        let mut order = self.order(command).await?;
        let left = call_ends.saturating_duration_since(Instant::now());
        let most = left.saturating_sub(BEFORE_THE_CALL);
        // What is longer than any command may take is the shell's to shorten, which says so.
        if order.timeout.unwrap_or(DEFAULT_TIMEOUT).min(LONGEST) > most {
            order.timeout = Some(most);
        }
        let underway = self.uses.begin(&order.line);
        let ran = self.port.run(order, &self.grant).await;
        match &ran {
            Ok(finished) => {
                self.left.told(finished.text.chars().count());
                underway.ended(finished.ending.to_string(), Some(finished.force.clone()));
            }
            Err(_) => underway.ended("not started".to_owned(), None),
        }
        ran
    }

    async fn start(
        &mut self,
        command: wit::Command,
        description: String,
    ) -> Result<String, ShellFailure> {
        let order = self.order(command).await?;
        let description = description.chars().take(MAX_DESCRIPTION).collect();
        let underway = self.uses.begin(&order.line);
        let started = self.port.start_task(order, description, &self.grant).await;
        match started {
            Ok(StartedTask { id, force }) => {
                underway.ended(format!("task {id}"), Some(force));
                Ok(id)
            }
            Err(failure) => {
                underway.ended("not started".to_owned(), None);
                Err(failure)
            }
        }
    }
}

/// The commands of a call, for its record.
#[derive(Debug, Default)]
pub(super) struct Uses(Vec<CommandUse>);

impl Uses {
    /// A command that begins. What is given stands for it in the record, however its call ends.
    pub(super) fn begin(&mut self, line: &str) -> Underway<'_> {
        Underway {
            uses: self,
            line: line.to_owned(),
            begun: Instant::now(),
            ended: false,
        }
    }

    fn note(&mut self, line: &str, outcome: String, force: Option<CommandForce>, took: Duration) {
        if self.0.len() >= MAX_USES {
            return;
        }
        let end = (0..=line.len().min(MAX_PREVIEW))
            .rev()
            .find(|end| line.is_char_boundary(*end));
        let quoted = line.get(..end.unwrap_or(0)).unwrap_or_default();
        let CommandForce { containment, gaps } = force.unwrap_or_default();
        self.0.push(CommandUse {
            line: quoted.to_owned(),
            line_sha256: hex(&Sha256::digest(line.as_bytes())),
            outcome,
            containment,
            gaps,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
    }
}

/// A command between its beginning and its end. Dropped before, it was cancelled with its call.
#[derive(Debug)]
pub(super) struct Underway<'a> {
    uses: &'a mut Uses,
    line: String,
    begun: Instant,
    ended: bool,
}

impl Underway<'_> {
    /// How it ended, and in what.
    pub(super) fn ended(mut self, outcome: String, force: Option<CommandForce>) {
        self.ended = true;
        let took = self.begun.elapsed();
        self.uses.note(&self.line, outcome, force, took);
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let took = self.begun.elapsed();
            self.uses
                .note(&self.line, "cancelled".to_owned(), None, took);
        }
    }
}

impl State {
    /// What the call has of the shell.
    pub(super) fn shell(&mut self) -> Result<&mut ShellDoor, wit::Failure> {
        self.shell.as_mut().ok_or_else(|| wit::Failure {
            code: "denied".to_owned(),
            message: "the call was not granted the shell".to_owned(),
        })
    }
}

impl wit::Host for State {
    async fn run(&mut self, command: wit::Command) -> Answer<wit::Finished> {
        let call_ends = self.deadline;
        let door = match self.shell() {
            Ok(door) => door,
            Err(failure) => return Ok(Err(failure)),
        };
        let ran = door.run(command, call_ends).await;
        Ok(ran.map(Into::into).map_err(Into::into))
    }

    async fn start_task(&mut self, command: wit::Command, description: String) -> Answer<String> {
        let door = match self.shell() {
            Ok(door) => door,
            Err(failure) => return Ok(Err(failure)),
        };
        let started = door.start(command, description).await;
        Ok(started.map_err(Into::into))
    }

    async fn task_output(&mut self, id: String, from: f64, wait_ms: u32) -> Answer<wit::TaskPage> {
        let call_ends = self.deadline;
        let door = match self.shell() {
            Ok(door) => door,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Err(refusal) = door.grant.judge_reading() {
            return Ok(Err(ShellFailure::from(refusal).into()));
        }
        let left = call_ends.saturating_duration_since(Instant::now());
        let wait = Duration::from_millis(wait_ms.into())
            .min(MAX_WAIT)
            .min(left.saturating_sub(AFTER_A_WAIT));
        let page = door.port.task_output(&id, offset(from), wait).await;
        Ok(page.map(Into::into).map_err(Into::into))
    }

    async fn list_tasks(&mut self) -> Answer<Vec<wit::Task>> {
        let door = match self.shell() {
            Ok(door) => door,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Err(refusal) = door.grant.judge_reading() {
            return Ok(Err(ShellFailure::from(refusal).into()));
        }
        let tasks = door.port.list_tasks().await;
        Ok(Ok(tasks.into_iter().map(Into::into).collect()))
    }

    async fn stop_task(&mut self, id: String) -> Answer<wit::Task> {
        let door = match self.shell() {
            Ok(door) => door,
            Err(failure) => return Ok(Err(failure)),
        };
        if let Err(refusal) = door.grant.judge_stopping() {
            return Ok(Err(ShellFailure::from(refusal).into()));
        }
        let stopped = door.port.stop_task(&id).await;
        Ok(stopped.map(Into::into).map_err(Into::into))
    }
}

/// An offset from the border. What is negative or no number is 0.
pub(super) fn offset(from: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it saturates, which is what is meant"
    )]
    let offset = from as u64;
    offset
}

impl From<LineRefusal> for ShellFailure {
    fn from(refusal: LineRefusal) -> Self {
        Self {
            code: "denied",
            message: refusal.to_string(),
        }
    }
}

impl From<ShellFailure> for wit::Failure {
    fn from(failure: ShellFailure) -> Self {
        Self {
            code: failure.code.to_owned(),
            message: failure.message,
        }
    }
}

impl std::fmt::Display for CommandEnding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Signal(name) => write!(f, "signal {name}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::OutputLimit => f.write_str("output limit"),
            Self::Idle => f.write_str("idle"),
        }
    }
}

impl From<CommandEnding> for wit::Ending {
    fn from(ending: CommandEnding) -> Self {
        match ending {
            CommandEnding::Exit(code) => Self::Exit(code),
            CommandEnding::Signal(name) => Self::Signal(name),
            CommandEnding::TimedOut => Self::TimedOut,
            CommandEnding::Cancelled => Self::Cancelled,
            CommandEnding::OutputLimit => Self::OutputLimit,
            CommandEnding::Idle => Self::Other("idle".to_owned()),
        }
    }
}

impl From<FinishedCommand> for wit::Finished {
    fn from(finished: FinishedCommand) -> Self {
        Self {
            text: finished.text,
            failed: finished.failed,
            ending: finished.ending.into(),
            bytes: finished.bytes as f64,
            truncated: finished.truncated,
            spill: finished.spill,
            background_killed: finished.background_killed,
            containment: finished.force.containment.unwrap_or_default(),
            gaps: finished.force.gaps,
            duration_ms: u32::try_from(finished.duration.as_millis()).unwrap_or(u32::MAX),
        }
    }
}

impl From<TaskState> for wit::Task {
    fn from(task: TaskState) -> Self {
        Self {
            id: task.id,
            line: task.line,
            description: task.description,
            ending: task.ending.map(Into::into),
            bytes: task.bytes as f64,
            duration_ms: task.duration.as_millis() as f64,
        }
    }
}

impl From<TaskPage> for wit::TaskPage {
    fn from(page: TaskPage) -> Self {
        Self {
            task: page.task.into(),
            text: page.text,
            next: page.next as f64,
            dropped: page.dropped as f64,
            spill: page.spill,
            notes: page.notes,
        }
    }
}
