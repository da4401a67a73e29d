//! Why an access did not happen.

use std::fmt;

use crate::bindings::toolgate::files::files as wit;

macro_rules! error_codes {
    ($($(#[$docs:meta])* $variant:ident = $code:literal,)*) => {
        /// What kind of failure it is.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum ErrorCode {
            $($(#[$docs])* $variant,)*
            /// A code that this SDK does not know.
            Other(String),
        }

        impl ErrorCode {
            /// The code of the contract, such as `not-found`.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $code,)*
                    Self::Other(code) => code,
                }
            }
        }

        impl From<String> for ErrorCode {
            fn from(code: String) -> Self {
                match code.as_str() {
                    $($code => Self::$variant,)*
                    _ => Self::Other(code),
                }
            }
        }
    };
}

error_codes! {
    /// Nothing is there.
    NotFound = "not-found",
    /// A rule or the view's border forbids it.
    Refused = "refused",
    /// A FIFO, device, socket or `/proc` file.
    NotRegular = "not-regular",
    /// A directory where a file is needed.
    IsDirectory = "is-directory",
    /// Something else where a directory is needed.
    NotDirectory = "not-directory",
    /// The name or path is too long for the file system.
    NameTooLong = "name-too-long",
    /// The disk or the quota is full.
    NoSpace = "no-space",
    /// The file system or the grant is for reading only.
    ReadOnly = "read-only",
    /// The bytes are other ones than were read.
    Changed = "changed",
    /// Something is there that must not be.
    Exists = "exists",
    /// More bytes than the caller takes.
    TooLarge = "too-large",
    /// A pattern, a file type, an offset, or a NUL in a path.
    Invalid = "invalid",
    /// The call's time is over.
    Deadline = "deadline",
    /// The operating system failed.
    Io = "io",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why an access did not happen. `?` turns it into a [`ToolError`](crate::ToolError).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of failure it is.
    pub code: ErrorCode,
    /// A sentence for the model. It names no path outside the view.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<wit::Failure> for Error {
    fn from(failure: wit::Failure) -> Self {
        Self {
            code: failure.code.into(),
            message: failure.message,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_comes_back_as_it_was() {
        for code in ["not-found", "io", "too-large", "of-a-later-host"] {
            assert_eq!(ErrorCode::from(code.to_owned()).as_str(), code);
        }
        assert_eq!(ErrorCode::from("refused".to_owned()), ErrorCode::Refused);
    }
}
