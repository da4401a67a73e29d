//! Where the old text stands.
//!
//! Guarantees linear time, and that a match which tolerates line endings differs from the old text in nothing else.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;

use crate::refusal::Refusal;
use crate::{LineCounter, NAMED_PLACES};

/// Matches that are counted when there should be one: counting overlapping matches has no linear bound.
pub(crate) const COUNTED_MATCHES: usize = 1_000;

/// A file's bytes in which the old text stands at least once.
pub(crate) struct Haystack<'a> {
    original: &'a [u8],
    /// What is searched: the file itself, or the file with each CRLF as LF.
    searched: Cow<'a, [u8]>,
    /// Positions in `searched` of the line feeds that stand for CRLF.
    shortened: Vec<usize>,
    finder: Finder<'a>,
    tolerant: bool,
}

impl<'a> Haystack<'a> {
    /// None if the old text stands nowhere.
    pub(crate) fn new(original: &'a [u8], old: &'a str) -> Option<Self> {
        let finder = Finder::new(old.as_bytes());
        if finder.find(original).is_some() {
            let searched = Cow::Borrowed(original);
            return Some(Self {
                original,
                searched,
                shortened: Vec::new(),
                finder,
                tolerant: false,
            });
        }
        if !old.contains('\n') {
            return None;
        }
        let (searched, shortened) = shorten(original);
        let finder = Finder::new(&old.replace("\r\n", "\n")).into_owned();
        finder.find(&searched)?;
        Some(Self {
            original,
            searched: Cow::Owned(searched),
            shortened,
            finder,
            tolerant: true,
        })
    }

    /// Whether line endings were tolerated.
    pub(crate) fn is_tolerant(&self) -> bool {
        self.tolerant
    }

    /// The places in the file, left to right and without overlap.
    pub(crate) fn places(&self) -> impl Iterator<Item = Range<usize>> {
        let length = self.finder.needle().len();
        self.finder
            .find_iter(&self.searched)
            .map(move |start| self.original(start)..self.original(start + length))
    }

    /// Refuses if there are several matches, overlapping ones included.
    pub(crate) fn require_one(&self) -> Result<(), Refusal> {
        let mut lines = Vec::new();
        let mut counter = LineCounter::default();
        let mut count = 0;
        let mut from = 0;
        while count < COUNTED_MATCHES {
            let rest = self.searched.get(from..).unwrap_or_default();
            let Some(start) = self.finder.find(rest).map(|start| from + start) else {
                break;
            };
            if count < NAMED_PLACES {
                lines.push(counter.at(self.original, self.original(start)));
            }
            count += 1;
            from = start + 1;
        }
        if count > 1 {
            Err(Refusal::Ambiguous { count, lines })
        } else {
            Ok(())
        }
    }

    /// A position of `searched` in the file. The CR of a shortened ending belongs to its line feed.
    fn original(&self, position: usize) -> usize {
        position + self.shortened.partition_point(|&feed| feed < position)
    }
}

/// The bytes with each CRLF as LF, and where those stand.
fn shorten(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut short = Vec::with_capacity(text.len());
    let mut positions = Vec::with_capacity(memchr::memmem::find_iter(text, b"\r\n").count());
    let mut copied = 0;
    for ending in memchr::memmem::find_iter(text, b"\r\n") {
        short.extend_from_slice(text.get(copied..ending).unwrap_or_default());
        positions.push(short.len());
        copied = ending + 1;
    }
    short.extend_from_slice(text.get(copied..).unwrap_or_default());
    (short, positions)
}
