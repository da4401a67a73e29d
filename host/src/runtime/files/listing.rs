//! One directory's names: read and sorted a piece at a time, so that nobody waits long for a large one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::os::fd::AsFd;
use std::vec::IntoIter;

use rustix::fs::{AtFlags, Dir, FileType};

/// Entries that are read and sorted at a time: about a millisecond's work.
const PIECE: usize = 4_096;

/// A name in a directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// A directory's has a slash at the end, as its entries will: so they sort.
    key: String,
    pub(super) kind: FileType,
}

impl Entry {
    fn new(mut name: String, kind: FileType) -> Self {
        if kind == FileType::Directory {
            name.push('/');
        }
        Self { key: name, kind }
    }

    pub(super) fn name(&self) -> &str {
        match self.kind {
            FileType::Directory => self.key.strip_suffix('/').unwrap_or(&self.key),
            _ => &self.key,
        }
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// A directory that is being read.
#[derive(Debug)]
pub(super) struct Listing {
    dir: Dir,
    pieces: Vec<Vec<Entry>>,
    /// Names that are not UTF-8.
    pub(super) skipped: u32,
}

impl Listing {
    pub(super) fn of(dir: impl AsFd) -> rustix::io::Result<Self> {
        Ok(Self {
            dir: Dir::read_from(dir)?,
            pieces: Vec::new(),
            skipped: 0,
        })
    }

    /// Reads one more piece of at most `most` entries; false at the end.
    pub(super) fn read_piece(&mut self, dir: impl AsFd, most: usize) -> rustix::io::Result<bool> {
        let mut piece = Vec::new();
        let mut more = false;
        let mut left = most.min(PIECE);
        while let Some(entry) = self.dir.read() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match name.to_str() {
                Ok(text) => {
                    let kind = match entry.file_type() {
                        FileType::Unknown => kind_of(&dir, name),
                        known => known,
                    };
                    piece.push(Entry::new(text.to_owned(), kind));
                }
                Err(_) => self.skipped += 1,
            }
            left = left.saturating_sub(1);
            if left == 0 {
                more = true;
                break;
            }
        }
        piece.sort_unstable();
        self.pieces.push(piece);
        Ok(more)
    }

    /// Entries read so far.
    pub(super) fn len(&self) -> usize {
        self.pieces.iter().map(Vec::len).sum()
    }

    /// Whether a name is there, among what was read.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut entries = self.pieces.iter().flatten();
        entries.any(|entry| entry.name() == name)
    }

    /// What was read, in the order of the bytes.
    pub(super) fn entries(self) -> Entries {
        let mut pieces: Vec<IntoIter<Entry>> =
            self.pieces.into_iter().map(Vec::into_iter).collect();
        let firsts = pieces.iter_mut().enumerate();
        let firsts = firsts.filter_map(|(at, piece)| Some(Reverse((piece.next()?, at))));
        Entries {
            firsts: firsts.collect(),
            pieces,
        }
    }
}

fn kind_of(dir: impl AsFd, name: &std::ffi::CStr) -> FileType {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map_or(FileType::Unknown, |stat| {
        FileType::from_raw_mode(stat.st_mode)
    })
}

/// The sorted pieces, merged as they are taken.
#[derive(Debug)]
pub(super) struct Entries {
    firsts: BinaryHeap<Reverse<(Entry, usize)>>,
    pieces: Vec<IntoIter<Entry>>,
}

impl Iterator for Entries {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        let Reverse((entry, at)) = self.firsts.pop()?;
        if let Some(next) = self.pieces.get_mut(at).and_then(Iterator::next) {
            self.firsts.push(Reverse((next, at)));
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_directory_of_several_pieces_comes_in_one_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut names: Vec<String> = (0..2 * PIECE + 7).map(|n| format!("f{n}")).collect();
        for name in &names {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        std::fs::create_dir(folder.path().join("f1-")).unwrap();
        std::fs::create_dir(folder.path().join("f1a")).unwrap();
        let bad = std::ffi::OsStr::from_bytes(b"\xff");
        let has_bad = std::fs::write(folder.path().join(bad), "").is_ok();
        names.extend(["f1-/".to_owned(), "f1a/".to_owned()]);
        names.sort();

        let dir = std::fs::File::open(folder.path()).unwrap();
        let mut listing = Listing::of(&dir).unwrap();
        let mut pieces = 1;
        while listing.read_piece(&dir, usize::MAX).unwrap() {
            pieces += 1;
        }
        assert_eq!(pieces, 3);
        assert_eq!(listing.len(), names.len());
        assert_eq!(listing.skipped, u32::from(has_bad));
        assert!(listing.has("f4711") && listing.has("f1a") && !listing.has("f99999"));
        let entries: Vec<Entry> = listing.entries().collect();
        assert!(entries.iter().map(|entry| &entry.key).eq(&names));
        let directories = entries
            .iter()
            .filter(|entry| entry.kind == FileType::Directory);
        assert!(directories.map(Entry::name).eq(["f1-", "f1a"]));
    }

    #[test]
    fn no_more_than_asked_for_is_read() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let dir = std::fs::File::open(folder.path()).unwrap();
        let mut listing = Listing::of(&dir).unwrap();
        assert!(listing.read_piece(&dir, 2).unwrap());
        assert_eq!(listing.len(), 2);
        assert!(!listing.read_piece(&dir, 2).unwrap());
        assert_eq!(listing.entries().count(), 3);
    }
}
