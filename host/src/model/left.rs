//! What a call leaves behind, kept while it runs: so that the record of a call that was given up says what it had done.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::outcome::{CommandUse, FileUse};
use super::request_use::RequestUse;

/// What the host itself noted of one call. Shared by the record and by what runs the call.
#[derive(Debug, Default)]
pub struct Left {
    uses: Mutex<Uses>,
    told: AtomicUsize,
}

#[derive(Debug, Default)]
struct Uses {
    files: Vec<FileUse>,
    commands: Vec<CommandUse>,
    requests: Vec<RequestUse>,
}

impl Left {
    /// Leaves what was not reported in the ordinary way.
    pub fn leave(&self, mut files: Vec<FileUse>, mut commands: Vec<CommandUse>) {
        let mut uses = self.uses();
        uses.files.append(&mut files);
        uses.commands.append(&mut commands);
    }

    /// Leaves requests that were not reported in the ordinary way.
    pub fn leave_requests(&self, mut requests: Vec<RequestUse>) {
        self.uses().requests.append(&mut requests);
    }

    /// Takes the requests that were left.
    pub fn take_requests(&self) -> Vec<RequestUse> {
        std::mem::take(&mut self.uses().requests)
    }

    /// Takes all else that was left.
    pub fn take(&self) -> (Vec<FileUse>, Vec<CommandUse>) {
        let mut uses = self.uses();
        (
            std::mem::take(&mut uses.files),
            std::mem::take(&mut uses.commands),
        )
    }

    /// The host's own shell told a text of so many characters, cut by it where the output was too long.
    pub fn told(&self, characters: usize) {
        self.told.fetch_max(characters, Ordering::Relaxed);
    }

    /// The longest text that the host's own shell told in this call, characters.
    pub fn longest_told(&self) -> usize {
        self.told.load(Ordering::Relaxed)
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        // Nothing that holds the lock can panic in the middle of a change.
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
