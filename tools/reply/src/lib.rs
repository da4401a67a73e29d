//! The text of a tool's reply: entries that fit, then notes on what is missing.
//!
//! Guarantees that no reply exceeds [`MAX_CHARS`] characters and that notes always fit, so that a tool pages by itself
//! before the host has to cut. Never contains anything about files or patterns.
#![forbid(unsafe_code)]

use std::borrow::Cow;

/// Most characters of one reply. The host cuts at 30,000; what is below arrives whole.
pub const MAX_CHARS: usize = 28_000;

/// Characters of [`MAX_CHARS`] that stay free for notes.
pub const NOTES_CHARS: usize = 1_000;

/// A reply under construction. Each entry ends with a line feed.
#[derive(Debug)]
pub struct Reply {
    text: String,
    left: usize,
    full: bool,
}

impl Default for Reply {
    fn default() -> Self {
        Self::new()
    }
}

impl Reply {
    /// An empty reply.
    #[must_use]
    pub fn new() -> Self {
        Self {
            text: String::new(),
            left: MAX_CHARS - NOTES_CHARS,
            full: false,
        }
    }

    /// Adds one entry and a line feed if they fit. The first entry that does not fit closes the reply: whatever is
    /// smaller and comes later stays out too, so that a reply is always a prefix of the whole.
    pub fn push(&mut self, entry: &str) -> bool {
        if self.full {
            return false;
        }
        let cost = entry.chars().count() + 1;
        if cost > self.left {
            self.full = true;
            return false;
        }
        self.left -= cost;
        self.text.push_str(entry);
        self.text.push('\n');
        true
    }

    /// Whether no entry was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether an entry did not fit.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The text: the entries, then each note on a line of its own. Notes beyond [`NOTES_CHARS`] are cut.
    #[must_use]
    pub fn finish(mut self, notes: &[String]) -> String {
        let notes = notes.join("\n");
        self.text.push_str(&cut(&notes, NOTES_CHARS - 1));
        if notes.is_empty() && self.text.ends_with('\n') {
            self.text.pop();
        }
        self.text
    }
}

/// The first `max` characters of a text; `…` stands for the rest if there is one.
#[must_use]
pub fn cut(text: &str, max: usize) -> Cow<'_, str> {
    match text
        .char_indices()
        .nth(max)
        .and_then(|(end, _)| text.get(..end))
    {
        Some(start) => Cow::Owned(format!("{start}…")),
        None => Cow::Borrowed(text),
    }
}

/// A number as people read it: `12345` is `12,345`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A counted noun: `1 file`, `2,000 files`. `many` is the plural.
#[must_use]
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        grouped(number),
        if number == 1 { one } else { many }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_by_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_345_678), "12,345,678");
    }

    #[test]
    fn counts_nouns() {
        assert_eq!(counted(1, "entry", "entries"), "1 entry");
        assert_eq!(counted(1_001, "entry", "entries"), "1,001 entries");
    }

    #[test]
    fn cuts_at_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü", 2), "äö…");
    }

    #[test]
    fn stays_within_the_bound_in_characters() {
        let mut reply = Reply::new();
        let entry = "ü".repeat(99);
        let mut pushed = 0;
        while reply.push(&entry) {
            pushed += 1;
        }
        assert_eq!(pushed, 270);
        assert!(reply.is_full());
        assert!(!reply.push("x"), "a full reply takes nothing more");
        let text = reply.finish(&["n".repeat(5_000)]);
        assert!(text.chars().count() <= MAX_CHARS);
        assert!(text.ends_with('…'));
    }

    #[test]
    fn ends_without_a_line_feed() {
        let mut reply = Reply::new();
        assert!(reply.is_empty());
        assert!(reply.push("a"));
        assert_eq!(reply.finish(&[]), "a");
        let mut reply = Reply::new();
        reply.push("a");
        assert_eq!(reply.finish(&["[note]".to_owned()]), "a\n[note]");
    }
}
