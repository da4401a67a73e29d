//! Commands on this machine, in a sandbox of our own.

use async_trait::async_trait;

use super::Shell;
use super::command::{Command, CouldNotStart, Sandbox};
use super::machine::{Machine, Probe};
use super::pty::{Session, Terminal};
use super::running::Running;
use super::service::{Program, Service};
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

    /// Starts a program that talks through its input and output. It runs until it ends, or the [`Service`] is killed or
    /// dropped, and its whole tree with it.
    ///
    /// # Errors
    /// Nothing was executed: the program is missing, or the sandbox cannot be had here.
    pub async fn serve(
        &self,
        program: Program,
        sandbox: &Sandbox,
    ) -> Result<Service, CouldNotStart> {
        self.0.serve(program, sandbox).await
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
