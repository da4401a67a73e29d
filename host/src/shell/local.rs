//! Commands on this machine: on Linux in a sandbox of our own, elsewhere in process groups.

use async_trait::async_trait;

use super::Shell;
use super::command::{Command, CouldNotStart, Sandbox};
use super::group::Groups;
use super::probe::Probe;
#[cfg(target_os = "linux")]
use super::pty::{Session, Terminal};
use super::running::Running;
use super::service::{Program, Service};
use super::settings::{Settings, SettingsError};
#[cfg(target_os = "linux")]
use super::{ended::Containment, machine::Machine};

/// A shell on this machine, in the strongest containment that it gives.
#[derive(Debug)]
pub struct LocalShell(Way);

#[derive(Debug)]
enum Way {
    #[cfg(target_os = "linux")]
    Machine(Box<Machine>),
    Groups(Groups),
}

impl LocalShell {
    /// A shell with settings. Starts nothing.
    ///
    /// # Errors
    /// The settings contradict themselves, or ask for more than this system has.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        #[cfg(target_os = "linux")]
        if settings.max_containment > Containment::ProcessGroup {
            let machine = Machine::new(settings, None)?;
            return Ok(Self(Way::Machine(Box::new(machine))));
        }
        Ok(Self(Way::Groups(Groups::new(settings)?)))
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
        match &self.0 {
            #[cfg(target_os = "linux")]
            Way::Machine(machine) => machine.serve(program, sandbox).await,
            Way::Groups(groups) => groups.serve(program, sandbox).await,
        }
    }
}

#[async_trait]
impl Shell for LocalShell {
    async fn start(&self, command: Command, sandbox: &Sandbox) -> Result<Running, CouldNotStart> {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Way::Machine(machine) => machine.start(command, sandbox).await,
            Way::Groups(groups) => groups.start(command, sandbox).await,
        }
    }

    #[cfg(target_os = "linux")]
    async fn open(&self, session: Session, sandbox: &Sandbox) -> Result<Terminal, CouldNotStart> {
        match &self.0 {
            Way::Machine(machine) => machine.open(session, sandbox).await,
            Way::Groups(_) => Err(super::no_terminals()),
        }
    }

    fn has_terminals(&self) -> bool {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Way::Machine(_) => true,
            Way::Groups(_) => false,
        }
    }

    async fn probe(&self) -> Probe {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Way::Machine(machine) => machine.probe().await,
            Way::Groups(groups) => groups.probe().await,
        }
    }
}
