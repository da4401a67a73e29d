//! Exact replacement of text in a file's bytes.
//!
//! Guarantees: every byte outside the replaced places stays as it was, whatever the file's encoding, byte order mark or
//! line endings; nothing is replaced on a guess; several edits apply all or not at all. Never opens anything.
#![forbid(unsafe_code)]

mod closest;
mod endings;
mod matches;
mod refusal;
mod snippet;

use std::ops::Range;

use endings::LineEndings;
use matches::Haystack;
use toolgate_reply::counted;

pub use refusal::{FailedEdit, Refusal};

/// Most bytes of the result.
pub const MAX_RESULT: usize = 64 << 20;

/// Most places whose lines are named.
const NAMED_PLACES: usize = 5;

/// Most edits whose changed lines are shown by [`splice_all`].
const SHOWN_EDITS: usize = 10;

/// One replacement.
#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    /// The text to replace.
    pub old: &'a str,
    /// The text to put there: taken as it is, no character of it means anything else.
    pub new: &'a str,
    /// Replace every place, left to right and without overlap; otherwise there must be exactly one.
    pub all: bool,
}

/// What an edit did.
#[derive(Debug)]
pub struct Spliced {
    /// The new bytes.
    pub text: Vec<u8>,
    /// Places replaced.
    pub count: usize,
    /// Line of each of the first places in the new bytes, from 1.
    lines: Vec<u64>,
    /// The first place in the new bytes.
    first: Range<usize>,
}

impl Spliced {
    /// What was replaced and where, then the changed lines with their numbers.
    #[must_use]
    pub fn summary(&self) -> String {
        let places = counted(self.count as u64, "place", "places");
        let lines = refusal::lines(&self.lines, self.count);
        format!(
            "Replaced {places}, at {lines}.\n{}",
            snippet::numbered(&self.text, &self.first)
        )
    }
}

/// Applies one edit.
///
/// The old text is compared byte for byte. If it holds a line feed and matches nowhere, it is compared once more with
/// LF and CRLF taken as equal. New lines take the ending of the lines they replace.
///
/// # Errors
///
/// A [`Refusal`] that says why nothing was replaced.
pub fn splice(text: &[u8], edit: Edit<'_>) -> Result<Spliced, Refusal> {
    if edit.old.is_empty() {
        return Err(Refusal::EmptyOld);
    }
    if edit.old == edit.new {
        return Err(Refusal::NoChange);
    }
    if text.starts_with(b"\xFF\xFE") || text.starts_with(b"\xFE\xFF") {
        return Err(Refusal::Utf16);
    }
    let Some(haystack) = Haystack::new(text, edit.old) else {
        return Err(Refusal::NotFound(closest::describe(text, edit.old)));
    };
    if !edit.all {
        haystack.require_one()?;
    }
    replace(text, edit, &haystack)
}

/// Applies the edits in order, each to the result of the one before, and describes each.
///
/// # Errors
///
/// The number of the first edit that was refused, and why. Then none was applied.
pub fn splice_all(text: &[u8], edits: &[Edit<'_>]) -> Result<(Vec<u8>, String), FailedEdit> {
    let mut current: Option<Vec<u8>> = None;
    let mut summary = String::new();
    for (index, &edit) in edits.iter().enumerate() {
        let spliced =
            splice(current.as_deref().unwrap_or(text), edit).map_err(|refusal| FailedEdit {
                number: index + 1,
                of: edits.len(),
                refusal,
            })?;
        if index < SHOWN_EDITS {
            summary.push_str(&format!("Edit {}: {}\n", index + 1, spliced.summary()));
        }
        current = Some(spliced.text);
    }
    if edits.len() > SHOWN_EDITS {
        let more = counted(
            (edits.len() - SHOWN_EDITS) as u64,
            "more edit",
            "more edits",
        );
        summary.push_str(&format!("[{more} applied.]\n"));
    }
    summary.pop();
    Ok((current.unwrap_or_else(|| text.to_vec()), summary))
}

fn replace(text: &[u8], edit: Edit<'_>, haystack: &Haystack<'_>) -> Result<Spliced, Refusal> {
    let mut endings = LineEndings::new(text);
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    let mut count = 0;
    let mut lines = Vec::new();
    let mut first = 0..0;
    let mut line = LineCounter::default();
    for place in haystack
        .places()
        .take(if edit.all { usize::MAX } else { 1 })
    {
        out.extend_from_slice(text.get(copied..place.start).unwrap_or_default());
        let start = out.len();
        push_new(
            &mut out,
            text,
            edit,
            &place,
            haystack.is_tolerant(),
            &mut endings,
        );
        if out.len() > MAX_RESULT {
            return Err(Refusal::TooLarge);
        }
        if count == 0 {
            first = start..out.len();
        }
        if count < NAMED_PLACES {
            lines.push(line.at(&out, start));
        }
        copied = place.end;
        count += 1;
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    if out.len() > MAX_RESULT {
        return Err(Refusal::TooLarge);
    }
    Ok(Spliced {
        text: out,
        count,
        lines,
        first,
    })
}

/// Adds the new text for one place with the line endings that it takes there.
fn push_new(
    out: &mut Vec<u8>,
    text: &[u8],
    edit: Edit<'_>,
    place: &Range<usize>,
    tolerant: bool,
    endings: &mut LineEndings<'_>,
) {
    let replaced = text.get(place.clone()).unwrap_or_default();
    if tolerant {
        endings::push_with(out, edit.new, &endings::of(replaced));
    } else if edit.new.contains('\n')
        && !edit.new.contains('\r')
        && !edit.old.contains(['\n', '\r'])
    {
        // A part of one line becomes several lines: they end as that line does.
        endings::push_with(out, edit.new, &[endings.around(place)]);
    } else {
        out.extend_from_slice(edit.new.as_bytes());
    }
}

/// Counts lines forward, so that each byte is looked at once.
#[derive(Debug, Default)]
struct LineCounter {
    counted: usize,
    feeds: u64,
}

impl LineCounter {
    /// The line of a position, from 1. Positions must not go back.
    fn at(&mut self, text: &[u8], position: usize) -> u64 {
        let part = text.get(self.counted..position).unwrap_or_default();
        self.feeds += memchr::memchr_iter(b'\n', part).count() as u64;
        self.counted = position;
        self.feeds + 1
    }
}

#[cfg(test)]
mod tests;
