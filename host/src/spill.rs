//! The spill store: what is too long for a model, whole, where it can be paged.
//!
//! Files are named by the SHA-256 of their content, mode 0600 in a folder of mode 0700, written to a temporary name and
//! renamed. A file goes after 24 hours. Beside each stands where it came from.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use crate::gate::{PortError, SpillStore};
use crate::model::{CallId, ToolName, hex};

/// How long a spilled output is kept.
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder of spilled outputs.
#[derive(Debug)]
pub struct FileSpill {
    folder: PathBuf,
}

impl FileSpill {
    /// Opens the store, making its folder where it is missing, and removes what is too old.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open(folder: &Path) -> std::io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let store = Self {
            folder: folder.to_owned(),
        };
        store.forget_old(SystemTime::now());
        Ok(store)
    }

    fn forget_old(&self, now: SystemTime) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            let age = modified
                .ok()
                .and_then(|modified| now.duration_since(modified).ok());
            if age.is_some_and(|age| age > RETENTION)
                && let Err(error) = fs::remove_file(entry.path())
            {
                tracing::warn!("an old spilled output stays: {error}");
            }
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.folder.join(name);
        let temporary = self
            .folder
            .join(format!("{name}.{}.tmp", uuid::Uuid::new_v4().simple()));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() && temporary.exists() {
            fs::remove_file(&temporary)?;
        }
        written.map(|()| path)
    }
}

impl SpillStore for FileSpill {
    fn put(&self, call: CallId, tool: &ToolName, text: &str) -> Result<PathBuf, PortError> {
        let digest = hex(&Sha256::digest(text.as_bytes()));
        let provenance = serde_json::json!({
            "call": call,
            "tool": tool,
            "sha256": digest,
            "time": jiff::Timestamp::now(),
        });
        self.write(&format!("{digest}.json"), provenance.to_string().as_bytes())
            .and_then(|_| self.write(&format!("{digest}.txt"), text.as_bytes()))
            .map_err(|error| PortError(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_kept_whole_and_forgotten_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileSpill::open(folder.path()).unwrap();
        let tool = ToolName::try_from("Read").unwrap();
        let path = store.put(CallId::new(), &tool, "all of it").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "all of it");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        store.forget_old(SystemTime::now() + RETENTION / 2);
        assert!(path.exists());
        store.forget_old(SystemTime::now() + 2 * RETENTION);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
