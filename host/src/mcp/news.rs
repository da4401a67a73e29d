//! Changes of the list of tools, on their way to clients.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::Peer;
use tokio::sync::watch;

use super::server::Shared;

/// How long a change may be followed by others that are told with it.
const SETTLE: Duration = Duration::from_millis(50);
/// How often it is looked whether a client is still there.
const LOOK: Duration = Duration::from_secs(30);

/// What changed since somebody began to listen.
#[derive(Debug)]
pub(super) struct News {
    changes: watch::Receiver<u64>,
    /// A change was seen and not told yet.
    untold: bool,
}

impl News {
    pub(super) fn new(changes: watch::Receiver<u64>) -> Self {
        let untold = false;
        Self { changes, untold }
    }

    /// Resolves when the list is another one. Giving up waiting loses nothing.
    pub(super) async fn next(&mut self) {
        if !self.untold && self.changes.changed().await.is_err() {
            // There is no host any more, so nothing changes.
            std::future::pending::<()>().await;
        }
        self.untold = true;
        tokio::time::sleep(SETTLE).await;
        self.changes.mark_unchanged();
        self.untold = false;
    }
}

/// Tells a client for as long as its session lasts.
pub(super) async fn tell(shared: Arc<Shared>, peer: Peer<RoleServer>) {
    let mut news = shared.news();
    loop {
        let told = tokio::select! {
            () = shared.calls.over() => return,
            () = news.next() => peer.notify_tool_list_changed().await.is_ok(),
            () = tokio::time::sleep(LOOK) => !peer.is_transport_closed(),
        };
        if !told {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn changes_in_a_row_are_one_and_none_is_lost() {
        let (sender, changes) = watch::channel(0);
        let mut news = News::new(changes);
        let mut soon = async || {
            let wait = Duration::from_secs(5);
            tokio::time::timeout(wait, news.next()).await.is_ok()
        };
        sender.send_replace(1);
        sender.send_replace(2);
        assert!(soon().await);
        sender.send_replace(3);
        // Giving up right after the change was seen.
        let first = tokio::time::timeout(SETTLE / 5, soon()).await;
        assert!(first.is_err());
        assert!(soon().await);
        let none = tokio::time::timeout(4 * SETTLE, soon()).await;
        assert!(none.is_err());
    }
}
