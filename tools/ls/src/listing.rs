//! The listing of one directory.
//!
//! Guarantees that every entry is shown or counted, in the order given. Never opens anything.

use toolgate_reply::{Reply, counted, grouped};

/// Most entries shown.
pub const MAX_SHOWN: u64 = 1_000;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Shown by its name alone.
    File,
    /// Shown with `/` behind the name.
    Directory,
    /// Shown with `@` behind the name.
    Link,
}

/// A listing under construction.
#[derive(Debug, Default)]
pub struct Listing {
    reply: Reply,
    shown: u64,
    files: u64,
    directories: u64,
    links: u64,
}

impl Listing {
    /// An empty listing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next entry, by its absolute path.
    pub fn push(&mut self, kind: Kind, path: &str) {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (count, mark) = match kind {
            Kind::File => (&mut self.files, ""),
            Kind::Directory => (&mut self.directories, "/"),
            Kind::Link => (&mut self.links, "@"),
        };
        *count += 1;
        if self.reply.is_empty() {
            self.reply.push(&format!("{parent}/"));
        }
        if self.shown < MAX_SHOWN && self.reply.push(&format!("  {name}{mark}")) {
            self.shown += 1;
        }
    }

    /// The reply. `skipped` entries could not be read; `truncated` says that there may be more of them.
    #[must_use]
    pub fn finish(self, skipped: u64, truncated: bool) -> String {
        let total = self.files + self.directories + self.links;
        let mut notes = Vec::new();
        if total > 0 {
            notes.push(self.counts());
        } else {
            notes.push(
                "Nothing to list: the directory is empty, or all of it was left out by ignore."
                    .to_owned(),
            );
        }
        if self.shown < total {
            let (shown, total) = (grouped(self.shown), grouped(total));
            notes.push(format!("[Showing the first {shown} of {total} entries. Use ignore here, or Glob, to see others.]"));
        }
        if skipped > 0 {
            notes.push(format!(
                "[{} could not be read]",
                counted(skipped, "entry", "entries")
            ));
        }
        if truncated {
            notes.push(
                "[The listing reached a bound and ended early: there may be more.]".to_owned(),
            );
        }
        self.reply.finish(&notes)
    }

    fn counts(&self) -> String {
        let kinds = [
            (self.directories, "directory", "directories"),
            (self.files, "file", "files"),
            (self.links, "link", "links"),
        ];
        let parts: Vec<String> = kinds
            .iter()
            .filter(|kind| kind.0 > 0)
            .map(|&(number, one, many)| counted(number, one, many))
            .collect();
        format!("[{}]", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_counts() {
        let mut listing = Listing::new();
        listing.push(Kind::Directory, "/ws/src");
        listing.push(Kind::File, "/ws/ü b.txt");
        listing.push(Kind::Link, "/ws/x");
        assert_eq!(
            listing.finish(0, false),
            "/ws/\n  src/\n  ü b.txt\n  x@\n[1 directory, 1 file, 1 link]"
        );
    }

    #[test]
    fn an_entry_of_the_root() {
        let mut listing = Listing::new();
        listing.push(Kind::File, "/a");
        assert_eq!(listing.finish(0, false), "/\n  a\n[1 file]");
    }

    #[test]
    fn nothing_is_said() {
        assert!(
            Listing::new()
                .finish(0, false)
                .starts_with("Nothing to list: the directory is empty")
        );
        let text = Listing::new().finish(2, true);
        assert!(text.contains("[2 entries could not be read]") && text.contains("ended early"));
    }

    #[test]
    fn many_entries_are_capped_and_counted() {
        let mut listing = Listing::new();
        (0..5_230).for_each(|n| listing.push(Kind::File, &format!("/ws/{n}")));
        let text = listing.finish(0, false);
        assert_eq!(text.lines().count(), 1_003);
        assert!(text.contains("[5,230 files]\n[Showing the first 1,000 of 5,230 entries."));
        let mut listing = Listing::new();
        (0..900).for_each(|n| listing.push(Kind::File, &format!("/ws/{n}{}", "n".repeat(200))));
        let text = listing.finish(0, false);
        assert!(text.chars().count() <= toolgate_reply::MAX_CHARS);
        assert!(text.contains("of 900 entries"));
    }
}
