//! Tool names: valid by construction.

use std::fmt;
use std::sync::Arc;

/// The name of a tool: `^[A-Za-z][A-Za-z0-9_-]{0,63}$`, the intersection of what model APIs and MCP clients accept.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Arc<str>);

impl serde::Serialize for ToolName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Why a text is no tool name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is not a tool name: a name is a letter, then at most 63 letters, digits, '_' or '-'",
    .text.escape_debug()
)]
pub struct NameError {
    text: String,
}

impl NameError {
    /// The text, at most the first 128 characters of it.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl ToolName {
    /// The most characters a name has.
    pub const MAX: usize = 64;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for ToolName {
    type Error = NameError;

    fn try_from(text: &str) -> Result<Self, NameError> {
        let starts = text.starts_with(|first: char| first.is_ascii_alphabetic());
        let rest = text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        if starts && rest && text.len() <= Self::MAX {
            Ok(Self(text.into()))
        } else {
            Err(NameError {
                text: text.chars().take(2 * Self::MAX).collect(),
            })
        }
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ToolName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in ["Read", "mcp__git__log", "a-b_C9", &"x".repeat(64)] {
            assert_eq!(ToolName::try_from(good).unwrap().as_str(), good);
        }
        for bad in ["", "9a", "-a", "a b", "a.b", "Ré", "a\n", &"x".repeat(65)] {
            assert!(ToolName::try_from(bad).is_err(), "{bad:?}");
        }
    }
}
