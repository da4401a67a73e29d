//! Files that only their owner may touch.
//!
//! Guarantees that a reader sees a file whole, as it was or as it is, and never a part of it: what is written goes to a
//! temporary file in the same folder, to the disk, and then takes the name. Owns the lock by which processes take turns.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

/// What temporary files end in.
pub(super) const TEMPORARY: &str = ".tmp";
/// How long another process's turn may last. A turn is a few small files; a process that was stopped in its turn must not
/// stop everybody.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the lock is tried meanwhile.
const EVERY: Duration = Duration::from_millis(5);

/// Makes a folder of mode 0700, or takes one that is there away from everybody else's eyes.
///
/// # Errors
/// It cannot be made; it belongs to somebody else, or others may write into it, so that what lies there proves nothing.
pub(super) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    let metadata = fs::metadata(path)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("the folder belongs to somebody else"));
    }
    match metadata.mode() & 0o077 {
        0 => Ok(()),
        others if others & 0o022 != 0 => Err(io::Error::other(
            "others may write into the folder: look at what lies there, then take the right away (chmod 700)",
        )),
        _ => fs::set_permissions(path, Permissions::from_mode(0o700)),
    }
}

/// One's turn; ends with the value, and with the process.
#[derive(Debug)]
pub(super) struct Turn {
    _lock: File,
}

impl Turn {
    /// Waits for a turn, at most 2 s.
    ///
    /// # Errors
    /// The lock file cannot be opened, or somebody else's turn does not end.
    pub(super) fn take(lock: &Path) -> io::Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags(OFlags::NOFOLLOW))
            .open(lock)?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _lock: file }),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(EVERY);
                }
                Err(TryLockError::WouldBlock) => {
                    let message = "another process has had its turn for more than 2 s";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, message));
                }
            }
        }
    }
}

/// Puts a file of mode 0600 in the place of whatever has the name.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = format!(".{}{TEMPORARY}", uuid::Uuid::new_v4().simple());
    let temporary = path.with_file_name(name);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path))
        .and_then(|()| sync_folder(path));
    if written.is_err()
        && let Err(error) = fs::remove_file(&temporary)
        && error.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!("{} stays: {error}", temporary.display());
    }
    written
}

/// Removes a file for good: it does not come back after a power cut.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path).and_then(|()| sync_folder(path))
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Reads a file of at most `most` bytes. `None`: there is none.
///
/// # Errors
/// It cannot be read, is a link or no regular file, or is longer.
pub(super) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags(OFlags::NOFOLLOW | OFlags::NONBLOCK))
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is longer than {most} bytes")));
    }
    Ok(Some(bytes))
}

/// Flags as the standard library takes them.
pub(super) fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn files_are_replaced_whole_and_private() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("a");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(read(&path, 3).unwrap().unwrap(), b"two");
        assert!(read(&path, 2).is_err());
        assert_eq!(mode(&path), 0o600);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
        remove(&path).unwrap();
        assert!(read(&path, 3).unwrap().is_none());
        fs::create_dir(&path).unwrap();
        assert!(read(&path, 3).is_err());
        assert!(replace(&path, b"three").is_err());
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
        let link = scratch.path().join("link");
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        assert!(read(&link, 1 << 20).is_err());
    }

    #[test]
    fn a_folder_that_others_may_write_into_is_refused() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("new/folder");
        folder(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        folder(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        fs::set_permissions(&path, Permissions::from_mode(0o770)).unwrap();
        assert!(folder(&path).unwrap_err().to_string().contains("chmod 700"));
    }

    #[test]
    fn turns_exclude_each_other() {
        let scratch = tempfile::tempdir().unwrap();
        let lock = scratch.path().join("lock");
        let turn = Turn::take(&lock).unwrap();
        let refused = Turn::take(&lock).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        drop(turn);
        Turn::take(&lock).unwrap();
    }
}
