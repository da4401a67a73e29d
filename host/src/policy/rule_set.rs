//! The rules of one tool and one effect, indexed so that a call's price does not grow with their number.

use std::path::Path;

use super::pattern_index::PatternIndex;
use super::{PathPattern, PatternError};
use crate::model::RuleSource;

/// Rules without a pattern, and path patterns.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSet {
    bare: Vec<RuleSource>,
    index: PatternIndex,
    patterned: Vec<RuleSource>,
}

impl RuleSet {
    pub(super) fn new(
        bare: Vec<RuleSource>,
        patterned: Vec<(PathPattern, RuleSource)>,
        ignore_case: bool,
    ) -> Result<Self, PatternError> {
        let patterns = patterned.iter().map(|(pattern, _)| pattern);
        Ok(Self {
            bare,
            index: PatternIndex::new(patterns, ignore_case)?,
            patterned: patterned.into_iter().map(|(_, source)| source).collect(),
        })
    }

    /// Rules that speak of every call.
    pub(super) fn bare(&self) -> &[RuleSource] {
        &self.bare
    }

    /// The first rule with a pattern.
    pub(super) fn first_patterned(&self) -> Option<&RuleSource> {
        self.patterned.first()
    }

    /// Rules whose pattern matches this path.
    pub(super) fn matching(&self, path: &Path) -> Vec<RuleSource> {
        let positions = self.index.matching(path);
        positions
            .into_iter()
            .filter_map(|at| self.patterned.get(at))
            .cloned()
            .collect()
    }
}
