//! Many patterns, one path: which of them match? The price grows with the depth of the path, not with the number of
//! patterns.
//!
//! A pattern that is one path, or one path and everything below it, or a name or an ending of names at any depth below
//! it, is looked up in a table. Any other is kept under its literal leading directories, with few others, and matched as
//! a glob.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use rustc_hash::FxBuildHasher;

use globset::{Candidate, Glob, GlobSet, GlobSetBuilder};

use super::letter_case::fold_case;
use super::path_pattern::is_literal;
use super::{PathPattern, PatternError};

/// Globs that are compiled into one automaton; more would pass its size limit.
const GLOBS_AT_ONCE: usize = 256;

/// See the module. What it gives are the positions of the patterns in the list that it was built from.
///
/// The keys are the operator's, so that a hash without a seed does: nobody else can fill the table.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternIndex {
    places: Table<Place>,
    ignore_case: bool,
    len: usize,
}

type Table<T> = HashMap<String, T, FxBuildHasher>;

/// The patterns of one path.
#[derive(Clone, Debug, Default)]
struct Place {
    /// They are this path.
    exact: Vec<usize>,
    /// They are everything below this path.
    below: Vec<usize>,
    /// They are this name at any depth below this path: `/ws/**/.env`.
    named: Table<Vec<usize>>,
    /// They are the names at any depth below this path that end so, from a dot on: `/ws/**/*.pem`.
    ending: Table<Vec<usize>>,
    /// They have this path before their first wildcard.
    globs: Vec<Globs>,
}

/// Some globs, and which pattern each is of.
#[derive(Clone, Debug)]
struct Globs {
    set: GlobSet,
    patterns: Vec<usize>,
    spelling: Spelling,
}

/// Which spelling of a path globs are compared with: they are the same where letter case counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spelling {
    AsGiven,
    Folded,
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
        let mut buckets: HashMap<_, Vec<(usize, &Glob)>> = HashMap::new();
        for (position, pattern) in patterns.into_iter().enumerate() {
            index.len += 1;
            let text = pattern.text();
            if let Some((path, place)) = Looked::up(text) {
                index.place(path).table(place).push(position);
            } else {
                let leading = literal_directories(text);
                let mut put = |glob, spelling| {
                    let bucket = buckets.entry((leading.to_owned(), spelling));
                    bucket.or_default().push((position, glob));
                };
                put(pattern.glob(), Spelling::Folded);
                if let Some(as_given) = pattern.as_given() {
                    put(as_given, Spelling::AsGiven);
                }
            }
        }
        for ((leading, spelling), globs) in buckets {
            for globs in globs.chunks(GLOBS_AT_ONCE) {
                let globs = Globs::compile(globs, spelling)?;
                index.place(&leading).globs.push(globs);
            }
        }
        Ok(index)
    }

    /// The text in the spelling of the table.
    fn folded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.ignore_case {
            true => fold_case(text).into(),
            false => text.into(),
        }
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
        let given = path.to_string_lossy();
        let folded = self.folded(&given);
        // One character is folded to one, so that both spellings have the same directories.
        let spellings: Vec<(&str, &str)> = self_and_ancestors(&given)
            .zip(self_and_ancestors(&folded))
            .collect();
        let asked = if or_above { spellings.len() } else { 1 };
        let mut searched = Vec::new();
        for (up, (_, folded)) in spellings.iter().enumerate() {
            let Some(place) = self.places.get(*folded) else {
                continue;
            };
            if up < asked {
                found.extend(&place.exact);
            }
            if up > 0 {
                found.extend(&place.below);
                searched.push((up, place));
            }
        }
        for (up, (given, folded)) in spellings.iter().enumerate().take(asked) {
            for (_, place) in searched.iter().filter(|(leading, _)| *leading > up) {
                place.search(given, folded, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Place {
    fn table(&mut self, looked: Looked<'_>) -> &mut Vec<usize> {
        match looked {
            Looked::Exact => &mut self.exact,
            Looked::Below => &mut self.below,
            Looked::Named(name) => self.named.entry(name.to_owned()).or_default(),
            Looked::Ending(end) => self.ending.entry(end.to_owned()).or_default(),
        }
    }

    /// Adds the patterns that match this one path, in both spellings, which is below the place.
    fn search(&self, given: &str, folded: &str, found: &mut Vec<usize>) {
        let name = folded.rsplit('/').next().unwrap_or_default();
        if !self.named.is_empty() {
            found.extend(self.named.get(name).into_iter().flatten());
        }
        if !self.ending.is_empty() {
            let dots = name.match_indices('.');
            let ends = dots.filter_map(|(at, _)| self.ending.get(name.get(at..)?));
            found.extend(ends.flatten());
        }
        if !self.globs.is_empty() {
            let (given, folded) = (Candidate::new(given), Candidate::new(folded));
            for globs in &self.globs {
                found.extend(globs.matching(match globs.spelling {
                    Spelling::AsGiven => &given,
                    Spelling::Folded => &folded,
                }));
            }
        }
    }
}

/// How a pattern is found in the table of a place.
enum Looked<'a> {
    Exact,
    Below,
    Named(&'a str),
    Ending(&'a str),
}

impl<'a> Looked<'a> {
    /// The place of a pattern and how it is found there, if that needs no glob.
    fn up(text: &'a str) -> Option<(&'a str, Self)> {
        if is_literal(text) {
            return Some((text, Self::Exact));
        }
        let (path, looked) = match text.strip_suffix("/**") {
            Some(path) => (path, Self::Below),
            None => {
                let (path, name) = text.split_once("/**/")?;
                match name.strip_prefix('*') {
                    Some(end) if end.starts_with('.') => (path, Self::Ending(end)),
                    _ => (path, Self::Named(name)),
                }
            }
        };
        let plain = |name: &str| is_literal(name) && !name.contains('/');
        let simple = match looked {
            Self::Exact | Self::Below => true,
            Self::Named(name) | Self::Ending(name) => plain(name),
        };
        (simple && is_literal(path)).then_some((path, looked))
    }
}

impl Globs {
    fn compile(globs: &[(usize, &Glob)], spelling: Spelling) -> Result<Self, PatternError> {
        let mut builder = GlobSetBuilder::new();
        for (_, glob) in globs {
            builder.add((*glob).clone());
        }
        let set = builder.build().map_err(|error| PatternError::Glob {
            pattern: error
                .glob()
                .unwrap_or("(many patterns together)")
                .to_owned(),
            what: error.kind().to_string(),
        })?;
        Ok(Self {
            set,
            patterns: globs.iter().map(|(position, _)| *position).collect(),
            spelling,
        })
    }

    fn matching(&self, path: &Candidate<'_>) -> impl Iterator<Item = usize> {
        let globs = self.set.matches_candidate(path);
        globs
            .into_iter()
            .filter_map(|at| self.patterns.get(at).copied())
    }
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever is looked up in a table is what the glob would have matched.
        #[test]
        fn tables_find_what_globs_match(
            patterns in proptest::collection::vec(
                proptest::collection::vec(
                    prop::sample::select(&["**", "*", "a", "B.c", ".c", "*.c", "*c", "*.b.c", "?.c", "[!a].c"][..]),
                    1..5,
                ),
                1..5,
            ),
            path in proptest::collection::vec(
                prop::sample::select(&["a", "b.c", ".c", "a.b.c", "A.C", "c.a", "**"][..]),
                1..5,
            ),
            ignore_case: bool,
        ) {
            let patterns: Vec<String> = patterns.iter().map(|parts| format!("/{}", parts.join("/"))).collect();
            let compiled: Vec<PathPattern> = patterns
                .iter()
                .map(|pattern| PathPattern::compile(pattern, Path::new("/"), None, ignore_case).unwrap())
                .collect();
            let path = format!("/{}", path.join("/"));
            let folded = if ignore_case { fold_case(&path) } else { path.clone() };
            let by_globs: Vec<usize> = (0..compiled.len())
                .filter(|at| {
                    let matches = |glob: &Glob, path: &str| glob.compile_matcher().is_match(path);
                    matches(compiled[*at].glob(), &folded)
                        || compiled[*at].as_given().is_some_and(|glob| matches(glob, &path))
                })
                .collect();
            let index = PatternIndex::new(&compiled, ignore_case).unwrap();
            prop_assert_eq!(index.matching(Path::new(&path)), by_globs, "{:?} {}", patterns, path);
        }
    }

    proptest! {
        /// What an allow rule matches, a deny rule of the same text matches.
        #[test]
        fn what_allows_denies(
            pattern in proptest::collection::vec(
                prop::sample::select(&[
                    "a", "A", "ı", "Ⱥ", "ẞ", "\u{212a}", "?", "??", "*", "**/", "[!a]", "[R-d]", "[x]", "[!]!]", "\\A",
                    "{a,B}", "/", ".",
                ][..]),
                1..7,
            ),
            path in proptest::collection::vec(
                prop::sample::select(&[
                    "a", "A", "ı", "i", "Ⱥ", "ⱥ", "ẞ", "ß", "\u{212a}", "k", "R", "z", "_", "x", "X", "B", "b", "!", "/", ".",
                ][..]),
                1..7,
            ),
        ) {
            let pattern = format!("/{}", pattern.concat());
            let path = format!("/{}", path.concat());
            let matches = |ignore_case, path: &str| {
                let compiled = PathPattern::compile(&pattern, Path::new("/"), None, ignore_case).ok();
                compiled.map(|compiled| {
                    let index = PatternIndex::new([&compiled], ignore_case).unwrap();
                    !index.matching(Path::new(path)).is_empty()
                })
            };
            let (allows, denies) = (matches(false, &path), matches(true, &path));
            prop_assert_eq!(allows.is_some(), denies.is_some(), "{}", pattern);
            prop_assert!(allows != Some(true) || denies == Some(true), "{} {}", pattern, path);
        }
    }

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
    fn a_class_matches_as_written_and_in_the_other_letter_case() {
        let patterns = [
            "[!a]*.txt",
            "[R-d].md",
            "Src/[!_]*",
            "report\\[1\\].CSV",
            "ΑΣ*.gr",
            "É[x]/ß?.tr",
            "[!a]*.PEM",
            "s-??.xy",
        ];
        let index = index(&patterns, true);
        let found = |path: &str| index.matching(Path::new(path));
        for (path, expected) in [
            ("/ws/Ab.txt", &[0][..]),
            ("/ws/b.txt", &[0]),
            ("/ws/a.txt", &[]),
            ("/ws/s.md", &[1]),
            ("/ws/D.md", &[1]),
            ("/WS/_.md", &[1]),
            ("/ws/e.md", &[]),
            ("/ws/src/Main", &[2]),
            ("/ws/SRC/_x", &[]),
            ("/ws/REPORT[1].csv", &[3]),
            ("/ws/ΑΣΒ.gr", &[4]),
            ("/ws/ας.gr", &[4]),
            ("/ws/éx/ẞ1.TR", &[5]),
            ("/ws/Ab.pem", &[6]),
            ("/ws/s-ı.xy", &[7]),
            ("/ws/S-Ⱥ.XY", &[7]),
        ] {
            assert_eq!(found(path), expected, "{path}");
        }
        let above = |path: &str| index.matching_or_above(Path::new(path));
        assert_eq!(above("/ws/Ab.txt/x/y"), [0]);
        assert_eq!(above("/ws/ÉX/ßA.tr/İ/y"), [5]);
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
