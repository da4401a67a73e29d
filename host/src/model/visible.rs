//! The one function through which text that somebody else chose reaches a person's eyes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Controls, formats (direction marks, zero-width characters, tags), separators, private and unassigned code points, what
/// is ignorable by default (variation selectors, fillers, joiners), the blank Braille pattern, and every space but the
/// ASCII one. The line feed stays.
static HIDDEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let classes =
        r"\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Zs}\p{Default_Ignorable_Code_Point}\u{2800}";
    Regex::new(&format!("[{classes}--[ \n]]")).ok()
});

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

/// What ordinary texts hold although it cannot be seen: tabs, no-break spaces and the mark that makes a sign an emoji.
const ORDINARY: [char; 4] = ['\t', '\u{a0}', '\u{202f}', '\u{fe0f}'];

/// Whether a text of several lines holds what a reader would not see.
pub fn hides(text: &str) -> bool {
    matches!(visible(&text.replace(ORDINARY, "")), Cow::Owned(_))
}

/// A text of several lines without what a reader would not see.
pub fn strip(text: &str) -> String {
    let plain = text.replace("\r\n", "\n").replace(ORDINARY, " ");
    match HIDDEN.as_ref() {
        Some(hidden) => hidden.replace_all(&plain, "").into_owned(),
        None => plain.escape_default().to_string(),
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

    #[test]
    fn what_is_stripped_hides_nothing() {
        let text = "a\u{1b}[2Kb\u{202e}c\u{e0041}\r\nd\te\u{200b}";
        assert_eq!(strip(text), "a[2Kbc\nd e");
        assert!(hides(text) && !hides(&strip(text)));
    }

    #[test]
    fn nothing_blank_passes() {
        let blank = [
            '\u{fe0f}',
            '\u{e0100}',
            '\u{34f}',
            '\u{115f}',
            '\u{3164}',
            '\u{ffa0}',
            '\u{180b}',
            '\u{2800}',
            '\u{3000}',
            '\u{2028}',
            '\u{2029}',
            '\u{e000}',
            '\u{10ffff}',
            '\u{378}',
            '\u{2066}',
            '\u{feff}',
            '\u{85}',
            '\u{9b}',
            '\u{7f}',
            '\r',
            '\t',
            '\0',
        ];
        for c in blank {
            let shown = visible(&c.to_string()).into_owned();
            assert_eq!(shown, c.escape_unicode().to_string());
        }
        for text in ["naïve", "漢字", "עברית", "🦀", "e\u{301}"] {
            assert_eq!(visible(text), text);
        }
    }
}
