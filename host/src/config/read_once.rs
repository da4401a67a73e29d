//! Files, opened once: what was hashed is what is parsed.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::model::hex;

/// The largest configuration file, bytes.
const MAX_FILE: u64 = 1 << 20;
/// The largest program or component that trust binds, bytes.
const MAX_NAMED: u64 = 256 << 20;

/// Bytes that are hashed at a time.
const BLOCK: usize = 64 << 10;

/// A file's text and digest, from the same bytes.
#[derive(Clone, Debug)]
pub(super) struct Content {
    pub(super) text: String,
    /// SHA-256 of the exact bytes, hexadecimal.
    pub(super) digest: String,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    /// It is not there.
    Absent,
    /// It is there: what is wrong with it.
    Wrong(String),
}

/// Reads a configuration file that a person put there: a link to it is followed.
pub(super) fn config_file(path: &Path) -> Result<Content, Unusable> {
    let file = match rustix::fs::openat(CWD, path, FLAGS, Mode::empty()) {
        Ok(file) => File::from(file),
        // A link that leads nowhere is a file that somebody meant to be there.
        Err(Errno::NOENT) if path.is_symlink() => {
            return Err(Unusable::Wrong("is a link that leads nowhere".to_owned()));
        }
        Err(errno) => return Err(unusable(errno)),
    };
    content(file)
}

/// Reads a configuration file below a workspace, which may be anybody's: no link below the workspace is followed.
pub(super) fn workspace_file(workspace: &Path, below: &str) -> Result<Content, Unusable> {
    let folder_flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder =
        rustix::fs::openat(CWD, workspace, folder_flags, Mode::empty()).map_err(unusable)?;
    let (folders, name) = below.rsplit_once('/').unwrap_or(("", below));
    for step in folders.split('/').filter(|step| !step.is_empty()) {
        let flags = folder_flags | OFlags::NOFOLLOW;
        folder = match rustix::fs::openat(&folder, step, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::LOOP | Errno::NOTDIR) if workspace.join(below).exists() => {
                let what = format!("stands behind the link '{step}', which is not followed");
                return Err(Unusable::Wrong(what));
            }
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(Unusable::Absent),
            Err(errno) => return Err(unusable(errno)),
        };
    }
    match rustix::fs::openat(&folder, name, FLAGS | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(file) => content(File::from(file)),
        Err(Errno::LOOP) => Err(Unusable::Wrong(
            "is a link, which is not followed".to_owned(),
        )),
        Err(errno) => Err(unusable(errno)),
    }
}

/// Digest of a file that a configuration names, through links; none: there is no such file.
pub(super) fn digest(path: &Path) -> Result<Option<String>, String> {
    let said = |error: std::io::Error| format!("cannot be read: {error}");
    let file = match rustix::fs::openat(CWD, path, FLAGS, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(errno) => return Err(said(errno.into())),
    };
    regular(&file)?;
    let mut hasher = Sha256::new();
    let mut read = 0_u64;
    let mut bounded = BufReader::with_capacity(BLOCK, file.take(MAX_NAMED + 1));
    loop {
        let block = bounded.fill_buf().map_err(said)?;
        let length = block.len();
        if length == 0 {
            break;
        }
        hasher.update(block);
        bounded.consume(length);
        read += length as u64;
    }
    if read > MAX_NAMED {
        return Err(format!("is larger than {} MiB", MAX_NAMED >> 20));
    }
    Ok(Some(hex(&hasher.finalize())))
}

/// Digest of bytes that were read.
pub(super) fn digest_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Never blocks on a pipe, never becomes our terminal.
const FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

fn unusable(errno: Errno) -> Unusable {
    match errno {
        Errno::NOENT | Errno::NOTDIR => Unusable::Absent,
        _ => Unusable::Wrong(format!("cannot be read: {}", std::io::Error::from(errno))),
    }
}

fn regular(file: &File) -> Result<(), String> {
    let stat = rustix::fs::fstat(file)
        .map_err(|errno| format!("cannot be read: {}", std::io::Error::from(errno)))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err("is a directory, not a file".to_owned()),
        _ => Err("is no regular file".to_owned()),
    }
}

fn content(file: File) -> Result<Content, Unusable> {
    regular(&file).map_err(Unusable::Wrong)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Unusable::Wrong(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(Unusable::Wrong(format!(
            "is larger than {} MiB",
            MAX_FILE >> 20
        )));
    }
    let digest = hex(&Sha256::digest(&bytes));
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Content { text, digest }),
        Err(error) => Err(Unusable::Wrong(format!(
            "is not UTF-8 (byte {})",
            error.utf8_error().valid_up_to()
        ))),
    }
}
