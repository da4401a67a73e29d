//! What a host has of its own for its containers: their names, something empty to cover what is hidden, and a lock that tells
//! other hosts whether it lives.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::super::settings::SettingsError;
use super::mounts::Covers;

/// What the names of all containers and folders begin with that are made here.
pub(super) const PREFIX: &str = "toolgate-";
/// How long the id of a host is, characters.
const ID: usize = 32;
/// The file that a host holds a lock on as long as it lives.
const LOCK: &str = "lock";

/// See the module. Removed when it is dropped.
#[derive(Debug)]
pub(super) struct Home {
    id: String,
    folder: PathBuf,
    _lock: File,
}

impl Home {
    /// In a folder, or in the system's temporary one.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn new(parent: Option<&Path>) -> Result<Self, SettingsError> {
        let id = id();
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
        let folder = parent.join(format!("{PREFIX}{id}"));
        let made = || -> io::Result<File> {
            DirBuilder::new().mode(0o755).create(&folder)?;
            let lock = File::create_new(folder.join(LOCK))?;
            lock.lock()?;
            let covers = covers(&folder);
            DirBuilder::new().mode(0o555).create(covers.folder)?;
            File::create_new(covers.file)?;
            Ok(lock)
        };
        match made() {
            Ok(lock) => Ok(Self {
                id,
                folder,
                _lock: lock,
            }),
            Err(error) => Err(SettingsError::Container(format!(
                "needs a folder with something empty to cover what is hidden, and {} cannot be made: {error}",
                folder.display()
            ))),
        }
    }

    /// A name for a container of this host.
    pub(super) fn name(&self) -> String {
        format!("{PREFIX}{}-{}", self.id, id())
    }

    pub(super) fn covers(&self) -> Covers {
        covers(&self.folder)
    }

    /// Whether a container is of a host of this machine that has ended.
    pub(super) fn is_orphan(&self, name: &str) -> bool {
        let Some(host) = host_of(name).filter(|host| *host != self.id) else {
            return false;
        };
        self.folder_of(host).is_some_and(|folder| is_left(&folder))
    }

    /// Forgets the folder of the host that a container was of.
    pub(super) fn forget(&self, name: &str) {
        let folder = host_of(name).and_then(|host| self.folder_of(host));
        if let Some(folder) = folder.filter(|folder| is_left(folder)) {
            remove(&folder);
        }
    }

    fn folder_of(&self, host: &str) -> Option<PathBuf> {
        Some(self.folder.parent()?.join(format!("{PREFIX}{host}")))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

fn id() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

fn covers(folder: &Path) -> Covers {
    Covers {
        file: folder.join("file"),
        folder: folder.join("folder"),
    }
}

/// The host's id in the name of a container of ours.
fn host_of(name: &str) -> Option<&str> {
    let (host, own) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let is_id = |text: &str| text.len() == ID && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id(host) && is_id(own)).then_some(host)
}

/// Whether nobody holds the lock of a host's folder that is there.
fn is_left(folder: &Path) -> bool {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let lock = OpenOptions::new()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(folder.join(LOCK));
    lock.is_ok_and(|lock| lock.try_lock_shared().is_ok())
}

fn remove(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        tracing::debug!("{} stays: {error}", folder.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_ended_host_left_is_an_orphan() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(Some(folder.path())).unwrap();
        let other = Home::new(Some(folder.path())).unwrap();
        let ended = Home::new(Some(folder.path())).unwrap();
        let (own, of_other, left) = (home.name(), other.name(), ended.name());
        // As if it had been killed: the lock is gone, the folder is not.
        let kept = folder.path().join("kept");
        std::fs::rename(&ended.folder, &kept).unwrap();
        let place = ended.folder.clone();
        drop(ended);
        std::fs::rename(&kept, &place).unwrap();
        assert!(home.is_orphan(&left));
        let elsewhere = format!("{PREFIX}{}-{}", id(), id());
        for name in [&own, &of_other, &elsewhere, "toolgate-x-y", "other"] {
            assert!(!home.is_orphan(name), "{name}");
        }
        home.forget(&of_other);
        home.forget(&left);
        assert!(other.folder.exists() && !place.exists());
    }
}
