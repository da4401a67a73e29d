//! The search over the pieces of files.
//!
//! Guarantees that the result does not depend on where files were cut into pieces (lines beyond [`MAX_LINE`] aside),
//! and that memory is bounded by one line, or by [`MAX_SPANNING`] where matches may span lines. Never opens anything.

use toolgate_reply::counted;

use crate::context::{Lines, Shown};
use crate::pattern::{Block, Pattern};
use crate::report::Report;

/// Bytes of a line that are held together; a longer line is searched in pieces of this size.
pub const MAX_LINE: usize = 1 << 20;

/// Bytes by which the pieces of such a line overlap, so that a match across a border is found.
const OVERLAP: usize = 4 << 10;

/// Most bytes of a file in which matches that span lines are searched.
pub const MAX_SPANNING: usize = 8 << 20;

/// Bytes at the start of a file in which a NUL makes it binary.
const BINARY_HEAD: usize = 64 << 10;

/// What is shown of the matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The path of each file with a match.
    Files,
    /// The matching lines.
    Content(Shown),
    /// The number of matches of each file with one.
    Count,
}

/// Which entries are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paging {
    /// Entries passed over first.
    pub offset: u32,
    /// Most entries shown; none or 0 is no limit but the reply's own.
    pub limit: Option<u32>,
}

/// What the search wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// The next piece.
    More,
    /// The next file: what is left of this one does not matter.
    NextFile,
    /// Nothing.
    Nothing,
}

/// What the walk left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// By ignore rules.
    pub ignored: u64,
    /// Because they could not be read.
    pub skipped: u64,
    /// The walk ended at a bound.
    pub truncated: bool,
}

/// A search under way.
#[derive(Debug)]
pub struct Searcher {
    pattern: Pattern,
    mode: Mode,
    report: Report,
    file: File,
    searched: u64,
    binary: u64,
    too_large: u64,
}

/// The file under way.
#[derive(Debug)]
struct File {
    path: String,
    lines: Lines,
    matches: u64,
    /// What was fed and not searched yet: the line under way, or all of the file where matches may span lines.
    held: Vec<u8>,
    /// `held` begins inside a line.
    inside: bool,
    /// The line under way is shown; the rest of it is passed over.
    pass_line: bool,
    done: bool,
}

impl File {
    fn new(mode: Mode, path: &str, held: Vec<u8>) -> Self {
        let shown = if let Mode::Content(shown) = mode {
            shown
        } else {
            Shown::default()
        };
        Self {
            path: path.to_owned(),
            lines: Lines::new(shown, path),
            matches: 0,
            held,
            inside: false,
            pass_line: false,
            done: false,
        }
    }
}

impl Searcher {
    /// A search for a pattern.
    #[must_use]
    pub fn new(pattern: Pattern, mode: Mode, paging: Paging) -> Self {
        let limit = paging
            .limit
            .filter(|&limit| limit > 0)
            .map_or(u64::MAX, u64::from);
        Self {
            pattern,
            mode,
            report: Report::new(u64::from(paging.offset), limit),
            file: File::new(mode, "", Vec::new()),
            searched: 0,
            binary: 0,
            too_large: 0,
        }
    }

    /// The next piece of a file: `offset` is where it begins in the file, `last` says that the file ends with it.
    pub fn feed(&mut self, path: &str, bytes: &[u8], offset: u64, last: bool) -> Want {
        if offset == 0 {
            self.begin(path, bytes);
        }
        if !self.file.done {
            if self.pattern.is_multiline() {
                self.feed_spanning(bytes, last);
            } else {
                self.feed_lines(bytes, last);
            }
            if last && !self.file.done {
                self.end();
            }
        }
        match (self.report.goes_on(bytes.len()), self.file.done) {
            (false, _) => Want::Nothing,
            (true, true) => Want::NextFile,
            (true, false) => Want::More,
        }
    }

    /// The reply.
    #[must_use]
    pub fn finish(self, left_out: LeftOut) -> String {
        let mut notes = Vec::new();
        let note = |number: u64, one, many, what: &str| {
            (number > 0).then(|| format!("[{} {what}]", counted(number, one, many)))
        };
        let empty = self.report.is_empty();
        if empty {
            notes.push(format!(
                "No matches found. [{} searched]",
                counted(self.searched, "file", "files")
            ));
            notes.extend(note(
                left_out.ignored,
                "ignored path",
                "ignored paths",
                "left out",
            ));
        }
        notes.extend(note(self.binary, "binary file", "binary files", "skipped"));
        notes.extend(note(
            self.too_large,
            "file",
            "files",
            "over 8 MiB skipped, which multiline does not search",
        ));
        notes.extend(note(
            left_out.skipped,
            "entry",
            "entries",
            "skipped: not readable",
        ));
        if left_out.truncated {
            notes.push("[The walk reached a bound and ended early: there may be more.]".to_owned());
        }
        let entries = if matches!(self.mode, Mode::Content(_)) {
            ("line", "lines")
        } else {
            ("file", "files")
        };
        self.report.finish(entries, notes)
    }

    fn begin(&mut self, path: &str, bytes: &[u8]) {
        let mut held = std::mem::take(&mut self.file.held);
        held.clear();
        self.file = File::new(self.mode, path, held);
        self.searched += 1;
        if memchr::memchr(0, bytes.get(..BINARY_HEAD).unwrap_or(bytes)).is_some() {
            self.binary += 1;
            self.searched -= 1;
            self.file.done = true;
        }
    }

    fn end(&mut self) {
        self.file.done = true;
        if self.mode == Mode::Count && self.file.matches > 0 {
            let file = &self.file;
            self.report
                .entry(|| format!("{}:{}", file.path, file.matches));
        }
    }

    fn feed_spanning(&mut self, bytes: &[u8], last: bool) {
        if self.file.held.len() + bytes.len() > MAX_SPANNING {
            self.too_large += 1;
            self.searched -= 1;
            self.file.done = true;
            return;
        }
        if last && self.file.held.is_empty() {
            self.region(bytes);
            return;
        }
        self.file.held.extend_from_slice(bytes);
        if last {
            let held = std::mem::take(&mut self.file.held);
            self.region(&held);
            self.file.held = held;
        }
    }

    fn feed_lines(&mut self, bytes: &[u8], last: bool) {
        let Some(bytes) = self.end_held_line(bytes, last) else {
            return;
        };
        let whole = if last {
            bytes.len()
        } else {
            memchr::memrchr(b'\n', bytes).map_or(0, |feed| feed + 1)
        };
        if let Some((region, rest)) = bytes.split_at_checked(whole) {
            self.region(region);
            if !rest.is_empty() && !self.file.done {
                self.hold(rest);
            }
        }
    }

    /// Searches the held line if it ends in these bytes and returns those behind it; holds them if it does not.
    fn end_held_line<'a>(&mut self, bytes: &'a [u8], last: bool) -> Option<&'a [u8]> {
        if self.file.held.is_empty() && !self.file.pass_line {
            return Some(bytes);
        }
        let feed = memchr::memchr(b'\n', bytes);
        let end = feed.map_or(bytes.len(), |feed| feed + 1);
        let (line, rest) = bytes.split_at_checked(end)?;
        if self.file.pass_line {
            self.file.pass_line = feed.is_none();
            if feed.is_some() {
                self.file.lines.end_line();
            }
        } else if feed.is_some() || last {
            self.file.held.extend_from_slice(line);
            let mut held = std::mem::take(&mut self.file.held);
            self.line_or_part(&held, true);
            held.clear();
            self.file.held = held;
        } else {
            self.hold(line);
        }
        (!self.file.done && feed.is_some()).then_some(rest)
    }

    /// Holds the start of a line whose end has not come yet. What exceeds [`MAX_LINE`] is searched at once.
    fn hold(&mut self, bytes: &[u8]) {
        self.file.held.extend_from_slice(bytes);
        if self.file.held.len() <= MAX_LINE {
            return;
        }
        let mut held = std::mem::take(&mut self.file.held);
        if self.line_or_part(&held, false) {
            held.clear();
            self.file.pass_line = true;
            self.file.inside = false;
        } else {
            let overlap = held.len().saturating_sub(OVERLAP);
            held.drain(..overlap);
            self.file.inside = true;
        }
        self.file.held = held;
    }

    /// Searches one line, or a part of one that is too long. Whether there is a match in it.
    fn line_or_part(&mut self, text: &[u8], ends: bool) -> bool {
        if !self.file.inside && ends {
            self.region(text);
            return false;
        }
        let content = text.strip_suffix(b"\n").unwrap_or(text);
        // The first byte of a part is there only to be seen by anchors; so is its end, where the line goes on.
        let found = self.pattern.find(content, usize::from(self.file.inside));
        let found = found.filter(|found| ends || found.end < content.len());
        if found.is_some() {
            let block = Block {
                lines: 0..content.len(),
                matches: 1,
            };
            self.block(text, 0, &block);
        }
        if ends {
            let from = if found.is_some() { text.len() } else { 0 };
            self.file.lines.end_region(text, from, &mut self.report);
            self.file.inside = false;
        }
        found.is_some()
    }

    /// Searches whole lines.
    fn region(&mut self, text: &[u8]) {
        let mut from = 0;
        while let Some(block) = self.pattern.next_block(text, from) {
            self.block(text, from, &block);
            if self.file.done {
                return;
            }
            from = (block.lines.end + 1).min(text.len());
        }
        if matches!(self.mode, Mode::Content(_)) {
            self.file.lines.end_region(text, from, &mut self.report);
        }
    }

    fn block(&mut self, text: &[u8], from: usize, block: &Block) {
        match self.mode {
            Mode::Files => {
                let path = &self.file.path;
                self.report.entry(|| path.clone());
                self.file.done = true;
            }
            Mode::Count => self.file.matches += block.matches,
            Mode::Content(_) => {
                self.file
                    .lines
                    .matched(text, from, block, &self.pattern, &mut self.report)
            }
        }
    }
}

#[cfg(test)]
mod tests;
