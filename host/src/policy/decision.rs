//! Decisions: an ordered enum; several are joined by the strictest, none is a denial.

use std::fmt;

use serde::Serialize;

/// What a rule, or all of them together, say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Run.
    Allow,
    /// Ask somebody.
    Ask,
    /// Do not run.
    Deny,
}

impl Decision {
    /// The strictest of several; of none, `Deny`.
    pub fn strictest(decisions: impl IntoIterator<Item = Self>) -> Self {
        decisions.into_iter().max().unwrap_or(Self::Deny)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_wins_and_nothing_is_a_denial() {
        use Decision::{Allow, Ask, Deny};
        assert_eq!(Decision::strictest([Allow, Ask]), Ask);
        assert_eq!(Decision::strictest([Deny, Allow, Ask]), Deny);
        assert_eq!(Decision::strictest([Allow]), Allow);
        assert_eq!(Decision::strictest([]), Deny);
    }
}
