//! The paths that were found.
//!
//! Guarantees that every path is shown or counted, and that what the walk left out is stated. Never opens anything.

use toolgate_reply::{Reply, counted, cut, grouped};

/// Most paths shown.
pub const MAX_SHOWN: u64 = 1_000;

/// Most paths counted; then the walk ends.
pub const MAX_COUNTED: u64 = 100_000;

/// Most characters of a pattern in a note.
const PATTERN_CHARS: usize = 200;

/// What the walk left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// By ignore rules, although they match.
    pub ignored: u64,
    /// Because they could not be read.
    pub skipped: u64,
    /// The walk ended at a bound.
    pub truncated: bool,
}

/// The paths found so far.
#[derive(Debug, Default)]
pub struct Found {
    reply: Reply,
    shown: u64,
    total: u64,
}

impl Found {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next path. False if counting ends with it.
    pub fn push(&mut self, path: &str) -> bool {
        self.total += 1;
        if self.shown < MAX_SHOWN && self.reply.push(path) {
            self.shown += 1;
        }
        self.total < MAX_COUNTED
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The reply.
    #[must_use]
    pub fn finish(self, pattern: &str, left_out: LeftOut) -> String {
        let mut notes = Vec::new();
        if self.total == 0 {
            notes.push(format!("No files match {}.", cut(pattern, PATTERN_CHARS)));
        }
        if self.shown < self.total {
            let at_least = if self.total == MAX_COUNTED {
                "at least "
            } else {
                ""
            };
            let (shown, total) = (grouped(self.shown), grouped(self.total));
            notes.push(format!("[Showing the first {shown} of {at_least}{total} files. Narrow the pattern or the path.]"));
        }
        if left_out.ignored > 0 {
            let paths = counted(left_out.ignored, "ignored path", "ignored paths");
            notes.push(format!(
                "[{paths} left out; a pattern without wildcards reaches them]"
            ));
        }
        if left_out.skipped > 0 {
            notes.push(format!(
                "[{} skipped: not readable]",
                counted(left_out.skipped, "entry", "entries")
            ));
        }
        if left_out.truncated {
            notes.push("[The walk reached a bound and ended early: there may be more.]".to_owned());
        }
        self.reply.finish(&notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_path_a_line() {
        let mut found = Found::new();
        found.push("/ws/a.ts");
        found.push("/ws/b.ts");
        assert_eq!(
            found.finish("*.ts", LeftOut::default()),
            "/ws/a.ts\n/ws/b.ts"
        );
    }

    #[test]
    fn what_was_left_out_is_counted() {
        let mut found = Found::new();
        found.push("/ws/a.ts");
        let left_out = LeftOut {
            ignored: 3,
            skipped: 2,
            truncated: false,
        };
        assert_eq!(
            found.finish("*.ts", left_out),
            "/ws/a.ts\n[3 ignored paths left out; a pattern without wildcards reaches them]\n[2 entries skipped: not readable]"
        );
    }

    #[test]
    fn nothing_found_is_said() {
        let left_out = LeftOut {
            ignored: 1,
            ..LeftOut::default()
        };
        let text = Found::new().finish(&"x".repeat(5_000), left_out);
        assert!(text.starts_with("No files match xxx"));
        assert!(
            text.ends_with("[1 ignored path left out; a pattern without wildcards reaches them]")
        );
        assert!(text.chars().count() < 400);
    }

    #[test]
    fn many_paths_are_capped_and_counted() {
        let mut found = Found::new();
        assert!((0..5_230).all(|n| found.push(&format!("/ws/{n}"))));
        let text = found.finish("**", LeftOut::default());
        assert_eq!(text.lines().count(), 1_001);
        assert!(text.ends_with(
            "[Showing the first 1,000 of 5,230 files. Narrow the pattern or the path.]"
        ));
        let mut found = Found::new();
        let mut pushed = 1;
        while found.push(&"p".repeat(300)) {
            pushed += 1;
        }
        assert_eq!(pushed, MAX_COUNTED);
        let text = found.finish("**", LeftOut::default());
        assert!(text.chars().count() <= toolgate_reply::MAX_CHARS);
        assert!(text.contains("of at least 100,000 files"));
    }
}
