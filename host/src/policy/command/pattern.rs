//! Command patterns: the grammar of `Bash(…)`.
//!
//! One simple command of literal words, quoted as in a shell. A trailing `:*` stands for any further words: `git:*` covers
//! `git` and `git push`, and never `gitfoo`. There is no other wildcard.

use super::scan::scan_arguments;

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandPattern {
    words: Vec<String>,
    any_further: bool,
}

/// Why a text is no command pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandPatternError {
    /// Nothing, or `:*` alone.
    #[error("the pattern '{0}' names no command: write the tool's name alone for every command")]
    Empty(String),
    /// An unquoted `*`, `?` or `[…]`.
    #[error(
        "the pattern '{0}' has a wildcard: '*' is only one as ':*' at the end ('git push:*'); put it in quotes to mean the \
         character"
    )]
    Wildcard(String),
    /// An unquoted brace or tilde.
    #[error(
        "the pattern '{0}' has a brace or tilde that the shell replaces: put it in quotes to mean the character"
    )]
    Replaced(String),
    /// `git :*`.
    #[error("the pattern '{0}' has a blank before ':*': write ':*' at the end of the last word")]
    Blank(String),
    /// Several commands.
    #[error("the pattern '{0}' is more than one command: write one rule for each")]
    Several(String),
    /// `A=b git`.
    #[error(
        "the pattern '{0}' sets a variable: a command that does is never allowed by a rule, and a deny rule sees it without \
         that; leave the assignment out"
    )]
    Assignment(String),
    /// Anything else that is no list of literal words.
    #[error(
        "the pattern '{pattern}' is not one command of literal words: it has {reason}; put in quotes what is meant literally"
    )]
    NotLiteral {
        /// As written.
        pattern: String,
        /// What it has.
        reason: &'static str,
    },
}

impl CommandPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`CommandPatternError`].
    pub fn parse(text: &str) -> Result<Self, CommandPatternError> {
        let (command, any_further) = match text.strip_suffix(":*") {
            Some(command) => (command, true),
            None => (text, false),
        };
        if command.trim_matches([' ', '\t', '\n']).is_empty() {
            return Err(CommandPatternError::Empty(text.to_owned()));
        }
        if any_further && command.ends_with([' ', '\t', '\n']) {
            return Err(CommandPatternError::Blank(text.to_owned()));
        }
        let scan = scan_arguments(command);
        if let Some(reason) = scan.reason {
            return Err(CommandPatternError::NotLiteral {
                pattern: text.to_owned(),
                reason,
            });
        }
        let words = match scan.commands.as_slice() {
            [only] => &only.words,
            [] => return Err(CommandPatternError::Empty(text.to_owned())),
            [_, _, ..] => return Err(CommandPatternError::Several(text.to_owned())),
        };
        if words.first().is_some_and(|word| word.assigns()) {
            return Err(CommandPatternError::Assignment(text.to_owned()));
        }
        if let Some(word) = words.iter().find(|word| !word.is_literal()) {
            return Err(if word.text().contains(['*', '?', '[']) {
                CommandPatternError::Wildcard(text.to_owned())
            } else {
                CommandPatternError::Replaced(text.to_owned())
            });
        }
        Ok(Self {
            words: words.iter().map(|word| word.text().to_owned()).collect(),
            any_further,
        })
    }

    /// The words, at least one.
    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Whether any further words may follow.
    pub(super) fn any_further(&self) -> bool {
        self.any_further
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_holds() {
        for (text, words, any_further) in [
            ("git", vec!["git"], false),
            ("git:*", vec!["git"], true),
            (
                "gh api -X DELETE:*",
                vec!["gh", "api", "-X", "DELETE"],
                true,
            ),
            ("git fetch  origin", vec!["git", "fetch", "origin"], false),
            ("cat 'a b' \"*\" \\*", vec!["cat", "a b", "*", "*"], false),
            ("scp host:", vec!["scp", "host:"], false),
            (
                "git stash pop stash@{0}",
                vec!["git", "stash", "pop", "stash@{0}"],
                false,
            ),
            ("time:*", vec!["time"], true),
            ("[ -f x ]", vec!["[", "-f", "x", "]"], false),
            ("dd if=/dev/zero:*", vec!["dd", "if=/dev/zero"], true),
            ("echo ':*'", vec!["echo", ":*"], false),
        ] {
            let pattern = CommandPattern::parse(text).unwrap();
            assert_eq!(pattern.words(), words, "{text}");
            assert_eq!(pattern.any_further(), any_further, "{text}");
        }
    }

    #[test]
    fn bad_patterns_are_refused_with_a_reason() {
        use CommandPatternError as E;
        let error = |text: &str| CommandPattern::parse(text).unwrap_err();
        for text in ["", " ", ":*", "  :*", "# x"] {
            assert!(matches!(error(text), E::Empty(_)), "{text}");
        }
        for text in [
            "git *",
            "git*",
            "x: *",
            "*:*",
            "git:*:*",
            "r[m]",
            "a?:*",
            "git push:* origin",
        ] {
            assert!(matches!(error(text), E::Wildcard(_)), "{text}");
        }
        assert!(matches!(error("~/bin/x:*"), E::Replaced(_)));
        assert!(matches!(error("git {a,b}"), E::Replaced(_)));
        assert!(matches!(error("git :*"), E::Blank(_)));
        for text in ["a; b", "a && b:*", "a | b", "a\nb"] {
            assert!(matches!(error(text), E::Several(_)), "{text}");
        }
        assert!(matches!(error("A=b git"), E::Assignment(_)));
        for text in [
            "git 'x", "git $X:*", "git > x", "(git)", "a &", "git \\:*", "git `x`", "a;", "; a",
            "a &&",
        ] {
            assert!(
                CommandPattern::parse(text).is_err() || text == "a;",
                "{text}"
            );
        }
        assert!(error("git *").to_string().contains("':*' at the end"));
    }
}
