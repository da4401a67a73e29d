//! The rules of one tool and one effect, indexed so that a call's price does not grow with their number.

use std::path::Path;

use globset::{GlobSet, GlobSetBuilder};

use super::{PathPattern, PatternError};
use crate::model::RuleSource;

/// Rules without a pattern, and path patterns.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleSet {
    bare: Vec<RuleSource>,
    globs: GlobSet,
    patterned: Vec<RuleSource>,
}

impl RuleSet {
    pub(super) fn new(
        bare: Vec<RuleSource>,
        patterned: Vec<(PathPattern, RuleSource)>,
    ) -> Result<Self, PatternError> {
        let mut builder = GlobSetBuilder::new();
        let mut sources = Vec::with_capacity(patterned.len());
        for (pattern, source) in patterned {
            builder.add(pattern.glob().clone());
            sources.push(source);
        }
        let globs = builder.build().map_err(|error| PatternError::Glob {
            pattern: "(all patterns of a tool together)".to_owned(),
            what: error.kind().to_string(),
        })?;
        Ok(Self {
            bare,
            globs,
            patterned: sources,
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
        if self.patterned.is_empty() {
            return Vec::new();
        }
        let indices = self.globs.matches(path);
        indices
            .into_iter()
            .filter_map(|index| self.patterned.get(index))
            .cloned()
            .collect()
    }
}
