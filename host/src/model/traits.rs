//! Traits: the host's verdict on what a call of a tool may do, from the tool's claim and what the sandbox makes of it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The side effect level: a ladder.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SideEffect {
    /// Changes nothing that outlives the call.
    ReadOnly,
    /// May change something.
    Mutating,
}

impl SideEffect {
    /// Whether a ceiling at this level lets a tool of `level` through.
    pub fn permits(self, level: Self) -> bool {
        level <= self
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Mutating => "mutating",
        }
    }
}

impl fmt::Display for SideEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether calls of a tool may overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concurrency {
    /// Calls with different subjects may overlap.
    Shared,
    /// One call at a time.
    Exclusive,
}

/// What a tool says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// The claimed level.
    pub level: SideEffect,
    /// May overwrite or delete.
    pub destructive: bool,
    /// Twice is once.
    pub idempotent: bool,
    /// Reaches what nobody here owns.
    pub open_world: bool,
    /// Calls must not overlap.
    pub exclusive: bool,
}

/// What the sandbox can be asked to give, whatever the claim says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Asks to write files.
    pub writes_files: bool,
    /// Asks for requests to the network.
    pub network: bool,
    /// Asks for commands.
    pub shell: bool,
}

/// The host's verdict, made once when a tool is registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Traits {
    /// The level.
    pub level: SideEffect,
    /// May overwrite or delete. Never set on a read-only tool.
    pub destructive: bool,
    /// Twice is once.
    pub idempotent: bool,
    /// Reaches what nobody here owns.
    pub open_world: bool,
    /// Whether calls may overlap.
    pub concurrency: Concurrency,
    /// Where the verdict differs from the claim, one sentence each.
    pub reductions: Vec<String>,
}

impl Traits {
    /// Resolves a component's claim against the evidence. A claim may only take power away, so `read-only` is believed
    /// exactly where the component asks for nothing but reading: then the sandbox makes it true.
    pub fn resolve(claim: &Claim, evidence: &Evidence) -> Self {
        let reaches = [
            (evidence.writes_files, "writing files"),
            (evidence.network, "the network"),
            (evidence.shell, "the shell"),
        ];
        let beyond: Vec<&str> = reaches
            .iter()
            .filter_map(|(asked, what)| asked.then_some(*what))
            .collect();
        let mut reductions = Vec::new();
        let level = match claim.level {
            SideEffect::ReadOnly if !beyond.is_empty() => {
                reductions.push(format!(
                    "claims read-only, but asks for {}: treated as mutating and destructive",
                    beyond.join(" and ")
                ));
                SideEffect::Mutating
            }
            level => level,
        };
        if claim.destructive && claim.level == SideEffect::ReadOnly {
            reductions.push("claims read-only and destructive, which cannot both be".to_owned());
        }
        let contradicted = level != claim.level;
        Self {
            level,
            destructive: level == SideEffect::Mutating && (claim.destructive || contradicted),
            idempotent: claim.idempotent && !contradicted,
            open_world: claim.open_world || evidence.network,
            concurrency: if claim.exclusive {
                Concurrency::Exclusive
            } else {
                Concurrency::Shared
            },
            reductions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: Claim = Claim {
        level: SideEffect::ReadOnly,
        destructive: false,
        idempotent: true,
        open_world: false,
        exclusive: false,
    };

    #[test]
    fn a_ceiling_permits_what_is_at_or_below_it() {
        assert!(SideEffect::Mutating.permits(SideEffect::ReadOnly));
        assert!(SideEffect::Mutating.permits(SideEffect::Mutating));
        assert!(SideEffect::ReadOnly.permits(SideEffect::ReadOnly));
        assert!(!SideEffect::ReadOnly.permits(SideEffect::Mutating));
    }

    #[test]
    fn read_only_is_believed_only_where_the_sandbox_makes_it_true() {
        let honest = Traits::resolve(&READER, &Evidence::default());
        assert_eq!(honest.level, SideEffect::ReadOnly);
        assert!(honest.idempotent && !honest.destructive && honest.reductions.is_empty());

        for evidence in [
            Evidence {
                writes_files: true,
                ..Evidence::default()
            },
            Evidence {
                network: true,
                ..Evidence::default()
            },
            Evidence {
                shell: true,
                ..Evidence::default()
            },
        ] {
            let liar = Traits::resolve(&READER, &evidence);
            assert_eq!(liar.level, SideEffect::Mutating);
            assert!(liar.destructive && !liar.idempotent);
            assert_eq!(liar.reductions.len(), 1);
        }
    }

    #[test]
    fn read_only_and_destructive_is_stored_as_not_destructive() {
        let claim = Claim {
            destructive: true,
            ..READER
        };
        let traits = Traits::resolve(&claim, &Evidence::default());
        assert!(!traits.destructive);
        assert_eq!(traits.reductions.len(), 1);
    }
}
