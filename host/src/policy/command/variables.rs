//! Variables that one command sets for another: may they carry code?
//!
//! Guarantees to doubt whatever is not plainly data. A leading assignment makes a text opaque; this says when the same
//! thing done by `env`, `sudo` or `export` is no less.

use super::word::Word;

/// Beginnings of names whose value decides what is run, or how it is read.
const CARRYING_PREFIXES: &[&str] = &[
    "BASH",
    "CARGO_",
    "DYLD_",
    "GIT_",
    "JAVA_",
    "LD_",
    "MAKE",
    "NODE_OPT",
    "NODE_PATH",
    "NPM_",
    "PERL",
    "PYTHON",
    "RUBY",
    "SHELL",
    "SSH_",
    "SUDO_",
    "ZDOT",
];

/// Parts of such names.
const CARRYING_PARTS: &[&str] = &[
    "ASKPASS", "BROWSER", "COMMAND", "EDITOR", "EXEC", "LAUNCHER", "OPENER", "PAGER", "PRELOAD",
    "PROGRAM", "SHELL", "VISUAL", "WRAPPER",
];

/// Ends of such names.
const CARRYING_ENDS: &[&str] = &["CC", "CXX", "FLAGS", "OPTIONS", "OPTS", "PATH", "_RSH"];

/// Whole names.
const CARRYING: &[&str] = &[
    "AWKPATH",
    "ENV",
    "HOME",
    "IFS",
    "LESSOPEN",
    "LESSCLOSE",
    "PS4",
];

/// What a word `NAME=value` sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assignment<'a> {
    /// What stands behind the sign.
    pub(super) value: &'a str,
    /// Whether the value may be code, or change what later words mean.
    pub(super) carries_code: bool,
}

/// Reads `NAME=value` or `NAME+=value`.
pub(super) fn assignment(word: &Word) -> Option<Assignment<'_>> {
    let (name, value) = word.text().split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name).to_uppercase();
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let carrying = CARRYING.contains(&name.as_str())
        || CARRYING_PREFIXES
            .iter()
            .any(|start| name.starts_with(start))
        || CARRYING_PARTS.iter().any(|part| name.contains(part))
        || CARRYING_ENDS.iter().any(|end| name.ends_with(end));
    let plain = word.is_literal()
        && !value.starts_with('-')
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.,:@%+-".contains(&byte));
    Some(Assignment {
        value,
        carries_code: !is_name || carrying || !plain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_data_is_no_code() {
        for (text, expected) in [
            ("RUST_LOG=debug", false),
            ("A=b", false),
            ("NODE_ENV=production", false),
            ("TZ=", false),
            ("PAGER=less", true),
            ("GIT_SSH_COMMAND=x", true),
            ("LD_PRELOAD=x.so", true),
            ("PATH=.", true),
            ("PERL5OPT=x", true),
            ("A=rm x", true),
            ("A=/bin/x", true),
            ("A=-x", true),
            ("BASH_FUNC_ls%%=() { x; }", true),
        ] {
            let word = Word::literal(text);
            assert_eq!(assignment(&word).unwrap().carries_code, expected, "{text}");
        }
        assert!(assignment(&Word::literal("x")).is_none());
    }
}
