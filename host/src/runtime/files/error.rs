//! Why an access did not happen: a code for programs, a sentence for models.

use std::io;
use std::path::Path;

use crate::policy::{Refusal, RequestRefusal};

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is described in wit/deps/files/files.wit")]
pub enum Code {
    NotFound,
    Refused,
    NotRegular,
    IsDirectory,
    NotDirectory,
    NameTooLong,
    NoSpace,
    ReadOnly,
    Changed,
    Exists,
    TooLarge,
    Invalid,
    Deadline,
    Io,
}

impl Code {
    /// The word in the interface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::Refused => "refused",
            Self::NotRegular => "not-regular",
            Self::IsDirectory => "is-directory",
            Self::NotDirectory => "not-directory",
            Self::NameTooLong => "name-too-long",
            Self::NoSpace => "no-space",
            Self::ReadOnly => "read-only",
            Self::Changed => "changed",
            Self::Exists => "exists",
            Self::TooLarge => "too-large",
            Self::Invalid => "invalid",
            Self::Deadline => "deadline",
            Self::Io => "io",
        }
    }
}

/// A failed access. The message names paths only as the guest named them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// The kind.
    pub code: Code,
    /// The sentence.
    pub message: String,
}

impl FileError {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// From the operating system's error on a path as the guest named it.
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        let path = shown(path);
        let (code, message) = match error.kind() {
            io::ErrorKind::NotFound => (Code::NotFound, format!("'{path}' does not exist.")),
            io::ErrorKind::NotADirectory => (
                Code::NotDirectory,
                format!("a part of '{path}' is not a directory."),
            ),
            io::ErrorKind::IsADirectory => (
                Code::IsDirectory,
                format!("'{path}' is a directory, not a file."),
            ),
            io::ErrorKind::InvalidFilename => (
                Code::NameTooLong,
                format!("'{path}': the name is too long."),
            ),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => (
                Code::NoSpace,
                format!("'{path}': no space left on the device."),
            ),
            io::ErrorKind::ReadOnlyFilesystem => (
                Code::ReadOnly,
                format!("'{path}': the file system is read-only."),
            ),
            io::ErrorKind::AlreadyExists => (Code::Exists, format!("'{path}' exists already.")),
            io::ErrorKind::PermissionDenied => (
                Code::Io,
                format!("'{path}': the operating system denies the host this access."),
            ),
            _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                (Code::Refused, format!("'{path}': a link is in the way."))
            }
            // A socket cannot be opened, whatever the flags.
            _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                (Code::NotRegular, format!("'{path}' is not a regular file."))
            }
            kind => (Code::Io, format!("'{path}': {kind}.")),
        };
        Self { code, message }
    }

    pub(super) fn refused(path: &Path, refusal: &RequestRefusal) -> Self {
        let path = shown(path);
        let message = match refusal {
            RequestRefusal::OutsideRoots => {
                format!(
                    "'{path}' is, or leads, outside the workspace and every other granted directory."
                )
            }
            RequestRefusal::OutsideScope => {
                format!("'{path}' is not what this call was approved for.")
            }
            RequestRefusal::ReadOnly => format!("'{path}': this tool may only read."),
            RequestRefusal::CreateOnly => format!(
                "'{path}': the tool claims to be non-destructive, so it can only create, and what exists stays as it is."
            ),
            RequestRefusal::Guard(Refusal::Rules(rules)) => {
                let rules: Vec<&str> = rules.iter().map(|rule| rule.rule.as_str()).collect();
                format!("'{path}' is denied by the rule {}.", rules.join(", "))
            }
            RequestRefusal::Guard(Refusal::Protected(pattern)) => {
                format!("'{path}': files matching '{pattern}' are never writable by a tool.")
            }
            RequestRefusal::Guard(Refusal::SystemTree(tree)) => {
                format!("'{path}': nothing below {tree} is a file for tools.")
            }
            RequestRefusal::Asked(rule) => {
                format!(
                    "'{path}' leads to a file that the rule {} asks for.",
                    rule.rule
                )
            }
            RequestRefusal::NotAllowed => {
                format!("'{path}' leads to a file that no rule allows this tool to touch.")
            }
            RequestRefusal::NotSeen => {
                format!("'{path}' leads to another file than when the call was approved.")
            }
            RequestRefusal::RunsCode(pattern) => format!(
                "'{path}': programs may run files matching '{pattern}' later, and nobody approved that for this file."
            ),
        };
        Self::new(Code::Refused, message)
    }

    pub(super) fn not_regular(path: &Path) -> Self {
        let path = shown(path);
        Self::new(
            Code::NotRegular,
            format!("'{path}' is not a regular file (a FIFO, a device or a socket)."),
        )
    }

    pub(super) fn is_directory(path: &Path) -> Self {
        Self::new(
            Code::IsDirectory,
            format!("'{}' is a directory, not a file.", shown(path)),
        )
    }
}

/// A path in a message, cut where it is absurdly long.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.char_indices().nth(300) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.into_owned(),
    }
}
