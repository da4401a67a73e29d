//! The one function through which text that somebody else chose reaches a person's eyes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Controls, formats (direction marks, zero-width characters, tags), separators, private and unassigned code points, and
/// every space but the ASCII one. The line feed stays.
static HIDDEN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Zs}--[ \n]]").ok());

/// The text with everything that cannot be seen, or that moves what can, shown as `\u{…}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    match HIDDEN.as_ref() {
        Some(hidden) => hidden.replace_all(text, |found: &Captures<'_>| {
            found[0]
                .chars()
                .map(|c| c.escape_unicode().to_string())
                .collect::<String>()
        }),
        None => Cow::Owned(text.escape_default().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(visible("plain é text\n"), "plain é text\n");
        assert_eq!(visible("rm\u{200b} -rf"), "rm\\u{200b} -rf");
        assert_eq!(visible("x\u{1b}[2K"), "x\\u{1b}[2K");
        assert_eq!(
            visible("a\u{a0}b\u{202e}c\u{e0041}\u{ad}"),
            "a\\u{a0}b\\u{202e}c\\u{e0041}\\u{ad}"
        );
        assert!(HIDDEN.is_some());
    }
}
