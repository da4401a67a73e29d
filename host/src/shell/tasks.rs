//! Commands that nobody waits for: started in one call, read and stopped in others.
//!
//! Guarantees that an id means one start for good, that a task's end is what the kernel said of it, and that all of them end
//! with the registry.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::capture::Stream;
use super::command::{Command, CouldNotStart, Kind, Sandbox};
use super::ended::{CommandEnd, Containment, Ended};
use super::running::{Killer, Output, Running};
use super::{Shell, text};

/// The most tasks that run at once.
const MAX_RUNNING: usize = 64;
/// The most tasks that are remembered; of those that have ended, the oldest are forgotten first.
const MAX_KNOWN: usize = 256;
/// The most bytes of one page: so that it has at most 28,000 characters, and what is said beside it fits a result too.
const PAGE: usize = 28_000;

/// All tasks of a host. Dropping it ends them.
#[derive(Debug, Default)]
pub struct Tasks {
    known: Mutex<VecDeque<Arc<Entry>>>,
    started: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    id: String,
    line: String,
    description: String,
    begun: Instant,
    killer: Killer,
    output: Output,
    /// What of the sandbox is not in force.
    gaps: Vec<String>,
    ended: watch::Receiver<Option<Arc<Ended>>>,
    waiting: AbortHandle,
}

/// A task as it is.
#[derive(Clone, Debug)]
pub struct Task {
    /// Never used twice.
    pub id: String,
    /// Its command line.
    pub line: String,
    /// What it is for, in the words of whoever started it.
    pub description: String,
    /// How much it has printed, bytes.
    pub bytes: u64,
    /// Since its start, or how long it took.
    pub duration: Duration,
    /// What of the sandbox is not in force.
    pub gaps: Vec<String>,
    /// Its end; none while it runs.
    pub ended: Option<Arc<Ended>>,
}

/// A task that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its id.
    pub id: String,
    /// What holds its tree together.
    pub containment: Containment,
    /// What of the sandbox is not in force.
    pub gaps: Vec<String>,
}

/// A part of a task's output.
#[derive(Clone, Debug)]
pub struct Page {
    /// The task.
    pub task: Task,
    /// As a model reads it.
    pub text: String,
    /// Where the next page begins.
    pub next: u64,
    /// Bytes between the asked and the given beginning that are no longer kept.
    pub dropped: u64,
}

/// There is no task of this id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no task '{0}': it was never started, or it ended long ago; TaskList shows those that are known"
)]
pub struct NoTask(pub String);

/// Why a task did not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartFailure {
    /// The command did not.
    Command(CouldNotStart),
    /// There are too many.
    TooMany,
}

impl fmt::Display for StartFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(error) => error.fmt(f),
            Self::TooMany => write!(
                f,
                "{MAX_RUNNING} tasks are running, which is the most: stop one with TaskStop first"
            ),
        }
    }
}

impl std::error::Error for StartFailure {}

impl Tasks {
    /// No tasks.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a command in the background, whatever its kind says. `gaps`: what its sandbox was made without.
    ///
    /// # Errors
    /// Nothing was executed.
    pub async fn start(
        &self,
        shell: &dyn Shell,
        mut command: Command,
        sandbox: &Sandbox,
        description: String,
        mut gaps: Vec<String>,
    ) -> Result<Started, StartFailure> {
        if self.running() >= MAX_RUNNING {
            return Err(StartFailure::TooMany);
        }
        command.kind = Kind::Background;
        let line = command.line.clone();
        let running = shell.start(command, sandbox).await;
        let running = running.map_err(StartFailure::Command)?;
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let chance = uuid::Uuid::new_v4().simple().to_string();
        let chance = chance.get(..8).unwrap_or_default();
        let id = format!("task-{number}-{chance}");
        let containment = running.containment();
        gaps.extend(running.sandbox().gaps.iter().cloned());
        let mut entry = Entry::new(id.clone(), line, description, running);
        entry.gaps.clone_from(&gaps);
        let mut known = self.known();
        known.push_back(Arc::new(entry));
        while known.len() > MAX_KNOWN
            && let Some(at) = known.iter().position(|entry| entry.ended().is_some())
        {
            known.remove(at);
        }
        Ok(Started {
            id,
            containment,
            gaps,
        })
    }

    /// All that are known, the latest last.
    pub fn list(&self) -> Vec<Task> {
        self.known().iter().map(|entry| entry.task()).collect()
    }

    /// Output from an offset on. Waits at most so long until there is some, or the task has ended.
    ///
    /// # Errors
    /// [`NoTask`].
    pub async fn output(&self, id: &str, from: u64, wait: Duration) -> Result<Page, NoTask> {
        let entry = self.get(id)?;
        let mut ended = entry.ended.clone();
        let news = async {
            tokio::select! {
                // Also when the last byte came long before the end.
                _ = ended.wait_for(Option::is_some) => {}
                _ = entry.output.more_than(from), if !entry.output.has_ended() => {}
            }
        };
        if entry.ended().is_none() && entry.output.printed() <= from {
            // Time that is over is no failure: the page says what there is.
            let in_time = timeout(wait, news).await.is_ok();
            tracing::trace!(id, in_time, "waited for a task");
        }
        // Before the output is read: of a task that has ended, nothing more comes after it.
        let task = entry.task();
        let mut piece = entry.output.read(Stream::Out, from, PAGE);
        if piece.next() < piece.total || task.ended.is_none() {
            let whole = piece.bytes.len() - unfinished(&piece.bytes);
            piece.bytes.truncate(whole);
        }
        Ok(Page {
            text: text::clean(&piece.bytes),
            next: piece.next(),
            dropped: piece.start.saturating_sub(from.min(piece.total)),
            task,
        })
    }

    /// Ends a task and waits for that. One that has ended stays as it is.
    ///
    /// # Errors
    /// [`NoTask`].
    pub async fn stop(&self, id: &str) -> Result<Task, NoTask> {
        let entry = self.get(id)?;
        entry.killer.kill();
        let mut ended = entry.ended.clone();
        if ended.wait_for(Option::is_some).await.is_err() {
            tracing::error!(id, "the end of a task was lost");
        }
        Ok(entry.task())
    }

    fn get(&self, id: &str) -> Result<Arc<Entry>, NoTask> {
        let known = self.known();
        let entry = known.iter().find(|entry| entry.id == id);
        entry.cloned().ok_or_else(|| {
            // What a model invents may be of any length.
            NoTask(id.chars().take(100).collect())
        })
    }

    fn running(&self) -> usize {
        let known = self.known();
        let running = known.iter().filter(|entry| entry.ended().is_none());
        running.count()
    }

    fn known(&self) -> MutexGuard<'_, VecDeque<Arc<Entry>>> {
        // Nothing that holds the lock can panic in the middle of a change.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for entry in self.known().iter() {
            entry.killer.kill();
            // Drops what holds the tree, should nobody be there to see the killer's wish.
            entry.waiting.abort();
        }
    }
}

impl Entry {
    fn new(id: String, line: String, description: String, running: Running) -> Self {
        let (killer, output) = (running.killer(), running.output());
        let (tell, ended) = watch::channel(None);
        let waiting = tokio::spawn(async move {
            tell.send_replace(Some(Arc::new(running.wait().await)));
        });
        Self {
            id,
            line,
            description,
            begun: Instant::now(),
            killer,
            output,
            gaps: Vec::new(),
            ended,
            waiting: waiting.abort_handle(),
        }
    }

    fn ended(&self) -> Option<Arc<Ended>> {
        self.ended.borrow().clone()
    }

    fn task(&self) -> Task {
        let ended = self.ended();
        Task {
            id: self.id.clone(),
            line: self.line.clone(),
            description: self.description.clone(),
            bytes: self.output.printed(),
            gaps: self.gaps.clone(),
            duration: match &ended {
                Some(ended) => ended.duration,
                None => self.begun.elapsed(),
            },
            ended,
        }
    }
}

impl Task {
    /// The one end, if it has come.
    pub fn end(&self) -> Option<&CommandEnd> {
        self.ended.as_ref().map(|ended| &ended.outcome)
    }
}

/// How many bytes at the end are a character that is not whole yet.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = bytes.iter().rev().take(4).enumerate();
    for (at, byte) in tail {
        let needs = match byte {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            0x80..=0xBF => continue,
            _ => return 0,
        };
        return if at + 1 < needs { at + 1 } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_cut() {
        let text = "aé€😀".as_bytes();
        for (until, cut) in [
            (1, 0),
            (2, 1),
            (3, 0),
            (4, 1),
            (5, 2),
            (6, 0),
            (7, 1),
            (9, 3),
            (10, 0),
        ] {
            assert_eq!(unfinished(&text[..until]), cut, "{until}");
        }
        assert_eq!(unfinished(b"\xff\x80\x80\x80\x80"), 0);
    }

    #[test]
    fn an_unknown_task_is_named() {
        let tasks = Tasks::new();
        let said = tasks.get("nope").unwrap_err().to_string();
        assert!(said.contains("there is no task 'nope'"), "{said}");
        assert!(tasks.list().is_empty());
    }
}
