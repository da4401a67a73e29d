//! A command while it runs: a handle that reads, ends and waits, and whose end is the end of the whole tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::capture::{Capture, Piece, Stream};
use super::ended::{Containment, Ended, InForce};
use super::streams::Master;
use super::tree::Lifeline;

/// How far the output is.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    printed: u64,
    ended: bool,
}

/// What the handle and the task that drives the command share.
#[derive(Debug)]
pub(super) struct Shared {
    captures: Mutex<[Capture; 2]>,
    progress: watch::Sender<Progress>,
    /// Whether somebody wants it to end.
    pub(super) cancelled: watch::Sender<bool>,
    /// Nobody waits for its result any more.
    given_up: AtomicBool,
    /// When it was last used, where that counts.
    used: Mutex<Instant>,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            captures: Mutex::default(),
            progress: watch::Sender::default(),
            cancelled: watch::Sender::new(false),
            given_up: AtomicBool::new(false),
            used: Mutex::new(Instant::now()),
        }
    }

    /// Whether somebody still waits for its result.
    pub(super) fn is_awaited(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
    }

    /// Somebody uses it now.
    pub(super) fn use_it(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// When it was last used.
    pub(super) fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The captures of stdout and stderr.
    pub(super) fn captures(&self) -> MutexGuard<'_, [Capture; 2]> {
        // Nothing that holds the lock can panic in the middle of a change.
        self.captures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, stream: Stream, bytes: &[u8]) {
        let [out, err] = &mut *self.captures();
        match stream {
            Stream::Out => out.push(bytes),
            Stream::Err => err.push(bytes),
        }
        let printed = out.total() + err.total();
        self.progress
            .send_modify(|progress| progress.printed = printed);
    }

    /// Nothing more comes.
    pub(super) fn end(&self) {
        self.progress.send_modify(|progress| progress.ended = true);
    }
}

/// Ends a command from elsewhere.
#[derive(Clone, Debug)]
pub struct Killer(pub(super) Arc<Shared>);

impl Killer {
    /// Asks for the end. The command's end is then [`CommandEnd::Cancelled`](super::CommandEnd::Cancelled), unless it had
    /// ended already. Asking again does nothing.
    pub fn kill(&self) {
        self.0.cancelled.send_replace(true);
    }
}

/// Reads the output of a command, also when it has ended. The first 128 KiB and the last 1 MiB of each stream are kept.
#[derive(Clone, Debug)]
pub struct Output(pub(super) Arc<Shared>);

impl Output {
    /// Raw bytes of a stream from an offset on, at most `most`.
    pub fn read(&self, stream: Stream, from: u64, most: usize) -> Piece {
        let [out, err] = &*self.0.captures();
        match stream {
            Stream::Out => out.read(from, most),
            Stream::Err => err.read(from, most),
        }
    }

    /// The last bytes of a stream, at most `most`.
    pub fn last(&self, stream: Stream, most: usize) -> Piece {
        let [out, err] = &*self.0.captures();
        let capture = match stream {
            Stream::Out => out,
            Stream::Err => err,
        };
        capture.read(capture.total().saturating_sub(most as u64), most)
    }

    /// Bytes of both streams until now.
    pub fn printed(&self) -> u64 {
        self.0.progress.borrow().printed
    }

    /// Whether nothing more comes.
    pub fn has_ended(&self) -> bool {
        self.0.progress.borrow().ended
    }

    /// Waits until the whole tree has ended and nothing more comes.
    pub async fn ended(&self) {
        let mut progress = self.0.progress.subscribe();
        let end = progress.wait_for(|now| now.ended).await;
        tracing::trace!(ok = end.is_ok(), "the end of a command");
    }

    /// Waits until more than `seen` bytes were printed, or nothing more comes. Gives how many were printed.
    pub async fn more_than(&self, seen: u64) -> u64 {
        let mut progress = self.0.progress.subscribe();
        let news = progress.wait_for(|now| now.printed > seen || now.ended);
        // The sender lives as long as this handle, so the wait cannot fail.
        news.await.map_or(seen, |now| now.printed)
    }
}

/// A running command. Dropping it ends the whole tree.
#[derive(Debug)]
pub struct Running {
    pub(super) shared: Arc<Shared>,
    pub(super) lifeline: Arc<dyn Lifeline>,
    pub(super) task: JoinHandle<Ended>,
    pub(super) containment: Containment,
    pub(super) sandbox: InForce,
    /// What the result is if the task is lost, which only a runtime that shuts down does.
    pub(super) lost: Box<Ended>,
    /// The host's end of its terminal, where it has one.
    pub(super) terminal: Option<Master>,
}

impl Running {
    /// What holds its tree together.
    pub fn containment(&self) -> Containment {
        self.containment
    }

    /// What is in force.
    pub fn sandbox(&self) -> &InForce {
        &self.sandbox
    }

    /// Ends it from elsewhere.
    pub fn killer(&self) -> Killer {
        Killer(Arc::clone(&self.shared))
    }

    /// Reads its output as it comes.
    pub fn output(&self) -> Output {
        Output(Arc::clone(&self.shared))
    }

    /// Asks for its end; see [`Killer::kill`].
    pub fn kill(&self) {
        self.killer().kill();
    }

    /// Whether it has ended, so that [`Running::wait`] returns at once.
    pub fn has_ended(&self) -> bool {
        self.task.is_finished()
    }

    /// Waits for its end. When this returns, no process of the tree acts any more, unless the result says so. Giving up
    /// waiting ends the tree.
    pub async fn wait(mut self) -> Ended {
        self.join().await
    }

    /// Waits once; to give up waiting changes nothing.
    pub(super) async fn join(&mut self) -> Ended {
        match (&mut self.task).await {
            Ok(ended) => ended,
            Err(error) => {
                self.lifeline.cut();
                tracing::error!("a command was lost: {error}");
                self.lost.as_ref().clone()
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.task.is_finished() {
            // At once, whether or not the runtime comes to the task soon. The task stays with the tree until that is gone.
            self.lifeline.cut();
            self.shared.given_up.store(true, Ordering::Relaxed);
            self.kill();
        }
    }
}
