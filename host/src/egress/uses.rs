//! Evidence: the requests of one call, as they go on.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

use super::error::EgressError;
use crate::model::{RequestUse, hex};

/// The most requests of a call.
pub const MAX_REQUESTS: usize = 1_000;
/// The most open requests of a call.
const MAX_OPEN: usize = 32;
/// The most of a URL that a record quotes, bytes.
const MAX_URL: usize = 2_048;

/// The requests of a call. Cheap to clone: all clones are one list.
#[derive(Clone, Debug)]
pub struct RequestUses {
    list: Arc<Mutex<List>>,
    open: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct List {
    entries: Vec<Entry>,
    /// Where redirects led that servers of this call answered with.
    redirects: HashSet<String>,
}

#[derive(Debug)]
struct Entry {
    request: RequestUse,
    digest: Option<Sha256>,
    begun: Instant,
    ended: bool,
}

impl Default for RequestUses {
    fn default() -> Self {
        Self {
            list: Arc::default(),
            open: Arc::new(Semaphore::new(MAX_OPEN)),
        }
    }
}

impl RequestUses {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// The requests so far, at most [`MAX_REQUESTS`]. What is still open stands there as far as it came.
    pub fn taken(&self) -> Vec<RequestUse> {
        let list = self.lock();
        list.entries.iter().map(Entry::snapshot).collect()
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new line, and leave to have one more request open.
    pub(super) fn begin(&self, method: &str, url: &str) -> Result<Note, EgressError> {
        let mut list = self.lock();
        if list.entries.len() >= MAX_REQUESTS {
            return Err(EgressError::TooManyRequests {
                limit: MAX_REQUESTS,
            });
        }
        list.entries.push(Entry {
            request: RequestUse {
                method: method.chars().take(32).collect(),
                url: without_values(url),
                address: None,
                status: None,
                sent: 0,
                received: 0,
                body_sha256: None,
                complete: false,
                secrets: Vec::new(),
                failure: None,
                ms: 0,
            },
            digest: None,
            begun: Instant::now(),
            ended: false,
        });
        let at = list.entries.len() - 1;
        drop(list);
        let open = Arc::clone(&self.open).try_acquire_owned();
        let mut note = Note {
            list: Some((self.clone(), at)),
            open: None,
        };
        match open {
            Ok(permit) => note.open = Some(permit),
            Err(_) => {
                let error = EgressError::TooManyOpen { limit: MAX_OPEN };
                note.failed(&error);
                return Err(error);
            }
        }
        Ok(note)
    }

    /// A line for a request that never came to the connector.
    pub(crate) fn refused(&self, method: &str, url: &str, error: &EgressError) {
        if let Ok(note) = self.begin(method, url) {
            note.failed(error);
        }
    }

    pub(super) fn redirects_to(&self, url: &str) -> bool {
        self.lock().redirects.contains(url)
    }

    pub(super) fn add_redirect(&self, url: String) {
        let mut list = self.lock();
        if list.redirects.len() < MAX_REQUESTS {
            list.redirects.insert(url);
        }
    }
}

impl Entry {
    fn snapshot(&self) -> RequestUse {
        let mut request = self.request.clone();
        if let Some(digest) = &self.digest {
            request.body_sha256 = Some(hex(&digest.clone().finalize()));
        }
        if !self.ended {
            request.ms = millis(self.begun);
        }
        request
    }
}

fn millis(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The line of one request. Dropping it ends the line.
#[derive(Debug, Default)]
pub(super) struct Note {
    list: Option<(RequestUses, usize)>,
    open: Option<OwnedSemaphorePermit>,
}

impl Note {
    fn with(&self, change: impl FnOnce(&mut Entry)) {
        if let Some((uses, at)) = &self.list
            && let Some(entry) = uses.lock().entries.get_mut(*at)
        {
            change(entry);
        }
    }

    pub(super) fn failed(&self, error: &EgressError) {
        self.with(|entry| {
            entry
                .request
                .failure
                .get_or_insert_with(|| error.to_string());
        });
    }

    pub(super) fn put_in(&self, secrets: Vec<String>) {
        self.with(|entry| entry.request.secrets = secrets);
    }

    pub(super) fn dialled(&self, address: SocketAddr) {
        self.with(|entry| entry.request.address = Some(address));
    }

    pub(super) fn answered(&self, status: u16) {
        self.with(|entry| {
            entry.request.status = Some(status);
            entry.digest = Some(Sha256::new());
        });
    }

    /// A counter for what is sent, which outlives this line's owner.
    pub(super) fn sender(&self) -> SentNote {
        SentNote(self.list.clone())
    }

    pub(super) fn received(&self, bytes: &[u8]) {
        self.with(|entry| {
            entry.request.received += bytes.len() as u64;
            if let Some(digest) = &mut entry.digest {
                digest.update(bytes);
            }
        });
    }

    pub(super) fn complete(&self) {
        self.with(|entry| entry.request.complete = true);
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.with(|entry| {
            entry.ended = true;
            entry.request.ms = millis(entry.begun);
        });
        self.open = None;
    }
}

/// Counts bytes of a request's body.
#[derive(Debug)]
pub(super) struct SentNote(Option<(RequestUses, usize)>);

impl SentNote {
    pub(super) fn sent(&self, bytes: u64) {
        if let Some((uses, at)) = &self.0
            && let Some(entry) = uses.lock().entries.get_mut(*at)
        {
            entry.request.sent += bytes;
        }
    }
}

/// The URL as records and messages may hold it: names of the query without their values, no user, no fragment.
fn without_values(text: &str) -> String {
    let Ok(mut url) = Url::parse(text) else {
        return "(no URL)".to_owned();
    };
    url.set_fragment(None);
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return "(no URL)".to_owned();
    }
    let names: Vec<String> = url
        .query_pairs()
        .map(|(name, _)| format!("{}=…", crate::model::visible(&name)))
        .collect();
    url.set_query(None);
    let mut shown = url.to_string();
    if !names.is_empty() {
        shown = format!("{shown}?{}", names.join("&"));
    }
    let end = (0..=shown.len().min(MAX_URL))
        .rev()
        .find(|end| shown.is_char_boundary(*end));
    shown.truncate(end.unwrap_or(0));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_holds_no_value_of_a_query() {
        for (url, shown) in [
            ("https://a.b/c?key=SECRET&x=1#f", "https://a.b/c?key=…&x=…"),
            ("https://user:SECRET@a.b/", "https://a.b/"),
            ("https://a.b/", "https://a.b/"),
            ("nonsense SECRET", "(no URL)"),
        ] {
            assert_eq!(without_values(url), shown);
        }
        assert!(without_values(&format!("https://a.b/{}", "é".repeat(4_000))).len() <= MAX_URL);
    }

    #[test]
    fn a_call_has_its_share_and_no_more() {
        let uses = RequestUses::new();
        let open: Vec<Note> = (0..MAX_OPEN)
            .map(|_| uses.begin("GET", "https://a.b/").unwrap())
            .collect();
        let refused = uses.begin("GET", "https://a.b/").unwrap_err();
        assert_eq!(refused, EgressError::TooManyOpen { limit: MAX_OPEN });
        drop(open);
        for _ in 0..MAX_REQUESTS - MAX_OPEN - 1 {
            uses.begin("GET", "https://a.b/").unwrap();
        }
        let refused = uses.begin("GET", "https://a.b/").unwrap_err();
        assert_eq!(
            refused,
            EgressError::TooManyRequests {
                limit: MAX_REQUESTS
            }
        );
        let taken = uses.taken();
        assert_eq!(taken.len(), MAX_REQUESTS);
        assert!(taken[MAX_OPEN].failure.is_some());
    }
}
