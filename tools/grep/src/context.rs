//! The lines around matches: what `-A`, `-B` and `-n` ask for.
//!
//! Guarantees that each line is shown once, in order, and that a gap between two shown lines is marked. Lines of an
//! earlier piece of the file are kept only as far as they can still be asked for.

use std::collections::VecDeque;
use std::ops::Range;

use crate::pattern::{Block, Pattern};
use crate::report::{self, LINE_CHARS, Report};

/// Most lines of context on each side.
pub const MAX_CONTEXT: usize = 1_000;

/// Bytes of a kept line: what can be shown of it.
const KEPT_BYTES: usize = 4 * LINE_CHARS + 4;

/// What is shown of the lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// Line numbers.
    pub numbers: bool,
    /// Lines before each match.
    pub before: usize,
    /// Lines behind each match.
    pub after: usize,
}

/// The lines of one file that are shown.
#[derive(Debug)]
pub(crate) struct Lines {
    shown: Shown,
    path: String,
    /// Number of the line at `counted` in the region under way.
    number: u64,
    counted: usize,
    /// Lines behind the last match that are still wanted.
    wanted_after: usize,
    /// The last lines before the region, not shown.
    kept: VecDeque<(u64, Vec<u8>)>,
    /// Lines were passed over since the last one shown.
    gap: bool,
}

impl Lines {
    pub(crate) fn new(shown: Shown, path: &str) -> Self {
        let shown = Shown {
            before: shown.before.min(MAX_CONTEXT),
            after: shown.after.min(MAX_CONTEXT),
            ..shown
        };
        Self {
            shown,
            path: path.to_owned(),
            number: 1,
            counted: 0,
            wanted_after: 0,
            kept: VecDeque::new(),
            gap: true,
        }
    }

    /// Shows a block of lines with matches. `from` is where the lines begin that were not seen yet.
    pub(crate) fn matched(
        &mut self,
        region: &[u8],
        from: usize,
        block: &Block,
        pattern: &Pattern,
        to: &mut Report,
    ) {
        let after = self.after(region, from..block.lines.start, to);
        let (before, all_of_it) = last_lines(region, after..block.lines.start, self.shown.before);
        let kept = if all_of_it {
            self.take_kept(self.shown.before - before.len())
        } else {
            VecDeque::new()
        };
        self.gap |= !all_of_it;
        self.kept.clear();
        if self.gap && (self.shown.before > 0 || self.shown.after > 0) {
            to.separator();
        }
        self.gap = false;
        for (number, line) in kept {
            self.context_line(number, &line, to);
        }
        for line in before {
            let number = self.number_at(region, line.start);
            self.context_line(number, region.get(line).unwrap_or_default(), to);
        }
        let end = (block.lines.end + 1).min(region.len());
        for line in lines(region, block.lines.start..end) {
            let number = self.number_at(region, line.start);
            let line = region.get(line).unwrap_or_default();
            let (path, numbers) = (&self.path, self.shown.numbers);
            to.entry(|| {
                let found = (line.len() > LINE_CHARS)
                    .then(|| pattern.find(line, 0))
                    .flatten();
                let text = report::show(line, found);
                if numbers {
                    format!("{path}:{number}:{text}")
                } else {
                    format!("{path}:{text}")
                }
            });
        }
        self.wanted_after = self.shown.after;
    }

    /// Ends a region: shows what is still wanted behind the last match and keeps what may be wanted before the next.
    pub(crate) fn end_region(&mut self, region: &[u8], from: usize, to: &mut Report) {
        let from = self.after(region, from..region.len(), to);
        let (last, all_of_it) = last_lines(region, from..region.len(), self.shown.before);
        if !all_of_it {
            self.gap = true;
            self.kept.clear();
        }
        for line in last {
            let number = self.number_at(region, line.start);
            let line = region.get(line).unwrap_or_default();
            self.kept
                .push_back((number, line.get(..KEPT_BYTES).unwrap_or(line).to_vec()));
            if self.kept.len() > self.shown.before {
                self.kept.pop_front();
                self.gap = true;
            }
        }
        self.number_at(region, region.len());
        self.counted = 0;
    }

    /// The line feed of a line that was already shown.
    pub(crate) fn end_line(&mut self) {
        self.number += 1;
    }

    /// Shows the lines still wanted behind the last match and returns where they end.
    fn after(&mut self, region: &[u8], gap: Range<usize>, to: &mut Report) -> usize {
        let mut end = gap.start;
        for line in lines(region, gap.clone()).take(self.wanted_after) {
            let number = self.number_at(region, line.start);
            end = (line.end + 1).min(gap.end);
            self.wanted_after -= 1;
            self.context_line(number, region.get(line).unwrap_or_default(), to);
        }
        end
    }

    /// The last `count` kept lines.
    fn take_kept(&mut self, count: usize) -> VecDeque<(u64, Vec<u8>)> {
        let mut kept = std::mem::take(&mut self.kept);
        if kept.len() > count {
            self.gap = true;
            kept.drain(..kept.len() - count);
        }
        kept
    }

    fn context_line(&self, number: u64, line: &[u8], to: &mut Report) {
        let path = &self.path;
        let numbers = self.shown.numbers;
        to.entry(|| {
            let text = report::show(line, None);
            if numbers {
                format!("{path}-{number}-{text}")
            } else {
                format!("{path}-{text}")
            }
        });
    }

    /// The number of the line at a position. Positions must not go back.
    fn number_at(&mut self, region: &[u8], position: usize) -> u64 {
        if self.shown.numbers {
            let part = region.get(self.counted..position).unwrap_or_default();
            self.number += memchr::memchr_iter(b'\n', part).count() as u64;
            self.counted = position;
        }
        self.number
    }
}

/// The lines of a part of the region, without their line feeds. The part begins at the start of a line.
fn lines(region: &[u8], part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = part.start;
    std::iter::from_fn(move || {
        let rest = region
            .get(start..part.end)
            .filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest).map_or(part.end, |feed| start + feed);
        let line = start..end;
        start = end + 1;
        Some(line)
    })
}

/// The last `count` lines of a part, and whether those are all of its lines.
fn last_lines(region: &[u8], part: Range<usize>, count: usize) -> (Vec<Range<usize>>, bool) {
    let mut found = VecDeque::new();
    let mut end = part.end;
    while end > part.start && found.len() < count {
        // The line feed before `end` ends the line; a last line may have none.
        let text = region.get(part.start..end).unwrap_or_default();
        let content = text.strip_suffix(b"\n").unwrap_or(text);
        let start = part.start + memchr::memrchr(b'\n', content).map_or(0, |feed| feed + 1);
        found.push_front(start..part.start + content.len());
        end = start;
    }
    (found.into(), end <= part.start)
}
