//! The calls of a server that are under way: how many there may be, and how they end with it.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long calls may go on when the client has gone: long enough for one that is about to answer.
pub(super) const GRACE: Duration = Duration::from_millis(800);
/// How long calls that were ended may take to be gone.
const LAST: Duration = Duration::from_millis(300);

/// See the module.
#[derive(Debug)]
pub(super) struct Calls {
    tracker: TaskTracker,
    over: CancellationToken,
    slots: Semaphore,
}

impl Calls {
    pub(super) fn new(most: usize) -> Self {
        Self {
            tracker: TaskTracker::new(),
            over: CancellationToken::new(),
            slots: Semaphore::new(most),
        }
    }

    /// A call that the end of the server waits for.
    pub(super) async fn track<T>(&self, call: impl Future<Output = T>) -> T {
        self.tracker.track_future(call).await
    }

    /// Waits for a turn. `None`: the server ends.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        tokio::select! {
            turn = self.slots.acquire() => turn.ok(),
            () = self.over.cancelled() => None,
        }
    }

    /// Resolves when calls are ended.
    pub(super) async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Ends all calls after `grace`, at once where there are none, and waits until they are gone.
    pub(super) async fn end(&self, grace: Duration) {
        self.tracker.close();
        if !grace.is_zero()
            && tokio::time::timeout(grace, self.tracker.wait())
                .await
                .is_ok()
        {
            self.over.cancel();
            return;
        }
        self.over.cancel();
        if tokio::time::timeout(LAST, self.tracker.wait())
            .await
            .is_err()
        {
            tracing::warn!("{} calls did not end in time", self.tracker.len());
        }
    }
}
