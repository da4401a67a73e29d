//! Trust: whose word counts for what no sandbox can show, and what each trait of a tool rests on.

use std::fmt;

use serde::Serialize;

/// Who stands behind what a tool says of itself. It decides only where the sandbox shows neither that a claim is true nor
/// that it is false.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// One of the host's own tools: its declaration was audited.
    Audited,
    /// The operator said for this tool that its claims are believed.
    Operator,
    /// Nobody: a claim that nothing shows counts as nothing.
    #[default]
    None,
}

impl Trust {
    /// Whether somebody does.
    pub fn vouches(self) -> bool {
        match self {
            Self::Audited | Self::Operator => true,
            Self::None => false,
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Audited => "audited",
            Self::Operator => "operator",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the verdict on one trait rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ground {
    /// The sandbox makes it true, whoever says it.
    Verified,
    /// Nothing shows it; it is believed because somebody vouches for the tool.
    Trusted,
    /// The tool says it against itself, or claims nothing: no proof is needed.
    Admitted,
    /// The tool claims more than anything shows: the verdict is not the claim.
    NotBelieved,
}

impl Ground {
    /// The words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Trusted => "trusted",
            Self::Admitted => "admitted",
            Self::NotBelieved => "not believed",
        }
    }

    /// The ground of a claim that nothing shows.
    pub(super) fn unproven(trust: Trust) -> Self {
        match trust.vouches() {
            true => Self::Trusted,
            false => Self::NotBelieved,
        }
    }

    /// Whether a claim on this ground stands.
    pub(super) fn stands(self) -> bool {
        match self {
            Self::Verified | Self::Trusted | Self::Admitted => true,
            Self::NotBelieved => false,
        }
    }
}

impl fmt::Display for Ground {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The ground of each trait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Grounds {
    /// Of the level.
    pub level: Ground,
    /// Of destructive or not.
    pub destructive: Ground,
    /// Of idempotent or not.
    pub idempotent: Ground,
    /// Of open-world or not.
    pub open_world: Ground,
    /// Of shared or exclusive.
    pub concurrency: Ground,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_no_trust_leaves_the_unproven_unbelieved() {
        assert_eq!(Ground::unproven(Trust::Audited), Ground::Trusted);
        assert_eq!(Ground::unproven(Trust::Operator), Ground::Trusted);
        assert_eq!(Ground::unproven(Trust::default()), Ground::NotBelieved);
        assert!(!Ground::NotBelieved.stands());
    }
}
