//! The terminals of a host: each under an id that no other one has, ended with the host.
//!
//! An ended terminal stays readable until newer ones take its place. Ids of an earlier start of the host name nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Shell;
use super::command::{CouldNotStart, Sandbox};
use super::ended::Ended;
use super::pty::{Session, Terminal};
use super::wire::Step;

/// The most terminals that run at once.
const MOST_RUNNING: usize = 16;
/// The most terminals that are known, ended ones too.
const MOST_KNOWN: usize = 32;

/// Nothing has this id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no terminal '{id}': {known}")]
pub struct NoSession {
    /// What was asked for.
    pub id: String,
    /// Which there are, in words.
    pub known: String,
}

/// A terminal in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// Its command line.
    pub command: String,
    /// Whether it runs.
    pub running: bool,
}

/// The terminals of a host. Dropping them ends them all.
#[derive(Debug)]
pub struct Sessions {
    /// Differs from start to start.
    start: String,
    known: Mutex<Known>,
    /// One at a time, so that the limit holds.
    opening: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    last: u64,
    terminals: BTreeMap<u64, Arc<Terminal>>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::new()
    }
}

impl Sessions {
    /// None yet.
    pub fn new() -> Self {
        let unique = uuid::Uuid::new_v4().simple().to_string();
        Self {
            start: unique.chars().take(6).collect(),
            known: Mutex::default(),
            opening: tokio::sync::Mutex::default(),
        }
    }

    /// Starts a terminal in a shell and gives its id.
    ///
    /// # Errors
    /// Nothing was executed: 16 run already, or [`Shell::open`] says why.
    pub async fn open(
        &self,
        shell: &dyn Shell,
        session: Session,
        sandbox: &Sandbox,
    ) -> Result<(String, Arc<Terminal>), CouldNotStart> {
        let _turn = self.opening.lock().await;
        let running = self.list().iter().filter(|listed| listed.running).count();
        if running >= MOST_RUNNING {
            let hint = format!(
                "{running} terminals are running, and there may not be more: close one of {}",
                self.running()
            );
            return Err(CouldNotStart::new(Step::Terminal, hint));
        }
        let terminal = Arc::new(shell.open(session, sandbox).await?);
        let mut known = self.known();
        known.last += 1;
        let number = known.last;
        known.terminals.insert(number, Arc::clone(&terminal));
        known.forget();
        Ok((self.id(number), terminal))
    }

    /// The terminal of an id, running or ended.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, id: &str) -> Result<Arc<Terminal>, NoSession> {
        let known = self.known();
        let mut terminals = known.terminals.iter();
        let found = terminals.find(|(number, _)| self.id(**number) == id);
        let found = found.map(|(_, terminal)| Arc::clone(terminal));
        drop(known);
        found.ok_or_else(|| NoSession {
            id: id.to_owned(),
            known: match self.running() {
                none if none.is_empty() => "none is running".to_owned(),
                ids => format!("running are {ids}"),
            },
        })
    }

    /// Ends a terminal and gives how it ended, also where it had ended before.
    ///
    /// # Errors
    /// There is none of this id.
    pub async fn close(&self, id: &str) -> Result<Ended, NoSession> {
        Ok(self.get(id)?.close().await)
    }

    /// Ends all of them and waits for their ends.
    pub async fn close_all(&self) {
        let _turn = self.opening.lock().await;
        let all: Vec<_> = self.known().all().collect();
        all.iter().for_each(|terminal| terminal.kill());
        for terminal in all {
            let ended = terminal.ended().await;
            tracing::debug!(?ended.outcome, "a terminal");
        }
    }

    /// All that are known, the oldest first.
    pub fn list(&self) -> Vec<Listed> {
        let known = self.known();
        let listed = known.terminals.iter().map(|(number, terminal)| Listed {
            id: self.id(*number),
            command: terminal.command().to_owned(),
            running: !terminal.has_ended(),
        });
        listed.collect()
    }

    fn running(&self) -> String {
        let running = self.list().into_iter().filter(|listed| listed.running);
        let ids: Vec<_> = running.map(|listed| listed.id).collect();
        ids.join(", ")
    }

    fn id(&self, number: u64) -> String {
        format!("terminal-{}-{number}", self.start)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing that holds the lock can panic in the middle of a change.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn all(&self) -> impl Iterator<Item = Arc<Terminal>> {
        self.terminals.values().map(Arc::clone)
    }

    /// Drops the oldest of those that have ended.
    fn forget(&mut self) {
        while self.terminals.len() > MOST_KNOWN {
            let mut ended = self.terminals.iter();
            let oldest = ended.find(|(_, terminal)| terminal.has_ended());
            let Some(oldest) = oldest.map(|(number, _)| *number) else {
                return;
            };
            self.terminals.remove(&oldest);
        }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        // Somebody may still hold one to read it.
        self.known().all().for_each(|terminal| terminal.cut());
    }
}
