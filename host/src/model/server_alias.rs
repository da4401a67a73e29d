//! Names of foreign servers: the operator's, valid by construction, so that a tool's published name says whose it is.

use std::fmt;
use std::sync::Arc;

/// The operator's name of a foreign server: a letter, then at most 15 letters, digits, `-` or `_`; no two `_` in a row, and
/// none at the end, so that the first `__` of a published name is where it ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerAlias(Arc<str>);

/// Why a text is no alias.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{}' is not a name for a server: a name is a letter, then at most 15 letters, digits, '-' or '_', without two '_' in a \
     row or one at the end",
    .0.escape_debug()
)]
pub struct AliasError(String);

impl ServerAlias {
    /// The most characters.
    pub const MAX: usize = 16;
    /// What stands between it and a tool's own name.
    pub const SEPARATOR: &str = "__";

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the published names of its tools begin with.
    pub fn prefix(&self) -> String {
        format!("{}{}", self.0, Self::SEPARATOR)
    }

    /// Whether a published name is of one of its tools, in whatever case.
    pub fn owns(&self, name: &str) -> bool {
        let whose = name.split_once(Self::SEPARATOR).map(|(alias, _)| alias);
        whose.is_some_and(|alias| alias.eq_ignore_ascii_case(&self.0))
    }

    /// Whether the two differ only in upper and lower case, or not at all.
    pub fn resembles(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl TryFrom<&str> for ServerAlias {
    type Error = AliasError;

    fn try_from(text: &str) -> Result<Self, AliasError> {
        let starts = text.starts_with(|first: char| first.is_ascii_alphabetic());
        let known = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let ends = text.contains(Self::SEPARATOR) || text.ends_with('_');
        match starts && text.chars().all(known) && !ends && text.len() <= Self::MAX {
            true => Ok(Self(text.into())),
            false => Err(AliasError(text.chars().take(4 * Self::MAX).collect())),
        }
    }
}

impl serde::Serialize for ServerAlias {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for ServerAlias {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_ends_at_the_first_double_line() {
        for good in ["a", "git", "my-files", "a_b", &"x".repeat(16)] {
            let alias = ServerAlias::try_from(good).unwrap();
            assert!(alias.owns(&format!("{good}____x")) && !alias.owns(good));
            assert!(alias.owns(&alias.prefix().to_uppercase()));
        }
        for bad in [
            "",
            "9",
            "a__b",
            "a_",
            "_a",
            "ä",
            "a.b",
            "a b",
            &"x".repeat(17),
        ] {
            assert!(ServerAlias::try_from(bad).is_err(), "{bad:?}");
        }
    }
}
