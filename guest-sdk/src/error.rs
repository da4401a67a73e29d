//! How a tool says no. One variant for each thing that the caller can act on; a bug is none of them, it traps.

use std::fmt;

/// How a call ends that did not do what it was asked. Each text is for the model: it says what went wrong and names no
/// secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolError {
    /// The input does not fit: one sentence for each violation, all of them at once.
    InvalidInput(Vec<String>),
    /// A capability was not granted, or the host refused one access.
    Denied(String),
    /// What the call names does not exist.
    NotFound(String),
    /// The tool saw [`Context::cancelled`](crate::Context::cancelled) and stopped.
    Cancelled,
    /// Anything else that went wrong.
    Failed(String),
    /// A kind of the tool's own.
    Other {
        /// The kind: a word for programs.
        kind: String,
        /// A sentence for the model.
        message: String,
    },
}

impl ToolError {
    /// Something went wrong that is none of the other kinds.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }

    /// The input does not fit, for a reason that the schema cannot say.
    #[must_use]
    pub fn invalid_input(sentence: impl Into<String>) -> Self {
        Self::InvalidInput(vec![sentence.into()])
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidInput(sentences) => f.write_str(&sentences.join("\n")),
            Self::Denied(message) | Self::NotFound(message) | Self::Failed(message) => {
                f.write_str(message)
            }
            Self::Cancelled => f.write_str("The call was cancelled."),
            Self::Other { kind, message } => write!(f, "{message} ({kind})"),
        }
    }
}

impl std::error::Error for ToolError {}

impl From<crate::files::Error> for ToolError {
    /// `refused` is a denial, `not-found` is that, everything else a failure. The sentence stays.
    fn from(error: crate::files::Error) -> Self {
        use crate::files::ErrorCode;
        match error.code {
            ErrorCode::Refused => Self::Denied(error.message),
            ErrorCode::NotFound => Self::NotFound(error.message),
            _ => Self::Failed(error.message),
        }
    }
}

impl From<crate::shell::Error> for ToolError {
    /// `denied` is a denial, `not-found` is that, everything else a failure. The sentence stays.
    fn from(error: crate::shell::Error) -> Self {
        match error.code.as_str() {
            "denied" => Self::Denied(error.message),
            "not-found" => Self::NotFound(error.message),
            _ => Self::Failed(error.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Error, ErrorCode};

    fn from_code(code: ErrorCode) -> ToolError {
        Error {
            code,
            message: "m".to_owned(),
        }
        .into()
    }

    #[test]
    fn a_file_error_keeps_its_meaning() {
        assert_eq!(
            from_code(ErrorCode::Refused),
            ToolError::Denied("m".to_owned())
        );
        assert_eq!(
            from_code(ErrorCode::NotFound),
            ToolError::NotFound("m".to_owned())
        );
        assert_eq!(
            from_code(ErrorCode::IsDirectory),
            ToolError::Failed("m".to_owned())
        );
    }

    #[test]
    fn display_is_the_text_for_the_model() {
        let faults = ToolError::InvalidInput(vec!["a.".to_owned(), "b.".to_owned()]);
        assert_eq!(faults.to_string(), "a.\nb.");
        let other = ToolError::Other {
            kind: "busy".to_owned(),
            message: "Try later.".to_owned(),
        };
        assert_eq!(other.to_string(), "Try later. (busy)");
    }
}
