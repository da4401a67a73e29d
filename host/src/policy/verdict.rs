//! Verdicts: the answer of the policy, with everything that led to it.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::{Decision, Mode};
use crate::model::{DenialReason, RuleSource};

/// What decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "basis", rename_all = "kebab-case")]
pub enum Basis {
    /// Rules.
    Rules,
    /// The tool is effectively read-only.
    ReadOnly,
    /// A read-only tool names a URL: asking for it tells whoever answers there something, and no rule allows that.
    NamesUrl,
    /// Mode `accept-edits`.
    AcceptEdits,
    /// Mode `auto`, and the host has verified that the tool destroys nothing and creates inside the workspace only.
    Verified,
    /// Mode `bypass`.
    Bypass,
    /// The mode's default.
    Mode {
        /// The mode.
        mode: Mode,
    },
    /// The command cannot be compared with ask rules.
    Unclear {
        /// Why.
        what: String,
    },
    /// Programs run the file on their own.
    RunsCode {
        /// The built-in pattern.
        pattern: &'static str,
    },
    /// A denial: see there.
    Denial,
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rules => f.write_str("by rule"),
            Self::ReadOnly => f.write_str("by default: effectively read-only tools run"),
            Self::NamesUrl => f.write_str(
                "because the call names a URL, which tells whoever answers there something, and no rule allows it",
            ),
            Self::AcceptEdits => f.write_str("by mode accept-edits"),
            Self::Verified => f.write_str(
                "by mode auto: the host has verified that the tool can only create, inside the workspace",
            ),
            Self::Bypass => f.write_str("by mode bypass"),
            Self::Mode { mode } => write!(f, "by default of mode {mode}: no rule matches"),
            Self::Unclear { what } => {
                write!(f, "because ask rules cannot be decided: {what}")
            }
            Self::RunsCode { pattern } => {
                write!(
                    f,
                    "because programs may run files matching '{pattern}' later"
                )
            }
            Self::Denial => f.write_str("by denial"),
        }
    }
}

/// The answer: the decision, what decided, and every rule that matched.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// What decided.
    #[serde(flatten)]
    pub basis: Basis,
    /// Every rule that matched, strictest first.
    pub matched: Vec<RuleSource>,
    /// Why not, where the decision is `Deny`.
    pub denial: Option<DenialReason>,
    /// The path subjects, absolute and folded.
    pub paths: Vec<PathBuf>,
}
