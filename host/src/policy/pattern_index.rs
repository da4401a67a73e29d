//! Many patterns, one path: which of them match? The price grows with the depth of the path, not with the number of
//! patterns.
//!
//! A pattern that is one path, or one path and everything below it, is looked up in a table. Any other is kept under its
//! literal leading directories, with few others, and matched as a glob.

use std::collections::HashMap;
use std::path::Path;

use rustc_hash::FxBuildHasher;

use globset::{Candidate, GlobSet, GlobSetBuilder};

use super::path_pattern::is_literal;
use super::{PathPattern, PatternError};

/// Globs that are compiled into one automaton; more would pass its size limit.
const GLOBS_AT_ONCE: usize = 256;

/// See the module. What it gives are the positions of the patterns in the list that it was built from.
///
/// The keys are the operator's, so that a hash without a seed does: nobody else can fill the table.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternIndex {
    places: HashMap<String, Place, FxBuildHasher>,
    ignore_case: bool,
    len: usize,
}

/// The patterns of one path.
#[derive(Clone, Debug, Default)]
struct Place {
    /// They are this path.
    exact: Vec<usize>,
    /// They are everything below this path.
    below: Vec<usize>,
    /// They have this path before their first wildcard.
    globs: Vec<Globs>,
}

/// Some globs, and which pattern each is.
#[derive(Clone, Debug)]
struct Globs {
    set: GlobSet,
    patterns: Vec<usize>,
}

impl PatternIndex {
    /// Indexes patterns, which were all compiled with this `ignore_case`.
    pub(super) fn new<'a>(
        patterns: impl IntoIterator<Item = &'a PathPattern>,
        ignore_case: bool,
    ) -> Result<Self, PatternError> {
        let mut index = Self {
            ignore_case,
            ..Self::default()
        };
        let mut buckets: HashMap<String, Vec<(usize, &PathPattern)>> = HashMap::new();
        for (position, pattern) in patterns.into_iter().enumerate() {
            index.len += 1;
            let text = pattern.text();
            let path_and_below = text.strip_suffix("/**").filter(|path| is_literal(path));
            if is_literal(text) {
                index.place(text).exact.push(position);
            } else if let Some(path) = path_and_below {
                index.place(path).below.push(position);
            } else {
                let leading = literal_directories(text).to_owned();
                buckets
                    .entry(leading)
                    .or_default()
                    .push((position, pattern));
            }
        }
        for (leading, patterns) in buckets {
            index.place(&leading).globs = patterns
                .chunks(GLOBS_AT_ONCE)
                .map(compile)
                .collect::<Result<_, _>>()?;
        }
        Ok(index)
    }

    fn place(&mut self, path: &str) -> &mut Place {
        self.places.entry(path.to_owned()).or_default()
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The patterns that match this absolute path, in their order.
    pub(super) fn matching(&self, path: &Path) -> Vec<usize> {
        self.matching_of(path, false)
    }

    /// The patterns that match this absolute path or a directory above it, in their order.
    pub(super) fn matching_or_above(&self, path: &Path) -> Vec<usize> {
        self.matching_of(path, true)
    }

    fn matching_of(&self, path: &Path, or_above: bool) -> Vec<usize> {
        let mut found = Vec::new();
        if self.is_empty() {
            return found;
        }
        let text = path.to_string_lossy();
        let text = if self.ignore_case {
            text.to_lowercase()
        } else {
            text.into_owned()
        };
        let asked = |path: &str| or_above || path.len() == text.len();
        let mut buckets = Vec::new();
        for path in self_and_ancestors(&text) {
            let Some(place) = self.places.get(path) else {
                continue;
            };
            if asked(path) {
                found.extend(&place.exact);
            }
            if path.len() < text.len() {
                found.extend(&place.below);
                buckets.extend(place.globs.iter().map(|globs| (path.len(), globs)));
            }
        }
        if !buckets.is_empty() {
            for path in self_and_ancestors(&text).filter(|path| asked(path)) {
                let candidate = Candidate::new(path);
                for (_, globs) in buckets.iter().filter(|(length, _)| *length < path.len()) {
                    let positions = globs.set.matches_candidate(&candidate);
                    found.extend(
                        positions
                            .into_iter()
                            .filter_map(|at| globs.patterns.get(at)),
                    );
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn compile(patterns: &[(usize, &PathPattern)]) -> Result<Globs, PatternError> {
    let mut builder = GlobSetBuilder::new();
    for (_, pattern) in patterns {
        builder.add(pattern.glob().clone());
    }
    let set = builder.build().map_err(|error| PatternError::Glob {
        pattern: error
            .glob()
            .unwrap_or("(many patterns together)")
            .to_owned(),
        what: error.kind().to_string(),
    })?;
    Ok(Globs {
        set,
        patterns: patterns.iter().map(|(position, _)| *position).collect(),
    })
}

/// The directories of a pattern before its first wildcard: `/ws/src` of `/ws/src/*.rs`, and nothing of `/*`.
fn literal_directories(text: &str) -> &str {
    let wildcard = text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len());
    let before = text.get(..wildcard).unwrap_or_default();
    before
        .rfind('/')
        .and_then(|slash| before.get(..slash))
        .unwrap_or_default()
}

/// A path and the directories above it, the nearest first, and at last the root as nothing.
fn self_and_ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| {
        path.rfind('/').and_then(|slash| path.get(..slash))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(patterns: &[&str], ignore_case: bool) -> PatternIndex {
        let compiled: Vec<PathPattern> = patterns
            .iter()
            .map(|pattern| {
                PathPattern::compile(pattern, Path::new("/ws"), None, ignore_case).unwrap()
            })
            .collect();
        PatternIndex::new(&compiled, ignore_case).unwrap()
    }

    #[test]
    fn every_kind_of_pattern_is_found() {
        let patterns = [
            ".env",
            "secrets/**",
            "**/*.pem",
            "/**",
            "src/*.rs",
            "[ab].txt",
            "/etc/passwd",
            "a\\[1\\].txt",
        ];
        let index = index(&patterns, false);
        let found = |path: &str| index.matching(Path::new(path));
        assert_eq!(found("/ws/.env"), [0, 3]);
        assert_eq!(found("/ws/secrets/a/b"), [1, 3]);
        assert_eq!(found("/ws/secrets"), [3]);
        assert_eq!(found("/ws/x/y.pem"), [2, 3]);
        assert_eq!(found("/ws/src/main.rs"), [3, 4]);
        assert_eq!(found("/ws/src/deep/main.rs"), [3]);
        assert_eq!(found("/ws/a.txt"), [3, 5]);
        assert_eq!(found("/etc/passwd"), [3, 6]);
        assert_eq!(found("/ws/a[1].txt"), [3, 7]);
        assert_eq!(found("/x"), [3]);
    }

    #[test]
    fn what_is_below_a_match_is_found_where_that_is_asked() {
        let index = index(&["secrets", "**/*.pem", "a/**"], false);
        let found = |path: &str| index.matching_or_above(Path::new(path));
        assert_eq!(found("/ws/secrets/x/y"), [0]);
        assert_eq!(found("/ws/k.pem/x"), [1]);
        assert_eq!(found("/ws/a/k.pem"), [1, 2]);
        assert_eq!(found("/ws"), [0_usize; 0]);
        assert_eq!(found("/"), [0_usize; 0]);
    }

    #[test]
    fn letter_case_is_ignored_where_that_is_asked() {
        let index = index(&["**/.ToolGate/Config.toml", "SECRETS/**", ".ENV"], true);
        let found = |path: &str| index.matching(Path::new(path));
        assert_eq!(found("/ws/.toolgate/CONFIG.TOML"), [0]);
        assert_eq!(found("/WS/secrets/a"), [1]);
        assert_eq!(found("/ws/.env"), [2]);
    }

    #[test]
    fn thousands_of_patterns_are_one_index() {
        let patterns: Vec<String> = (0..5_000)
            .map(|number| format!("**/x{number}/*.{number}"))
            .collect();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        assert_eq!(
            index(&patterns, true).matching(Path::new("/ws/a/x4711/f.4711")),
            [4711]
        );
    }
}
