//! What the session has read: a fingerprint of each file, so that an edit of a file that changed since is noticed by its
//! content, not by its times.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::{Xxh3, xxh3_128_with_seed};

/// The most files that are remembered; the oldest is forgotten first.
const MAX_FILES: usize = 4_096;

/// See the module. One for each session.
#[derive(Debug)]
pub struct ReadLedger {
    /// Drawn for each process: who cannot know it cannot make two contents look alike.
    seed: u64,
    seen: Mutex<Seen>,
    turn: Mutex<()>,
}

#[derive(Debug, Default)]
struct Seen {
    fingerprints: HashMap<PathBuf, (u128, u64)>,
    clock: u64,
}

impl ReadLedger {
    /// An empty ledger.
    pub fn new() -> Self {
        let (seed, _) = uuid::Uuid::new_v4().as_u64_pair();
        Self {
            seed,
            seen: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    /// The same, step by step.
    pub(super) fn hasher(&self) -> Xxh3 {
        Xxh3::with_seed(self.seed)
    }

    /// Whoever replaces a file holds this while it looks for the last time and renames.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names a content towards `replace`.
    pub(super) fn fingerprint(&self, bytes: &[u8]) -> u128 {
        xxh3_128_with_seed(bytes, self.seed)
    }

    /// Remembers what a file held.
    pub(super) fn record(&self, path: &Path, fingerprint: u128) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clock += 1;
        let now = seen.clock;
        if seen.fingerprints.len() >= MAX_FILES && !seen.fingerprints.contains_key(path) {
            let oldest = seen.fingerprints.iter().min_by_key(|(_, (_, at))| *at);
            if let Some(oldest) = oldest.map(|(path, _)| path.clone()) {
                seen.fingerprints.remove(&oldest);
            }
        }
        seen.fingerprints
            .insert(path.to_owned(), (fingerprint, now));
    }

    /// Whether the session has read the file and it holds something else now.
    pub(super) fn changed(&self, path: &Path, fingerprint: u128) -> bool {
        self.last(path).is_some_and(|last| last != fingerprint)
    }

    /// What the session last saw in the file.
    pub(super) fn last(&self, path: &Path) -> Option<u128> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.fingerprints
            .get(path)
            .map(|(fingerprint, _)| *fingerprint)
    }
}

impl Default for ReadLedger {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_hash_agree() {
        let ledger = ReadLedger::new();
        let bytes: Vec<u8> = (0..300_000_u32).map(|number| number as u8).collect();
        let mut hasher = ledger.hasher();
        bytes.chunks(7_777).for_each(|part| hasher.update(part));
        assert_eq!(hasher.digest128(), ledger.fingerprint(&bytes));
    }

    #[test]
    fn changes_are_seen_by_content_and_memory_is_bounded() {
        let ledger = ReadLedger::new();
        let (old, new) = (ledger.fingerprint(b"aaaa"), ledger.fingerprint(b"bbbb"));
        assert!(!ledger.changed(Path::new("/a"), new));
        ledger.record(Path::new("/a"), old);
        assert!(!ledger.changed(Path::new("/a"), old));
        assert!(ledger.changed(Path::new("/a"), new));
        for index in 0..MAX_FILES {
            ledger.record(&PathBuf::from(format!("/{index}")), old);
        }
        assert!(!ledger.changed(Path::new("/a"), new));
    }
}
