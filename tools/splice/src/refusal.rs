//! Why nothing was replaced, in sentences that a model can act on.

use std::fmt::{Display, Formatter, Result};

use toolgate_reply::grouped;

use crate::matches::COUNTED_MATCHES;

/// Why an edit was not applied.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The old text is empty.
    EmptyOld,
    /// The old and the new text are the same.
    NoChange,
    /// The file is UTF-16.
    Utf16,
    /// The old text stands nowhere. The text shows the closest lines.
    NotFound(String),
    /// The old text stands at several places and not all were meant.
    Ambiguous {
        /// Matches, overlapping ones included; counting stops at 1,000.
        count: usize,
        /// Lines of the first ones, from 1.
        lines: Vec<u64>,
    },
    /// The result would exceed [`MAX_RESULT`](crate::MAX_RESULT).
    TooLarge,
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Refusal::EmptyOld => f.write_str(
                "old_string is empty. Give the text to replace; to create a file or to replace all of one, use Write.",
            ),
            Refusal::NoChange => f.write_str("old_string and new_string are the same, so nothing would change."),
            Refusal::Utf16 => {
                f.write_str("The file is UTF-16. Only files whose text is a superset of ASCII can be edited.")
            }
            Refusal::NotFound(closest) => write!(f, "old_string was not found in the file.{closest}"),
            Refusal::Ambiguous { count, lines } => {
                let at_least = if *count == COUNTED_MATCHES { "at least " } else { "" };
                write!(
                    f,
                    "old_string matches {at_least}{} places, at {}. Include more of the surrounding text so that it \
                     matches one, or set replace_all.",
                    grouped(*count as u64),
                    self::lines(lines, *count)
                )
            }
            Refusal::TooLarge => f.write_str("The result would be larger than 64 MiB."),
        }
    }
}

impl std::error::Error for Refusal {}

/// The edit of several that was refused.
#[derive(Debug, PartialEq, Eq)]
pub struct FailedEdit {
    /// Which one, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
    /// Why.
    pub refusal: Refusal,
}

impl Display for FailedEdit {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self {
            number,
            of,
            refusal,
        } = self;
        write!(
            f,
            "Edit {number} of {of} failed, so none of the edits was applied. {refusal}"
        )
    }
}

impl std::error::Error for FailedEdit {}

/// Names the first lines of `count` places: `line 3`, or `lines 1, 4, 5, 6, 9 and 7 more`.
pub(crate) fn lines(first: &[u64], count: usize) -> String {
    let named: Vec<String> = first.iter().map(u64::to_string).collect();
    let more = count.saturating_sub(first.len());
    match named.as_slice() {
        [one] if more == 0 => format!("line {one}"),
        [start @ .., last] if more == 0 => format!("lines {} and {last}", start.join(", ")),
        _ => format!(
            "lines {} and {} more",
            named.join(", "),
            grouped(more as u64)
        ),
    }
}
