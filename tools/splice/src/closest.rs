//! The lines of a file that come closest to a text that stands nowhere in it.
//!
//! Guarantees bounded time: what is compared is limited in lines, in their length and in all. The result is shown and
//! never edited.

use crate::snippet;

/// Lines that are looked at.
const MAX_LINES: usize = 100_000;

/// Bytes of a line that are compared.
const LINE_BYTES: usize = 200;

/// Pairs of bytes that are compared in all.
const MAX_WORK: usize = 30_000_000;

/// Below this similarity, from 0 to 1, a line is not worth showing.
const SIMILAR: f64 = 0.5;

/// Sentences that follow "was not found": what may be wrong, and the closest lines.
pub(crate) fn describe(text: &[u8], old: &str) -> String {
    let mut sentences = String::new();
    if has_line_numbers(old) {
        sentences.push_str(
            " It seems to contain the line numbers that Read shows; they are not part of the file.",
        );
    }
    let Some((index, anchor)) = anchor(old) else {
        return sentences;
    };
    let Some((line, similarity)) = best(text, anchor) else {
        return sentences;
    };
    if similarity == Similarity::WhiteSpace {
        sentences.push_str(" White space differs.");
    }
    let wanted = snippet::lines(old.as_bytes())
        .count()
        .clamp(1, snippet::LINES);
    let from = line.saturating_sub(index.min(wanted - 1));
    let shown = snippet::lines(text).zip(1_u64..).skip(from).take(wanted);
    sentences.push_str(" The closest lines:\n");
    sentences.push_str(&snippet::join(shown));
    sentences
}

/// How a line compares.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Similarity {
    /// The same but for white space at its ends.
    WhiteSpace,
    /// From [`SIMILAR`] to 1.
    Like(f64),
}

/// The longest line of the old text and its index: the one that says most about where it was meant to stand.
fn anchor(old: &str) -> Option<(usize, &str)> {
    let lines = old.lines().map(str::trim).enumerate().take(snippet::LINES);
    lines
        .filter(|(_, line)| !line.is_empty())
        .max_by_key(|(index, line)| (line.len(), usize::MAX - index))
}

/// The index of the line closest to the anchor.
fn best(text: &[u8], anchor: &str) -> Option<(usize, Similarity)> {
    let wanted = head(anchor.as_bytes());
    let mut work = 0;
    let mut best: Option<(usize, f64)> = None;
    for (index, line) in snippet::lines(text).enumerate().take(MAX_LINES) {
        let line = line.trim_ascii();
        if line == anchor.as_bytes() {
            return Some((index, Similarity::WhiteSpace));
        }
        let line = head(line);
        let (short, long) = (wanted.len().min(line.len()), wanted.len().max(line.len()));
        let least = best.map_or(SIMILAR, |(_, score)| score);
        // No more than the shorter one's bytes can agree.
        if short as f64 <= least * long as f64 || work > MAX_WORK {
            continue;
        }
        work += short * long;
        let distance = strsim::generic_levenshtein(&Bytes(wanted), &Bytes(line));
        let score = 1.0 - distance as f64 / long as f64;
        if score > least {
            best = Some((index, score));
        }
    }
    best.map(|(index, score)| (index, Similarity::Like(score)))
}

/// Whether the text looks copied from Read's numbered lines.
fn has_line_numbers(old: &str) -> bool {
    let mut lines = old.lines().filter(|line| !line.is_empty()).peekable();
    let numbered = |line: &str| {
        let rest = line
            .trim_start()
            .trim_start_matches(|digit: char| digit.is_ascii_digit());
        rest.starts_with('\t') && rest.len() < line.trim_start().len()
    };
    lines.peek().is_some() && lines.all(numbered)
}

fn head(line: &[u8]) -> &[u8] {
    line.get(..LINE_BYTES).unwrap_or(line)
}

/// Bytes as `strsim` takes them.
struct Bytes<'a>(&'a [u8]);

impl<'a> IntoIterator for &'a Bytes<'_> {
    type Item = u8;
    type IntoIter = std::iter::Copied<std::slice::Iter<'a, u8>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().copied()
    }
}
