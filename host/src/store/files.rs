//! Files of the store: read bounded, written whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::StoreError;
use crate::model::hex;
use crate::state;

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A file of the store; none where there is none.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
    state::read(path, most).map_err(|error| StoreError::file(path, error))
}

/// Puts a content into a file's place. After a crash there is the old one or the new one.
pub(super) fn replace(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let failed = |error: io::Error| StoreError::file(path, error);
    let new = new_beside(path);
    let written = (|| {
        let mut file = state::create(&new, true)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        match path.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    })();
    if written.is_err() {
        let removed = fs::remove_file(&new);
        tracing::trace!(?removed, "an unfinished file");
    }
    written.map_err(failed)
}

fn new_beside(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.new", uuid::Uuid::now_v7()))
}

/// The line, from 1, of a place in a text.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or(text);
    before.bytes().filter(|byte| *byte == b'\n').count() + 1
}
