//! Path patterns: the grammar of `Read(…)`.
//!
//! A glob (globset): `?` and `*` do not cross `/`, `**` does, `{a,b}` and `[ab]` choose, `\` takes the next character
//! literally, so that `report[1].csv` is reached by `report\[1\].csv`. Parentheses need nothing. A relative pattern
//! stands on the workspace root, `~/` on the home directory. `..` and `.` are folded away.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder};

use super::letter_case::{fold_case, fold_char};
use super::paths::fold;

/// A compiled pattern, on absolute paths.
#[derive(Clone, Debug)]
pub struct PathPattern {
    glob: Glob,
    either_case: Option<Glob>,
    literal: Option<PathBuf>,
    below: Option<PathBuf>,
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The glob grammar.
    #[error("the pattern '{pattern}' is not a glob: {what}")]
    Glob {
        /// As written.
        pattern: String,
        /// The matcher's words.
        what: String,
    },
    /// A trailing slash, which could mean two things.
    #[error(
        "the pattern '{0}' ends in '/': write '{0}**' for what is below the directory, or leave out the '/' for \
         the directory itself"
    )]
    TrailingSlash(String),
    /// `..` behind a wildcard, which may stand for any number of names.
    #[error(
        "the pattern '{0}' has a '..' behind a wildcard, so it is not clear what it leaves: write the path without it"
    )]
    UpFromWildcard(String),
    /// A class of characters that are no single byte, as classes are compared.
    #[error(
        "the pattern '{pattern}' has '{letter}' between '[' and ']', where only ASCII characters can stand: write a \
         choice instead, as in '{{{letter},x}}'"
    )]
    Class {
        /// As written.
        pattern: String,
        /// The first such character.
        letter: char,
    },
    /// `~/` without a home directory.
    #[error("the pattern '{0}' stands on the home directory, and there is none")]
    NoHome(String),
}

impl PathPattern {
    /// Compiles a pattern. With `ignore_case` it ignores letter case, as deny patterns do: on some file systems two
    /// spellings are one file.
    ///
    /// # Errors
    /// [`PatternError`].
    pub fn compile(
        pattern: &str,
        workspace: &Path,
        home: Option<&Path>,
        ignore_case: bool,
    ) -> Result<Self, PatternError> {
        if pattern.ends_with('/') && pattern != "/" {
            return Err(PatternError::TrailingSlash(pattern.to_owned()));
        }
        if leaves_wildcard(pattern) {
            return Err(PatternError::UpFromWildcard(pattern.to_owned()));
        }
        let (base, rest) = match pattern.strip_prefix("~/") {
            Some(rest) => (
                home.ok_or_else(|| PatternError::NoHome(pattern.to_owned()))?,
                rest,
            ),
            None => (workspace, pattern),
        };
        let base = PathBuf::from(globset::escape(&base.to_string_lossy()));
        let absolute = fold(&base, Path::new(rest)).to_string_lossy().into_owned();
        let literal = is_literal(&absolute).then(|| PathBuf::from(&absolute));
        let below = absolute.strip_suffix("/**");
        let below = below.filter(|path| is_literal(path) && !path.is_empty());
        let below = below.map(PathBuf::from);
        let is_odd = |(letter, in_class): &(char, bool)| *in_class && !letter.is_ascii();
        if let Some((letter, _)) = letters(&absolute).find(is_odd) {
            return Err(PatternError::Class {
                pattern: pattern.to_owned(),
                letter,
            });
        }
        let has_class = letters(&absolute).any(|(_, in_class)| in_class);
        let glob = match ignore_case && !has_class {
            true => build(&fold_case(&absolute), false),
            false => build(&absolute, false),
        };
        let either_case = (ignore_case && has_class).then(|| {
            let folded = letters(&absolute).map(|(letter, in_class)| match in_class {
                true => letter,
                false => fold_char(letter),
            });
            build(&folded.collect::<String>(), true)
        });
        let wrong = |error: globset::Error| PatternError::Glob {
            pattern: pattern.to_owned(),
            what: error.kind().to_string(),
        };
        Ok(Self {
            glob: glob.map_err(wrong)?,
            either_case: either_case.transpose().map_err(wrong)?,
            literal,
            below,
        })
    }

    /// The pattern's glob, for paths as they are. Where letter case is ignored and there is no [`Self::either_case`], its
    /// letters are folded, and so must those of the path be.
    pub fn glob(&self) -> &Glob {
        &self.glob
    }

    /// A second glob, for folded paths, which ignores letter case itself: that of a class of characters cannot be folded
    /// beforehand. `[R-d]` would end before it begins; and `[!a]`, which `A` matches as written, does not match the `a`
    /// that `A` is folded to.
    pub(super) fn either_case(&self) -> Option<&Glob> {
        self.either_case.as_ref()
    }

    /// The absolute pattern, its letters as those of [`Self::glob`].
    pub(super) fn text(&self) -> &str {
        self.glob.glob()
    }

    /// The directory, if the pattern is all that is below one.
    pub fn below(&self) -> Option<&Path> {
        self.below.as_deref()
    }

    /// The path, if the pattern is one path and nothing else.
    pub fn literal(&self) -> Option<&Path> {
        self.literal.as_deref()
    }
}

/// Whether a `..` stands behind a component with a wildcard: it cannot be folded away.
fn leaves_wildcard(pattern: &str) -> bool {
    let mut components = pattern.split('/');
    let wild = components.by_ref().any(|component| !is_literal(component));
    wild && components.any(|component| component == "..")
}

/// Whether a pattern, or a part of one, means itself alone.
pub(super) fn is_literal(text: &str) -> bool {
    !text.contains(['*', '?', '[', '{', '\\'])
}

/// The characters of a pattern, and which of them stand in a class (`[…]`, in which a `]` is the first or the end).
fn letters(pattern: &str) -> impl Iterator<Item = (char, bool)> {
    let mut state = State::Outside;
    pattern.chars().map(move |letter| {
        let in_class = matches!(state, State::Begun | State::Negated | State::Inside);
        state = match (state, letter) {
            (State::Outside, '\\') => State::Escaped,
            (State::Outside, '[') => State::Begun,
            (State::Begun, '!' | '^') => State::Negated,
            (State::Outside | State::Escaped, _) | (State::Inside, ']') => State::Outside,
            (State::Begun | State::Negated | State::Inside, _) => State::Inside,
        };
        (letter, in_class)
    })
}

/// Where in a pattern the next character stands.
#[derive(Clone, Copy, Debug)]
enum State {
    Outside,
    Escaped,
    Begun,
    Negated,
    Inside,
}

fn build(text: &str, ignore_case: bool) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text)
        .case_insensitive(ignore_case)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        PathPattern::compile(
            pattern,
            Path::new("/w[s]"),
            Some(Path::new("/home/u")),
            false,
        )
        .unwrap()
        .glob()
        .compile_matcher()
        .is_match(path)
    }

    #[test]
    fn the_grammar_holds() {
        for (pattern, path, expected) in [
            ("*.rs", "/w[s]/a.rs", true),
            ("*.rs", "/w[s]/b/a.rs", false),
            ("**/*.rs", "/w[s]/b/a.rs", true),
            ("./.env", "/w[s]/.env", true),
            ("a/../b", "/w[s]/b", true),
            ("~/.ssh/**", "/home/u/.ssh/id", true),
            ("/etc/*", "/etc/passwd", true),
            ("/etc/*", "/etc/a/b", false),
            ("report(1).csv", "/w[s]/report(1).csv", true),
            ("report\\[1\\].csv", "/w[s]/report[1].csv", true),
            (
                "app/$slug+/**",
                "/w[s]/app/$slug+/pivot.$t.($cur).tsx",
                true,
            ),
            ("**", "/w[s]/x/y", true),
            ("/**", "/anything/at/all", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn bad_patterns_are_refused_with_a_reason() {
        let compile =
            |pattern: &str, home| PathPattern::compile(pattern, Path::new("/ws"), home, false);
        assert!(matches!(
            compile("a[", None),
            Err(PatternError::Glob { .. })
        ));
        assert!(matches!(
            compile("secrets/", None),
            Err(PatternError::TrailingSlash(_))
        ));
        assert!(matches!(compile("~/x", None), Err(PatternError::NoHome(_))));
        for (pattern, first) in [("a[xé]", 'é'), ("[!ü]*", 'ü'), ("é[]ß]", 'ß')] {
            let error = compile(pattern, None).unwrap_err();
            assert!(matches!(&error, PatternError::Class { letter, .. } if *letter == first));
            assert!(error.to_string().contains(&format!("'{{{first},x}}'")));
        }
        assert!(compile("é\\[ü[a]ö", None).is_ok());
        assert!(matches!(
            compile("**/../x", None),
            Err(PatternError::UpFromWildcard(_))
        ));
        assert!(compile("../x/*", None).is_ok());
    }

    #[test]
    fn only_a_pattern_without_wildcards_is_literal() {
        let compile =
            |pattern: &str| PathPattern::compile(pattern, Path::new("/ws"), None, true).unwrap();
        assert_eq!(compile(".env").literal(), Some(Path::new("/ws/.env")));
        assert_eq!(compile("*.env").literal(), None);
    }
}
