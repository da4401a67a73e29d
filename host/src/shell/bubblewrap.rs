//! Commands on this machine, in a sandbox that bubblewrap makes.
//!
//! For systems that let only bubblewrap make user namespaces. What a command finds is what [`LocalShell`](super::LocalShell)
//! promises: the same files, the same first process that ends the whole tree, the same filter and limits inside. Two things are
//! less for a host that is not root: the bound of processes is the user's and not the tree's, and `/proc/sys` is kept by its
//! owner alone. There is nothing weaker to fall back to: without bubblewrap nothing runs.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::Shell;
use super::command::{Command, CouldNotStart, Sandbox};
use super::ended::Containment;
use super::machine::Machine;
use super::probe::Probe;
use super::program::found;
use super::pty::{Session, Terminal};
use super::running::Running;
use super::settings::{Settings, SettingsError};
use super::wire::Layers;

/// Its name.
const NAME: &str = "bwrap";

/// A shell on this machine by bubblewrap, version 0.8 or later.
#[derive(Debug)]
pub struct BubblewrapShell(Machine);

impl BubblewrapShell {
    /// A shell with settings. `program` is bubblewrap's own path, or its name in a folder of the system; `bwrap` where there is
    /// none. Starts nothing.
    ///
    /// # Errors
    /// The settings contradict themselves: bubblewrap makes the whole sandbox in a PID namespace, or nothing. Or the program is
    /// not there.
    pub fn new(settings: Settings, program: Option<&Path>) -> Result<Self, SettingsError> {
        let no = |what: &str| Err(SettingsError::Bubblewrap(what.to_owned()));
        if settings.layers != Layers::All {
            return no("makes the whole sandbox: leave 'sandbox' out, or take kind = \"local\"");
        }
        if settings.max_containment != Containment::PidNamespace {
            return no("makes a PID namespace and nothing less");
        }
        if settings.shared_proc {
            return no("mounts a /proc of its own and shares none");
        }
        let program: PathBuf = found(program.unwrap_or(Path::new(NAME)))?;
        Ok(Self(Machine::new(settings, Some(program))?))
    }
}

#[async_trait]
impl Shell for BubblewrapShell {
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
