//! Permission modes: what happens to a call that no rule decides.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::suggestion;

/// A permission mode.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Read-only tools run, everything else is asked.
    #[default]
    Default,
    /// Like `default`, and the built-in file-writing tools run inside the workspace.
    AcceptEdits,
    /// Only read-only tools run or are listed.
    Plan,
    /// Like `default`, but what would be asked is denied.
    DontAsk,
    /// Like `dont-ask`, and mutating tools run that the host has verified to destroy nothing, inside the workspace.
    Auto,
    /// Everything runs that no deny rule, ceiling or protected file forbids. Only by an explicit start flag.
    Bypass,
}

/// A text that is no mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{}' is not a mode.{}", .0.escape_debug(), suggestion(.0, Mode::WORDS))]
pub struct ModeError(String);

impl Mode {
    const ALL: [Self; 6] = [
        Self::Default,
        Self::AcceptEdits,
        Self::Plan,
        Self::DontAsk,
        Self::Auto,
        Self::Bypass,
    ];
    const WORDS: [&'static str; 6] = [
        "default",
        "accept-edits",
        "plan",
        "dont-ask",
        "auto",
        "bypass",
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept-edits",
            Self::Plan => "plan",
            Self::DontAsk => "dont-ask",
            Self::Auto => "auto",
            Self::Bypass => "bypass",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Mode {
    type Err = ModeError;

    fn from_str(text: &str) -> Result<Self, ModeError> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| ModeError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_modes_agree() {
        for (mode, word) in Mode::ALL.into_iter().zip(Mode::WORDS) {
            assert_eq!(word.parse::<Mode>().unwrap(), mode);
        }
        let error = "acceptEdits".parse::<Mode>().unwrap_err().to_string();
        assert_eq!(
            error,
            "'acceptEdits' is not a mode. Did you mean 'accept-edits'?"
        );
    }
}
