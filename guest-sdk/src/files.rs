//! Files, through the same view and the same judge as `std::fs` has in a tool, with the primitives that file tools need.
//!
//! Paths are the host's own absolute paths, or relative ones, which stand on the workspace root. Every path is opened
//! first and judged on the opened handle. Links are followed for reading and never out of the view. What a tool can
//! reach is what it was granted, which may be nothing.
//!
//! The functions need a host: natively they panic. Unit tests call what works on the bytes.

mod error;
mod search;

use crate::bindings::toolgate::files::files as wit;

pub use error::{Error, ErrorCode};
pub use search::{
    Batch, Chunk, Entry, EntryKind, Scanner, Selection, WalkSummary, Walker, scan, walk,
};

/// Largest offset that the border carries exactly, bytes.
const MAX_OFFSET: u64 = 1 << 53;

/// What is known of an opened file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// The resolved path of the opened file: another one than asked for where a link was followed.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// Unix permission bits, such as `0o644`; 0 where there are none.
    pub mode: u32,
}

/// An opened regular file.
#[derive(Debug)]
pub struct File {
    handle: wit::File,
}

impl File {
    /// What is known of it.
    #[must_use]
    pub fn info(&self) -> Info {
        self.handle.info().into()
    }

    /// At most `max` bytes from `offset`; at most 1 MiB whatever `max` says. Empty at the end of the file.
    ///
    /// # Errors
    /// [`ErrorCode::Io`] and the like; [`ErrorCode::Invalid`] for an offset above 2^53.
    pub fn read(&self, offset: u64, max: u32) -> Result<Vec<u8>, Error> {
        Ok(self.handle.read(to_border(offset)?, max)?)
    }
}

/// A whole file as one read saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The file.
    pub info: Info,
    /// Its bytes.
    pub data: Vec<u8>,
    /// Names these bytes towards [`replace`]. Valid within one host process.
    pub fingerprint: String,
    /// The session has read this file before, and its bytes are other ones now.
    pub changed_since_read: bool,
}

/// What a target of [`replace`] must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Anything, unless the session has read it and it changed since ([`ErrorCode::Changed`]).
    Any,
    /// It must not exist ([`ErrorCode::Exists`]).
    Absent,
    /// Its bytes must still be those with this fingerprint ([`ErrorCode::Changed`]).
    Matches(String),
}

/// What [`replace`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The resolved path that was written.
    pub path: String,
    /// No file was there before.
    pub created: bool,
}

/// Opens a regular file without ever waiting for one.
///
/// # Errors
/// [`ErrorCode::NotFound`], [`ErrorCode::Refused`], [`ErrorCode::IsDirectory`], [`ErrorCode::NotRegular`] and others.
pub fn open_regular(path: &str) -> Result<File, Error> {
    Ok(File {
        handle: wit::open_regular(path)?,
    })
}

/// Reads a whole regular file of at most `max` bytes.
///
/// # Errors
/// [`ErrorCode::TooLarge`] over `max`, and those of [`open_regular`].
pub fn read_all(path: &str, max: u32) -> Result<Contents, Error> {
    let contents = wit::read_all(path, max)?;
    Ok(Contents {
        info: contents.info.into(),
        data: contents.data,
        fingerprint: contents.fingerprint,
        changed_since_read: contents.changed_since_read,
    })
}

/// Writes a file in one step: a temporary file in the same directory, mode and owner kept, flushed, the condition
/// checked again, renamed. Missing parent directories are made, and removed again when the write fails. Whatever
/// happens, the target holds either all the old bytes or all the new ones.
///
/// # Errors
/// [`ErrorCode::Changed`] or [`ErrorCode::Exists`] where the condition does not hold, [`ErrorCode::Refused`],
/// [`ErrorCode::ReadOnly`], [`ErrorCode::NoSpace`] and others.
pub fn replace(path: &str, condition: Condition, data: &[u8]) -> Result<Replaced, Error> {
    let condition = match condition {
        Condition::Any => wit::Condition::Any,
        Condition::Absent => wit::Condition::Absent,
        Condition::Matches(fingerprint) => wit::Condition::Matches(fingerprint),
    };
    let replaced = wit::replace(path, &condition, data)?;
    Ok(Replaced {
        path: replaced.path,
        created: replaced.created,
    })
}

impl From<wit::Info> for Info {
    fn from(info: wit::Info) -> Self {
        Self {
            path: info.path,
            size: from_border(info.size),
            mode: info.mode,
        }
    }
}

/// A size or offset as the border carries it: a whole number in an `f64`.
fn to_border(offset: u64) -> Result<f64, Error> {
    if offset > MAX_OFFSET {
        let message = format!("The offset {offset} is above 2^53.");
        return Err(Error {
            code: ErrorCode::Invalid,
            message,
        });
    }
    Ok(offset as f64)
}

/// A size or offset from the border. What is negative or no number, which a host does not send, is 0.
fn from_border(number: f64) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_cross_the_border_exactly_or_not_at_all() {
        for offset in [0, 1, u64::from(u32::MAX) + 1, MAX_OFFSET - 1, MAX_OFFSET] {
            assert_eq!(to_border(offset).map(from_border), Ok(offset));
        }
        assert_eq!(
            to_border(MAX_OFFSET + 1).map_err(|error| error.code),
            Err(ErrorCode::Invalid)
        );
        assert_eq!(from_border(f64::NAN), 0);
        assert_eq!(from_border(-1.0), 0);
    }
}
