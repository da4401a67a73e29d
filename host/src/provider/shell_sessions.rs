//! The port of `toolgate:shell/sessions`, over a native shell and the terminals of the host.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::shell::NativeShell;
use crate::policy::ShellGrant;
use crate::runtime::{
    CommandEnding, CommandForce, CommandOrder, SessionPage, SessionPort, SessionState,
    ShellFailure, StartedSession, TerminalOrder, TypedKeys,
};
use crate::shell::{NoSession, Session, Spill, Terminal, TerminalError};

/// The line that is an interactive shell without startup files.
const INTERACTIVE: &str = "bash";

#[async_trait]
impl SessionPort for NativeShell {
    async fn start_session(
        &self,
        order: CommandOrder,
        terminal: TerminalOrder,
        grant: &ShellGrant,
    ) -> Result<StartedSession, ShellFailure> {
        let (mut command, sandbox, mut gaps) = self.prepared(order, grant).await?;
        // What is shown is kept in memory, and read from there.
        discard(command.spill.take());
        let session = Session {
            command: Some(command.line).filter(|line| line != INTERACTIVE),
            cwd: command.cwd,
            rows: terminal.rows,
            cols: terminal.columns,
            raw: terminal.raw,
            network: command.network,
            idle: None,
            timeout: command.timeout,
            spill: None,
        };
        let opened = self.sessions.open(self.shell(), session, &sandbox);
        let (id, terminal) = opened.await?;
        gaps.extend(terminal.sandbox().gaps.iter().cloned());
        Ok(StartedSession {
            session: state(&id, &terminal, None),
            force: CommandForce {
                containment: Some(terminal.containment().as_str().to_owned()),
                gaps,
            },
        })
    }

    async fn type_keys(
        &self,
        id: &str,
        keys: &[u8],
        wait: Duration,
    ) -> Result<TypedKeys, ShellFailure> {
        let written = self.sessions.get(id)?.write(keys, wait).await?;
        Ok(TypedKeys {
            bytes: written.bytes,
            note: written.note,
        })
    }

    async fn session_output(
        &self,
        id: &str,
        from: u64,
        wait: Duration,
    ) -> Result<SessionPage, ShellFailure> {
        let terminal = self.sessions.get(id)?;
        let reading = terminal.read(from, wait).await;
        let ending = reading.end.as_ref().map(Into::into);
        Ok(SessionPage {
            session: state(id, &terminal, ending),
            text: reading.text,
            next: reading.next,
            dropped: reading.missed,
            more: reading.more,
        })
    }

    async fn resize_session(
        &self,
        id: &str,
        rows: u16,
        columns: u16,
    ) -> Result<SessionState, ShellFailure> {
        let terminal = self.sessions.get(id)?;
        terminal.resize(rows, columns)?;
        Ok(state(id, &terminal, None))
    }

    async fn close_session(&self, id: &str) -> Result<SessionState, ShellFailure> {
        let terminal = self.sessions.get(id)?;
        let ended = terminal.close().await;
        if let Some(stuck) = &ended.kill_incomplete {
            return Err(ShellFailure {
                code: "limit",
                message: format!("a process of {id} did not end in time: {stuck:?}"),
            });
        }
        Ok(state(id, &terminal, Some((&ended.outcome).into())))
    }
}

fn discard(spill: Option<Box<dyn Spill>>) {
    let removed = spill.map(|spill| spill.finish().and_then(std::fs::remove_file));
    tracing::trace!(?removed, "a spill that is not used");
}

fn state(id: &str, terminal: &Arc<Terminal>, ending: Option<CommandEnding>) -> SessionState {
    let (rows, columns) = terminal.size().unwrap_or_default();
    SessionState {
        id: id.to_owned(),
        line: terminal.command().to_owned(),
        rows,
        columns,
        ending,
    }
}

impl From<NoSession> for ShellFailure {
    fn from(error: NoSession) -> Self {
        Self {
            code: "not-found",
            message: error.to_string(),
        }
    }
}

impl From<TerminalError> for ShellFailure {
    fn from(error: TerminalError) -> Self {
        let code = match &error {
            TerminalError::Ended => "not-found",
            TerminalError::Size(_) | TerminalError::System(_) => "could-not-start",
        };
        Self {
            code,
            message: error.to_string(),
        }
    }
}
