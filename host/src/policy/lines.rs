//! Settings beside the mode: how schemas are enforced, and who runs without being asked.

use serde::{Deserialize, Serialize};

use crate::model::{SideEffect, Traits};

/// How schemas are enforced.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SchemaMode {
    /// Not at all.
    Off,
    /// Violations stand in the journal, and the call runs.
    Warn,
    /// Violations refuse the call.
    #[default]
    Enforce,
}

/// Tools at or below this level run without being asked where no rule speaks of them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ExemptLine {
    /// None is exempt.
    None,
    /// Read-only tools are.
    #[default]
    ReadOnly,
    /// All are, but for destructive ones.
    Mutating,
}

impl ExemptLine {
    /// Whether a tool with these traits is below the line.
    pub fn covers(self, traits: &Traits) -> bool {
        let line = match self {
            Self::None => return false,
            Self::ReadOnly => SideEffect::ReadOnly,
            Self::Mutating => SideEffect::Mutating,
        };
        line.permits(traits.level) && !traits.destructive
    }
}
