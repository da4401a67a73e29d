//! The state directory: whose it is, and how its files are opened.
//!
//! What lies there is believed: which files are trusted, what a person said "always" to. So one function looks at it for
//! everybody, and refuses a directory or a file that anybody else could have written. Never contains what the files mean.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Files of the directory that are believed.
const BELIEVED: [&str; 2] = ["trusted.json", "standing.json"];
/// Rights of others to write.
const OTHERS_WRITE: u32 = 0o022;

/// Why the state directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the state directory cannot be used: '{}' {what}", .path.display())]
pub struct StateError {
    /// The directory, or the file in it.
    pub path: PathBuf,
    /// What is wrong, and what to do.
    pub what: String,
}

/// Looks at a state directory and at the files in it that are believed. One that is not there yet is in order.
///
/// # Errors
/// Somebody else owns one of them, others may write to it, or it is no directory or no regular file.
pub fn check(folder: &Path) -> Result<(), StateError> {
    let wrong = |path: &Path, what: String| StateError {
        path: path.to_owned(),
        what,
    };
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(wrong(folder, format!("cannot be read: {error}"))),
        Ok(found) if !found.is_dir() => {
            return Err(wrong(folder, "is no directory".to_owned()));
        }
        Ok(found) => {
            ours(&found, folder, "700").map_err(|what| wrong(folder, what))?;
        }
    }
    for name in BELIEVED {
        let file = folder.join(name);
        match fs::symlink_metadata(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(wrong(&file, format!("cannot be read: {error}"))),
            Ok(found) if !found.is_file() => {
                return Err(wrong(&file, "is no regular file: remove it".to_owned()));
            }
            Ok(found) => ours(&found, &file, "600").map_err(|what| wrong(&file, what))?,
        }
    }
    Ok(())
}

/// The same, and makes the directory (mode 0700) where there is none.
///
/// # Errors
/// As for [`check`], or it cannot be made.
pub fn open(folder: &Path) -> Result<(), StateError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| StateError {
            path: folder.to_owned(),
            what: format!("cannot be made: {error}"),
        })?;
    check(folder)
}

/// Reads a believed file of at most `most` bytes. `None`: there is none.
///
/// # Errors
/// It cannot be read, is a link or no regular file, is not ours alone, or is longer.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    ours(&found, path, "600").map_err(|what| io::Error::other(format!("it {what}")))?;
    whole(file, most).map(Some)
}

/// Reads a file that may be anybody's, of at most `most` bytes. `None`: there is none.
///
/// # Errors
/// It cannot be read, is no regular file, or is longer.
pub(crate) fn read_any(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    whole(file, most).map(Some)
}

fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("it is longer than {most} bytes"))),
        false => Ok(bytes),
    }
}

/// A file of ours alone, opened for writing: mode 0600, never behind a link.
pub(crate) fn create(path: &Path, truncate: bool) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(truncate)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}

fn ours(found: &fs::Metadata, path: &Path, mode: &str) -> Result<(), String> {
    let user = rustix::process::geteuid().as_raw();
    if found.uid() != user {
        return Err(format!(
            "belongs to the user {}, not to you ({user}), so that what it holds proves nothing: name another \
             directory with --state",
            found.uid()
        ));
    }
    if found.mode() & OTHERS_WRITE != 0 {
        return Err(format!(
            "can be written by others: look at what it holds, then take the right away with chmod {mode} '{}'",
            path.display()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_others_may_write_is_not_believed() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("a/state");
        check(&folder).unwrap();
        open(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        for mode in [0o770, 0o702, 0o777] {
            set(&folder, mode);
            let said = check(&folder).unwrap_err().to_string();
            assert!(said.contains("chmod 700"), "{said}");
        }
        set(&folder, 0o755);
        open(&folder).unwrap();
        for name in BELIEVED {
            let file = folder.join(name);
            fs::write(&file, "{}").unwrap();
            set(&file, 0o666);
            let said = check(&folder).unwrap_err().to_string();
            assert!(said.contains(name) && said.contains("chmod 600"), "{said}");
            assert!(read(&file, 10).is_err());
            set(&file, 0o644);
            open(&folder).unwrap();
            assert_eq!(read(&file, 2).unwrap().unwrap(), b"{}");
            assert!(read(&file, 1).is_err());
            fs::remove_file(&file).unwrap();
            symlink("/etc/hostname", &file).unwrap();
            let said = check(&folder).unwrap_err().to_string();
            assert!(said.contains("no regular file"), "{said}");
            assert!(read(&file, 1 << 20).is_err());
            assert!(create(&file, false).is_err());
            fs::remove_file(&file).unwrap();
        }
    }

    #[test]
    fn what_somebody_else_owns_is_not_believed() {
        if rustix::process::geteuid().is_root() {
            let scratch = tempfile::tempdir().unwrap();
            std::os::unix::fs::chown(scratch.path(), Some(65_534), None).unwrap();
            let said = check(scratch.path()).unwrap_err().to_string();
            assert!(said.contains("belongs to the user 65534"), "{said}");
        } else {
            let said = check(Path::new("/")).unwrap_err().to_string();
            assert!(said.contains("belongs to the user 0"), "{said}");
        }
    }
}
