//! Path patterns: the grammar of `Read(…)`.
//!
//! A glob (globset): `?` and `*` do not cross `/`, `**` does, `{a,b}` and `[ab]` choose, `\` takes the next character
//! literally, so that `report[1].csv` is reached by `report\[1\].csv`. Parentheses need nothing. A relative pattern
//! stands on the workspace root, `~/` on the home directory. `..` and `.` are folded away.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobBuilder};

use super::letter_case::fold_char;
use super::paths::fold;

/// A compiled pattern, on absolute paths.
#[derive(Clone, Debug)]
pub struct PathPattern {
    glob: Glob,
    as_given: Option<Glob>,
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
        check_classes(pattern, &absolute)?;
        let both = ignore_case && depends_on_spelling(&absolute);
        let as_given = both.then(|| build(&either_case(&absolute), false));
        let glob = match ignore_case {
            true => build(&folded(&absolute), both),
            false => build(&absolute, false),
        };
        let wrong = |error: globset::Error| PatternError::Glob {
            pattern: pattern.to_owned(),
            what: error.kind().to_string(),
        };
        Ok(Self {
            glob: glob.map_err(wrong)?,
            as_given: as_given.transpose().map_err(wrong)?,
            literal,
            below,
        })
    }

    /// The pattern's glob. Where letter case is ignored it is for paths whose letters are folded.
    pub fn glob(&self) -> &Glob {
        &self.glob
    }

    /// A second glob, for paths as they are, where letter case is ignored and a folded path does not show everything: `[!a]`,
    /// which `A` matches as written, does not match the `a` that `A` is folded to; and a `?` is one byte, of which a
    /// folded letter may have another number.
    pub(super) fn as_given(&self) -> Option<&Glob> {
        self.as_given.as_ref()
    }

    /// The absolute pattern. Where letter case is ignored its letters are folded, but for those of classes.
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

/// Where a character of a pattern stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Outside,
    /// Behind a backslash.
    Escaped,
    /// Between `[` and `]`; both count as outside.
    Class,
}

/// The characters of a pattern, and where each stands. In a class, a `]` is the first character or the end.
fn letters(pattern: &str) -> impl Iterator<Item = (char, Place)> {
    let mut place = Place::Outside;
    // Only the first character of a class negates it, and only the first behind that is a `]` of it.
    let (mut may_negate, mut may_close) = (false, false);
    pattern.chars().map(move |letter| {
        let here = match (place, letter) {
            (Place::Class, ']') if may_close => Place::Outside,
            (known, _) => known,
        };
        let negates = may_negate && matches!(letter, '!' | '^');
        place = match (here, letter) {
            (Place::Outside, '\\') => Place::Escaped,
            (Place::Outside, '[') => Place::Class,
            (Place::Outside | Place::Escaped, _) => Place::Outside,
            (Place::Class, _) => Place::Class,
        };
        may_negate = here == Place::Outside && place == Place::Class;
        may_close = here == Place::Class && !negates;
        (letter, here)
    })
}

/// Classes are of single bytes, and written out.
fn check_classes(pattern: &str, absolute: &str) -> Result<(), PatternError> {
    let mut before = None;
    for (letter, _) in letters(absolute).filter(|(_, place)| *place == Place::Class) {
        if !letter.is_ascii() {
            return Err(PatternError::Class {
                pattern: pattern.to_owned(),
                letter,
            });
        }
        if (before, letter) == (Some('['), ':') {
            return Err(PatternError::Glob {
                pattern: pattern.to_owned(),
                what: "'[:' in a class: write its characters, as in [0-9]".to_owned(),
            });
        }
        before = Some(letter);
    }
    Ok(())
}

/// Whether a path may match as it is and not when it is folded.
fn depends_on_spelling(pattern: &str) -> bool {
    letters(pattern).any(|(letter, place)| place == Place::Class || letter == '?')
}

/// Folded outside of classes, which cannot be: `[R-d]` would end before it begins.
fn folded(pattern: &str) -> String {
    letters(pattern)
        .map(|(letter, place)| match place {
            Place::Class => letter,
            Place::Outside | Place::Escaped => fold_char(letter),
        })
        .collect()
}

/// Every ASCII letter outside of classes in both cases, so that only classes are as they were written.
fn either_case(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len() * 4);
    for (letter, place) in letters(pattern) {
        if place == Place::Class || !letter.is_ascii_alphabetic() {
            text.push(letter);
            continue;
        }
        if place == Place::Escaped {
            text.pop();
        }
        text.extend([
            '[',
            letter.to_ascii_lowercase(),
            letter.to_ascii_uppercase(),
            ']',
        ]);
    }
    text
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
        let named = compile("[[:digit:]]", None).unwrap_err().to_string();
        assert!(named.contains("write its characters"), "{named}");
        assert!(matches!(
            compile("**/../x", None),
            Err(PatternError::UpFromWildcard(_))
        ));
        assert!(compile("../x/*", None).is_ok());
    }

    #[test]
    fn places_are_those_of_globs() {
        let classes = |pattern: &str| -> String {
            let letters = letters(pattern).filter(|(_, place)| *place == Place::Class);
            letters.map(|(letter, _)| letter).collect()
        };
        for (pattern, inside) in [
            ("a[b]c", "b"),
            ("[]x]y", "]x"),
            ("[!]x]y", "!]x"),
            ("[!!]", "!!"),
            ("\\[a]", ""),
            ("[\\]a]", "\\"),
            ("{[ab],c}[d]", "abd"),
            ("[[]z", "["),
        ] {
            assert_eq!(classes(pattern), inside, "{pattern}");
        }
        assert_eq!(either_case("a\\B\\[.é[!x]"), "[aA][bB]\\[.é[!x]");
    }

    #[test]
    fn only_a_pattern_without_wildcards_is_literal() {
        let compile =
            |pattern: &str| PathPattern::compile(pattern, Path::new("/ws"), None, true).unwrap();
        assert_eq!(compile(".env").literal(), Some(Path::new("/ws/.env")));
        assert_eq!(compile("*.env").literal(), None);
    }
}
