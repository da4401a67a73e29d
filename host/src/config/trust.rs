//! Which workspace files a person trusts: bound to their bytes and to what they name, kept outside of the workspace.
//!
//! What protects the store is its place and its mode (0600, in the state directory, which no tool writes to).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::bound::unchanged;
use super::read_once;
use super::workspace::{Preview, WorkspaceFile};
use crate::state;

/// The form of the store. Another one is refused rather than guessed at.
const VERSION: u32 = 1;
/// Its name in the state directory.
const NAME: &str = "trusted.json";
/// The most bytes of it.
const MAX_FILE: u64 = 8 << 20;

/// See the module.
#[derive(Debug)]
pub struct TrustStore {
    file: PathBuf,
    files: BTreeMap<PathBuf, Trusted>,
}

/// A file as a person trusted it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trusted {
    /// SHA-256 of its exact bytes, hexadecimal.
    pub sha256: String,
    /// When.
    pub trusted_at: Timestamp,
    /// What it names inside the workspace, and what that was.
    pub named: BTreeMap<PathBuf, String>,
}

impl Trusted {
    /// Whether a file, and what it names, is still what it was.
    pub fn is_still(&self, file: &Path) -> bool {
        let same = read_once::digest(file).is_ok_and(|now| now.as_deref() == Some(&*self.sha256));
        same && unchanged(&self.named).is_ok()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    files: BTreeMap<PathBuf, Trusted>,
}

impl TrustStore {
    /// The store in a state directory. Where there is none yet, nothing is trusted.
    ///
    /// # Errors
    /// It cannot be read or understood, or anybody else may have written it.
    pub fn open(state: &Path) -> Result<Self, ConfigError> {
        believed(state)?;
        let file = state.join(NAME);
        let files = read(&file)?;
        Ok(Self { file, files })
    }

    /// A file as it was trusted.
    pub fn get(&self, file: &Path) -> Option<&Trusted> {
        self.files.get(file)
    }

    /// All of them, by path.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &Trusted)> {
        let files = self.files.iter();
        files.map(|(file, trusted)| (file.as_path(), trusted))
    }

    /// Trusts a file: the bytes that were read, and what they name as it was when `preview` was made. It holds of exactly
    /// what the person was shown.
    ///
    /// # Errors
    /// It was not kept.
    pub fn trust(&mut self, file: &WorkspaceFile, preview: &Preview) -> Result<(), ConfigError> {
        let Some(digest) = file.digest() else {
            return Err(self.wrong(format!("'{}' cannot be used", file.file.display())));
        };
        let trusted = Trusted {
            sha256: digest.to_owned(),
            trusted_at: Timestamp::now(),
            named: preview.config.bound.clone(),
        };
        self.change(|files| files.insert(file.file.clone(), trusted))?;
        Ok(())
    }

    /// Trusts a file no longer. False: it was not trusted.
    ///
    /// # Errors
    /// It was not kept.
    pub fn forget(&mut self, file: &Path) -> Result<bool, ConfigError> {
        let forgotten = self.change(|files| files.remove(file))?;
        Ok(forgotten.is_some())
    }

    /// Changes the store as it is now, which another process may have changed too.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut BTreeMap<PathBuf, Trusted>) -> T,
    ) -> Result<T, ConfigError> {
        let failed = |error: std::io::Error| self.wrong(format!("cannot be written: {error}"));
        let folder = self.file.parent().unwrap_or(Path::new("."));
        state::open(folder).map_err(of_state)?;
        let lock = state::create(&self.file.with_extension("lock"), false).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut files = read(&self.file)?;
        let changed = change(&mut files);
        let stored = Stored {
            version: VERSION,
            files,
        };
        let text = serde_json::to_vec_pretty(&stored)
            .map_err(|error| self.wrong(format!("cannot be written: {error}")))?;
        replace(&self.file, &text).map_err(failed)?;
        self.files = stored.files;
        Ok(changed)
    }

    fn wrong(&self, what: String) -> ConfigError {
        ConfigError {
            file: self.file.clone(),
            line: 0,
            what,
        }
    }
}

fn read(file: &Path) -> Result<BTreeMap<PathBuf, Trusted>, ConfigError> {
    let wrong = |what: String| ConfigError {
        file: file.to_owned(),
        line: 0,
        what,
    };
    let bytes = match state::read(file, MAX_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(BTreeMap::new()),
        Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
    };
    let unknown = |said: String| {
        wrong(format!(
            "is not a list of trusted files that this version knows: {said}. Remove it and trust anew with \
             'toolgate trust'"
        ))
    };
    let stored: Stored =
        serde_json::from_slice(&bytes).map_err(|error| unknown(error.to_string()))?;
    if stored.version != VERSION {
        return Err(unknown(format!("its version is {}", stored.version)));
    }
    Ok(stored.files)
}

/// The state directory is one that can be believed.
fn believed(folder: &Path) -> Result<(), ConfigError> {
    state::check(folder).map_err(of_state)
}

fn of_state(error: state::StateError) -> ConfigError {
    ConfigError {
        what: format!("cannot be used: it {}", error.what),
        file: error.path,
        line: 0,
    }
}

/// Puts a new content into a file's place, whole or not at all. The caller holds the lock.
fn replace(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let beside = file.with_extension("new");
    // Ours, since the folder is; a link there is not written through.
    let mut new = state::create(&beside, true)?;
    new.write_all(content)?;
    new.sync_all()?;
    std::fs::rename(&beside, file)?;
    if let Some(folder) = file.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}
