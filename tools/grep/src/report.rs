//! The entries of a reply, paged.
//!
//! Guarantees that the reply is bounded, that each entry is shown or counted until counting ends, and that the reply
//! says what is missing and how to get it. Never searches.

use std::ops::Range;

use toolgate_reply::{Reply, counted, grouped};

/// Most characters of a line shown.
pub const LINE_CHARS: usize = 400;

/// Bytes shown before a match where its line is cut.
const LEAD_BYTES: usize = 120;

/// Entries behind the page that are counted; then the search ends.
const MAX_COUNTED: u64 = 10_000;

/// Bytes behind the page that are searched to count; then the search ends.
const MAX_SEARCHED: u64 = 1 << 30;

/// The entries so far.
#[derive(Debug)]
pub(crate) struct Report {
    reply: Reply,
    offset: u64,
    limit: u64,
    /// Entries that came, shown or not.
    seen: u64,
    shown: u64,
    searched_behind: u64,
    stopped: bool,
    /// A mark stands before the next entry.
    separated: bool,
}

impl Report {
    /// A page of at most `limit` entries behind the first `offset`.
    pub(crate) fn new(offset: u64, limit: u64) -> Self {
        Self {
            reply: Reply::new(),
            offset,
            limit,
            seen: 0,
            shown: 0,
            searched_behind: 0,
            stopped: false,
            separated: false,
        }
    }

    /// The next entry. Its text is only made if it belongs on the page.
    pub(crate) fn entry(&mut self, text: impl FnOnce() -> String) {
        self.seen += 1;
        let separated = std::mem::take(&mut self.separated);
        if self.seen <= self.offset || self.is_closed() {
            return;
        }
        let text = if separated {
            format!("--\n{}", text())
        } else {
            text()
        };
        if self.reply.push(&text) {
            self.shown += 1;
        }
    }

    /// A mark between two groups of entries; it is none itself.
    pub(crate) fn separator(&mut self) {
        self.separated = self.shown > 0;
    }

    /// Takes note of bytes that were searched. False if counting ends.
    pub(crate) fn goes_on(&mut self, searched: usize) -> bool {
        if self.is_closed() {
            self.searched_behind += searched as u64;
            let behind = self.seen - self.offset.min(self.seen) - self.shown;
            self.stopped |= behind > MAX_COUNTED || self.searched_behind > MAX_SEARCHED;
        }
        !self.stopped
    }

    /// Whether no entry came.
    pub(crate) fn is_empty(&self) -> bool {
        self.seen == 0
    }

    /// The text of the page: `first` if nothing came, the entries, how to go on, the notes.
    pub(crate) fn finish(self, entries: (&str, &str), notes: Vec<String>) -> String {
        let mut all = Vec::new();
        if self.shown < self.seen {
            all.push(self.range(entries));
        }
        all.extend(notes);
        self.reply.finish(&all)
    }

    fn range(&self, (one, many): (&str, &str)) -> String {
        let at_least = if self.stopped { "at least " } else { "" };
        let total = counted(self.seen, one, many);
        if self.shown == 0 && self.seen <= self.offset {
            return format!(
                "[Nothing at offset {}: there are {at_least}{total}.]",
                self.offset
            );
        }
        let (first, last) = (grouped(self.offset + 1), grouped(self.offset + self.shown));
        let next = self.offset + self.shown;
        let more = if next < self.seen {
            format!(" Go on with offset {next}.")
        } else {
            String::new()
        };
        format!("[Showing {first} to {last} of {at_least}{total}.{more}]")
    }

    fn is_closed(&self) -> bool {
        self.shown >= self.limit || self.reply.is_full()
    }
}

/// A line's text: lossy, and where it is longer than [`LINE_CHARS`] cut to what is around the match, with `…` for what
/// is missing.
pub(crate) fn show(line: &[u8], found: Option<Range<usize>>) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LINE_CHARS {
        return String::from_utf8_lossy(line).into_owned();
    }
    let from = found.map_or(0, |found| found.start.saturating_sub(LEAD_BYTES));
    let from = (from..line.len())
        .find(|&at| starts_character(line, at))
        .unwrap_or(from);
    // A character takes at most four bytes, and one more shows whether something is missing.
    let end = (from + 4 * (LINE_CHARS + 1)).min(line.len());
    let text = String::from_utf8_lossy(line.get(from..end).unwrap_or_default());
    let shown = text
        .char_indices()
        .nth(LINE_CHARS)
        .and_then(|(end, _)| text.get(..end));
    let before = if from > 0 { "…" } else { "" };
    let after = if shown.is_some() || end < line.len() {
        "…"
    } else {
        ""
    };
    format!("{before}{}{after}", shown.unwrap_or(&text))
}

fn starts_character(line: &[u8], at: usize) -> bool {
    line.get(at)
        .is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(offset: u64, limit: u64, entries: u64) -> String {
        let mut report = Report::new(offset, limit);
        (0..entries).for_each(|n| report.entry(|| format!("entry {n}")));
        report.finish(("line", "lines"), Vec::new())
    }

    #[test]
    fn all_entries_need_no_note() {
        assert_eq!(report(0, 9, 2), "entry 0\nentry 1");
    }

    #[test]
    fn pages_say_how_to_go_on() {
        assert_eq!(
            report(0, 2, 5),
            "entry 0\nentry 1\n[Showing 1 to 2 of 5 lines. Go on with offset 2.]"
        );
        assert_eq!(
            report(2, 2, 5),
            "entry 2\nentry 3\n[Showing 3 to 4 of 5 lines. Go on with offset 4.]"
        );
        assert_eq!(report(4, 2, 5), "entry 4\n[Showing 5 to 5 of 5 lines.]");
        assert_eq!(report(9, 2, 5), "[Nothing at offset 9: there are 5 lines.]");
        assert_eq!(report(5, 2, 5), "[Nothing at offset 5: there are 5 lines.]");
    }

    #[test]
    fn the_reply_is_bounded_and_says_what_is_missing() {
        let mut report = Report::new(0, u64::MAX);
        (0..5_000).for_each(|_| report.entry(|| "x".repeat(99)));
        let text = report.finish(("line", "lines"), vec!["[note]".to_owned()]);
        assert!(text.chars().count() <= toolgate_reply::MAX_CHARS);
        assert!(
            text.ends_with("[Showing 1 to 270 of 5,000 lines. Go on with offset 270.]\n[note]")
        );
    }

    #[test]
    fn counting_ends() {
        let mut report = Report::new(5, 2);
        let mut entries = 0;
        while report.goes_on(10) {
            report.entry(|| "x".to_owned());
            entries += 1;
        }
        assert!((10_000..10_100).contains(&entries));
        assert!(
            report
                .finish(("file", "files"), Vec::new())
                .contains("of at least 10,008 files")
        );
        let mut report = Report::new(0, 1);
        report.entry(|| "x".to_owned());
        assert!(report.goes_on(1 << 30));
        assert!(!report.goes_on(1));
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = format!("{}stats{}", "a".repeat(300_000), "b".repeat(300_000));
        let text = show(line.as_bytes(), Some(300_000..300_005));
        assert!(text.starts_with("…aaa") && text.contains("stats") && text.ends_with("b…"));
        assert_eq!(text.chars().count(), LINE_CHARS + 2);
        let text = show(line.as_bytes(), None);
        assert!(text.starts_with("aaa") && text.ends_with("a…"));
        let text = show(line.as_bytes(), Some(599_990..599_991));
        assert!(text.starts_with('…') && text.ends_with('b'));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let line = "😀".repeat(500);
        for start in 1_000..1_004 {
            let text = show(line.as_bytes(), Some(start..start + 1));
            assert!(!text.contains(char::REPLACEMENT_CHARACTER));
        }
        assert_eq!(show("ü".repeat(400).as_bytes(), None), "ü".repeat(400));
        assert_eq!(
            show("ü".repeat(401).as_bytes(), None),
            format!("{}…", "ü".repeat(400))
        );
        assert_eq!(show(b"a\xFF\r", None), "a\u{FFFD}");
    }
}
