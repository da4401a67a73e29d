//! The commands of a host that have not ended, so that a host can end all of them and wait until nothing of them is left.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout;

use super::command::{Command, CouldNotStart, Sandbox};
use super::pty::{Session, Terminal};
use super::running::{Killer, Output, Running, Shared};
use super::{Probe, Shell};

/// A shell that remembers what it started for as long as something of it runs.
#[derive(Debug)]
pub struct WatchedShell {
    shell: Arc<dyn Shell>,
    live: Mutex<Vec<Weak<Shared>>>,
}

impl WatchedShell {
    /// The same shell, watched.
    pub fn new(shell: Arc<dyn Shell>) -> Self {
        Self {
            shell,
            live: Mutex::default(),
        }
    }

    /// Ends every command, every task and every terminal, and waits at most so long until their processes are gone. Gives how
    /// many of them are not.
    pub async fn end_all(&self, longest: Duration) -> usize {
        let live: Vec<_> = self.live().iter().filter_map(Weak::upgrade).collect();
        for shared in &live {
            Killer(Arc::clone(shared)).kill();
        }
        let outputs: Vec<_> = live.into_iter().map(Output).collect();
        let gone = async {
            for output in &outputs {
                output.ended().await;
            }
        };
        let in_time = timeout(longest, gone).await.is_ok();
        tracing::debug!(in_time, "{} commands were ended", outputs.len());
        outputs.iter().filter(|output| !output.has_ended()).count()
    }

    fn remember(&self, shared: &Arc<Shared>) {
        let mut live = self.live();
        live.retain(|known| {
            let known = known.upgrade();
            known.is_some_and(|shared| !Output(shared).has_ended())
        });
        live.push(Arc::downgrade(shared));
    }

    fn live(&self) -> MutexGuard<'_, Vec<Weak<Shared>>> {
        // Nothing that holds the lock can panic in the middle of a change.
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Shell for WatchedShell {
    async fn start(&self, command: Command, sandbox: &Sandbox) -> Result<Running, CouldNotStart> {
        let running = self.shell.start(command, sandbox).await?;
        self.remember(&running.shared);
        Ok(running)
    }

    async fn open(&self, session: Session, sandbox: &Sandbox) -> Result<Terminal, CouldNotStart> {
        let terminal = self.shell.open(session, sandbox).await?;
        self.remember(&terminal.shared);
        Ok(terminal)
    }

    fn has_terminals(&self) -> bool {
        self.shell.has_terminals()
    }

    async fn probe(&self) -> Probe {
        self.shell.probe().await
    }
}
