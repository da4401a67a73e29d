//! Calls that run, and the end of all of them.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// The calls of one chain.
#[derive(Debug, Default)]
pub(super) struct Running {
    over: CancellationToken,
    calls: TaskTracker,
}

impl Running {
    /// Counts a call until what is given is dropped.
    pub(super) fn enter(&self) -> TaskTrackerToken {
        self.calls.token()
    }

    /// What comes of a call, or none where the end came first: the call is dropped.
    pub(super) async fn unless_over<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.over.cancelled() => None,
            end = call => Some(end),
        }
    }

    /// Ends every call, now and from now on, and waits until each has left.
    pub(super) async fn end(&self) {
        self.over.cancel();
        self.calls.close();
        self.calls.wait().await;
    }
}
