//! Why rules are no policy.

use std::fmt;

use crate::model::RuleSource;

/// Why a policy cannot be built: each stops the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The rule.
    pub rule: RuleSource,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RuleSource {
            rule,
            effect,
            file,
            line,
        } = &self.rule;
        write!(f, "{}:", file.display())?;
        if *line > 0 {
            write!(f, "{line}:")?;
        }
        write!(f, " the {effect} rule '{rule}' {}", self.what)
    }
}

impl std::error::Error for PolicyError {}
