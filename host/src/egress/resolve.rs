//! Looking up names.

use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Semaphore;

/// Looks up names, once for each request. Addresses are judged by whoever asked.
#[async_trait]
pub trait Resolve: Debug + Send + Sync {
    /// All addresses of a name, in the order in which they are tried.
    ///
    /// # Errors
    /// The name has none, or cannot be looked up now.
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The most look-ups at once: each holds a thread until the system answers.
const MAX_LOOKUPS: usize = 32;

/// The system's resolver.
#[derive(Clone, Debug)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self {
            lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)),
        }
    }
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let permit = Arc::clone(&self.lookups)
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let host = host.to_owned();
        let look_up = move || {
            // Held by the thread, not by whoever waits: who gives up does not free it.
            let _permit = permit;
            let found = (host.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        };
        tokio::task::spawn_blocking(look_up)
            .await
            .map_err(io::Error::other)?
    }
}
