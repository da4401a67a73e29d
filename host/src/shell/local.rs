//! Commands on this machine, in a sandbox of our own.

use async_trait::async_trait;

use super::Shell;
use super::command::{Command, CouldNotStart, Sandbox};
use super::machine::{Machine, Probe};
use super::pty::{Session, Terminal};
use super::running::Running;
use super::settings::{Settings, SettingsError};

/// A shell on this machine, in the strongest containment that it gives.
#[derive(Debug)]
pub struct LocalShell(Machine);

impl LocalShell {
    /// A shell with settings. Starts nothing.
    ///
    /// # Errors
    /// The settings contradict themselves.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        Ok(Self(Machine::new(settings, None)?))
    }
}

#[async_trait]
impl Shell for LocalShell {
    async fn start(&self, command: Command, sandbox: &Sandbox) -> Result<Running, CouldNotStart> {
        self.0.start(command, sandbox).await
    }

    async fn open(&self, session: Session, sandbox: &Sandbox) -> Result<Terminal, CouldNotStart> {
        self.0.open(session, sandbox).await
    }

    fn has_terminals(&self) -> bool {
        true
    }

    async fn probe(&self) -> Probe {
        self.0.probe().await
    }
}
