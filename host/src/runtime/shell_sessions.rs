//! The interface `toolgate:shell/sessions`, and its port: commands on terminals, which outlive the call that starts them.
//!
//! Guarantees that no line reaches the port that the grant does not allow, that only a call which may run commands types, and
//! that a read-only call changes nothing. What is typed is judged by no rule: the approval of the call is what allows it.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::bindings::shell::toolgate::shell::sessions as wit;
use super::bindings::shell::toolgate::shell::shell::{Command, Failure};
use super::shell_door::{AFTER_A_WAIT, ShellDoor, offset};
use super::shell_port::{CommandEnding, CommandForce, CommandOrder, ShellFailure, ShellPort};
use super::state::State;
use crate::policy::{LineRefusal, ShellGrant};

type Answer<T> = wasmtime::Result<Result<T, Failure>>;

/// The longest that typing waits until it is taken.
const LONGEST_TYPING: Duration = Duration::from_secs(10);
/// The longest wait for something to be shown.
const LONGEST_READING: Duration = Duration::from_secs(60);
/// The most bytes of one call's typing.
const MOST_TYPED: usize = 1 << 20;

/// A session as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionState {
    /// Never used twice.
    pub id: String,
    /// Its command line.
    pub line: String,
    /// Lines of its terminal.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
    /// None while it runs, or while a page has not shown all of its output.
    pub ending: Option<CommandEnding>,
}

/// A session, as it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedSession {
    /// The session.
    pub session: SessionState,
    /// What is in force.
    pub force: CommandForce,
}

/// A part of what was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPage {
    /// The session.
    pub session: SessionState,
    /// Without control sequences.
    pub text: String,
    /// Where the next page begins.
    pub next: u64,
    /// Bytes between the asked and the given beginning that are no longer kept.
    pub dropped: u64,
    /// More is there already.
    pub more: bool,
}

/// What was taken of what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedKeys {
    /// Bytes.
    pub bytes: usize,
    /// What the model should know.
    pub note: Option<String>,
}

/// A terminal that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalOrder {
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
    /// Without line editing.
    pub raw: bool,
}

/// Runs commands on terminals. The grant has been asked about the line, or about what else is done, before.
#[async_trait]
pub trait SessionPort: Debug + Send + Sync {
    /// Starts a command on a terminal.
    ///
    /// # Errors
    /// Nothing was executed.
    async fn start_session(
        &self,
        order: CommandOrder,
        terminal: TerminalOrder,
        grant: &ShellGrant,
    ) -> Result<StartedSession, ShellFailure>;

    /// Types, and waits at most so long until it is taken.
    ///
    /// # Errors
    /// There is no such session, or it has ended.
    async fn type_keys(
        &self,
        id: &str,
        keys: &[u8],
        wait: Duration,
    ) -> Result<TypedKeys, ShellFailure>;

    /// What was shown from an offset on. Waits at most so long until there is some, or the session has ended.
    ///
    /// # Errors
    /// There is no such session.
    async fn session_output(
        &self,
        id: &str,
        from: u64,
        wait: Duration,
    ) -> Result<SessionPage, ShellFailure>;

    /// Gives another size.
    ///
    /// # Errors
    /// There is no such session, it has ended, or the size cannot be.
    async fn resize_session(
        &self,
        id: &str,
        rows: u16,
        columns: u16,
    ) -> Result<SessionState, ShellFailure>;

    /// Ends a session and waits for that. One that has ended stays as it is.
    ///
    /// # Errors
    /// There is no such session.
    async fn close_session(&self, id: &str) -> Result<SessionState, ShellFailure>;
}

impl ShellDoor {
    fn sessions(&self) -> Result<&dyn SessionPort, ShellFailure> {
        sessions(self.port.as_ref())
    }

    async fn start_session(
        &mut self,
        command: Command,
        terminal: TerminalOrder,
    ) -> Result<SessionState, ShellFailure> {
        let order = self.order(command).await?;
        let underway = self.uses.begin(&order.line);
        let started = match sessions(self.port.as_ref()) {
            Ok(port) => port.start_session(order, terminal, &self.grant).await,
            Err(failure) => Err(failure),
        };
        match started {
            Ok(StartedSession { session, force }) => {
                underway.ended(format!("session {}", session.id), Some(force));
                Ok(session)
            }
            Err(failure) => {
                underway.ended("not started".to_owned(), None);
                Err(failure)
            }
        }
    }

    async fn type_keys(
        &self,
        id: &str,
        keys: &[u8],
        wait: Duration,
    ) -> Result<TypedKeys, ShellFailure> {
        // Typing into a shell is running commands in it.
        if !self.grant.runs() {
            return Err(LineRefusal::RunsNothing.into());
        }
        self.grant.judge_stopping()?;
        if keys.len() > MOST_TYPED {
            return Err(ShellFailure {
                code: "limit",
                message: format!("more than {MOST_TYPED} bytes cannot be typed at once"),
            });
        }
        self.sessions()?.type_keys(id, keys, wait).await
    }

    async fn session_output(
        &self,
        id: &str,
        from: u64,
        wait: Duration,
    ) -> Result<SessionPage, ShellFailure> {
        self.grant.judge_reading()?;
        self.sessions()?.session_output(id, from, wait).await
    }

    async fn resize_session(
        &self,
        id: &str,
        (rows, columns): (u16, u16),
    ) -> Result<SessionState, ShellFailure> {
        self.grant.judge_stopping()?;
        self.sessions()?.resize_session(id, rows, columns).await
    }

    async fn close_session(&self, id: &str) -> Result<SessionState, ShellFailure> {
        self.grant.judge_stopping()?;
        self.sessions()?.close_session(id).await
    }
}

fn sessions(port: &dyn ShellPort) -> Result<&dyn SessionPort, ShellFailure> {
    port.sessions().ok_or_else(|| ShellFailure {
        code: "could-not-start",
        message: "this host's shell has no terminals: run the command without one".to_owned(),
    })
}

/// How long a call may wait that still has to tell its result.
fn within_the_call(call_ends: Instant, most: Duration) -> Duration {
    let left = call_ends.saturating_duration_since(Instant::now());
    most.min(left.saturating_sub(AFTER_A_WAIT))
}

/// Rows and columns. What is no size at all is refused where the terminal is made.
fn size(rows: u32, columns: u32) -> (u16, u16) {
    let small = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
    (small(rows), small(columns))
}

fn answer<T, W: From<T>>(done: Result<T, ShellFailure>) -> Answer<W> {
    Ok(done.map(Into::into).map_err(Into::into))
}

impl wit::Host for State {
    async fn start_session(
        &mut self,
        command: Command,
        rows: u32,
        columns: u32,
        raw: bool,
    ) -> Answer<wit::Session> {
        let (rows, columns) = size(rows, columns);
        let order = TerminalOrder { rows, columns, raw };
        match self.shell() {
            Ok(door) => answer(door.start_session(command, order).await),
            Err(failure) => Ok(Err(failure)),
        }
    }

    async fn write(&mut self, id: String, data: Vec<u8>) -> Answer<wit::Typed> {
        let wait = within_the_call(self.deadline, LONGEST_TYPING);
        match self.shell() {
            Ok(door) => answer(door.type_keys(&id, &data, wait).await),
            Err(failure) => Ok(Err(failure)),
        }
    }

    async fn read(&mut self, id: String, from: f64, wait_ms: u32) -> Answer<wit::SessionPage> {
        let asked = Duration::from_millis(wait_ms.into()).min(LONGEST_READING);
        let wait = within_the_call(self.deadline, asked);
        match self.shell() {
            Ok(door) => answer(door.session_output(&id, offset(from), wait).await),
            Err(failure) => Ok(Err(failure)),
        }
    }

    async fn resize(&mut self, id: String, rows: u32, columns: u32) -> Answer<wit::Session> {
        match self.shell() {
            Ok(door) => answer(door.resize_session(&id, size(rows, columns)).await),
            Err(failure) => Ok(Err(failure)),
        }
    }

    async fn close(&mut self, id: String) -> Answer<wit::Session> {
        match self.shell() {
            Ok(door) => answer(door.close_session(&id).await),
            Err(failure) => Ok(Err(failure)),
        }
    }
}

impl From<SessionState> for wit::Session {
    fn from(session: SessionState) -> Self {
        Self {
            id: session.id,
            line: session.line,
            rows: session.rows.into(),
            columns: session.columns.into(),
            ending: session.ending.map(Into::into),
        }
    }
}

impl From<SessionPage> for wit::SessionPage {
    fn from(page: SessionPage) -> Self {
        Self {
            session: page.session.into(),
            text: page.text,
            next: page.next as f64,
            dropped: page.dropped as f64,
            more: page.more,
        }
    }
}

impl From<TypedKeys> for wit::Typed {
    fn from(typed: TypedKeys) -> Self {
        Self {
            bytes: typed.bytes as f64,
            note: typed.note,
        }
    }
}
