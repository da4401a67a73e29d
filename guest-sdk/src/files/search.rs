//! Walks and scans: what is below a directory, in the order of the bytes of the paths. The host walks, judges and reads
//! ahead; a tool gets what its view shows and a summary of what was left out.

use super::{Error, from_border, wit};

/// Which entries [`walk`] and [`scan`] give. The default gives every file, ignore rules or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Globs over the path relative to the start, `*` does not cross `/`; an entry must match one of them. A glob
    /// without `/` matches the last component at any depth. Empty: all.
    pub include: Vec<String>,
    /// Globs of what to leave out, in the same grammar.
    pub exclude: Vec<String>,
    /// File types by ripgrep's names (`rust`, `js`); a file must be of one of them. Empty: all.
    pub types: Vec<String>,
    /// Follow `.gitignore`, `.ignore` and `.git/info/exclude`, and leave out hidden files and `.git`.
    pub respect_ignore: bool,
    /// Give directories too ([`walk`] only).
    pub directories: bool,
    /// Levels below the start: 1 gives the entries of the start itself. 0: no limit.
    pub max_depth: u32,
}

impl Selection {
    fn to_wit(&self) -> wit::Selection {
        wit::Selection {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            types: self.types.clone(),
            respect_ignore: self.respect_ignore,
            directories: self.directories,
            max_depth: self.max_depth,
        }
    }
}

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkSummary {
    /// Entries given.
    pub given: u32,
    /// Left out by ignore rules although they match `include` and `types`. A directory that is ignored as a whole
    /// counts once.
    pub ignored: u32,
    /// Could not be listed or opened (no right, a dangling link, a name that is not UTF-8, not a regular file).
    pub skipped: u32,
    /// A bound ended the walk early.
    pub truncated: bool,
}

impl From<wit::WalkSummary> for WalkSummary {
    fn from(summary: wit::WalkSummary) -> Self {
        Self {
            given: summary.given,
            ignored: summary.ignored,
            skipped: summary.skipped,
            truncated: summary.truncated,
        }
    }
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link.
    Link,
}

/// Something below the start of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Its absolute path.
    pub path: String,
}

/// A walk: an iterator over its entries, fetched in batches.
#[derive(Debug)]
pub struct Walker {
    handle: wit::Walker,
    batch: Packed,
    ended: bool,
}

impl Walker {
    /// What was left out so far; final once the iterator has ended.
    #[must_use]
    pub fn summary(&self) -> WalkSummary {
        self.handle.summary().into()
    }
}

impl Iterator for Walker {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            if let Some(entry) = self.batch.next() {
                return Some(entry);
            }
            if self.ended {
                return None;
            }
            let data = self.handle.next();
            self.ended = data.is_empty();
            self.batch = Packed { data, at: 0 };
        }
    }
}

/// Lists what is below a directory. A start that is a file gives that file.
///
/// # Errors
/// [`ErrorCode::NotFound`](super::ErrorCode::NotFound), [`ErrorCode::Refused`](super::ErrorCode::Refused), and
/// [`ErrorCode::Invalid`](super::ErrorCode::Invalid) for a glob or a file type.
pub fn walk(path: &str, selection: &Selection) -> Result<Walker, Error> {
    let handle = wit::walk(path, &selection.to_wit())?;
    Ok(Walker {
        handle,
        batch: Packed::default(),
        ended: false,
    })
}

/// A batch of entries: for each one kind byte, the path, a NUL.
#[derive(Debug, Default)]
struct Packed {
    data: Vec<u8>,
    at: usize,
}

impl Iterator for Packed {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            let rest = self.data.get(self.at..)?;
            let length = rest.iter().position(|byte| *byte == 0)?;
            let (kind, path) = rest.get(..length)?.split_first().unzip();
            self.at += length + 1;
            let kind = match kind {
                Some(b'f') => EntryKind::File,
                Some(b'd') => EntryKind::Directory,
                Some(b'l') => EntryKind::Link,
                // A kind of a later host, which this tool cannot have asked for.
                _ => continue,
            };
            let path = String::from_utf8_lossy(path.unwrap_or_default()).into_owned();
            return Some(Entry { kind, path });
        }
    }
}

/// A piece of a file inside [`Batch::data`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Absolute path of the file.
    pub path: String,
    /// Where it begins in [`Batch::data`], bytes.
    pub start: usize,
    /// How long it is, bytes.
    pub length: usize,
    /// Where it begins in the file, bytes.
    pub offset: u64,
    /// The file ends with it.
    pub last: bool,
}

/// Some pieces, in order; a file's pieces follow each other. A piece that is not the last ends behind a line feed
/// wherever the last 64 KiB of it hold one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The pieces.
    pub chunks: Vec<Chunk>,
    /// The bytes of all of them.
    pub data: Vec<u8>,
}

impl Batch {
    /// The bytes of a piece; empty if it is not of this batch.
    #[must_use]
    pub fn bytes(&self, chunk: &Chunk) -> &[u8] {
        chunk
            .start
            .checked_add(chunk.length)
            .and_then(|end| self.data.get(chunk.start..end))
            .unwrap_or_default()
    }

    /// The pieces with their bytes.
    pub fn pieces(&self) -> impl Iterator<Item = (&Chunk, &[u8])> {
        self.chunks.iter().map(|chunk| (chunk, self.bytes(chunk)))
    }
}

/// A walk that hands over the contents of the files.
#[derive(Debug)]
pub struct Scanner {
    handle: wit::Scanner,
}

impl Scanner {
    /// The next 64 to 256 KiB; `None` at the end.
    pub fn next_batch(&mut self) -> Option<Batch> {
        let batch = self.handle.next()?;
        let chunks = batch.chunks.into_iter().map(|chunk| Chunk {
            path: chunk.path,
            start: chunk.start as usize,
            length: chunk.length as usize,
            offset: from_border(chunk.offset),
            last: chunk.last,
        });
        Some(Batch {
            chunks: chunks.collect(),
            data: batch.data,
        })
    }

    /// Leaves out the rest of the file that the last batch ended in.
    pub fn skip(&mut self) {
        self.handle.skip();
    }

    /// What was left out so far; final once [`next_batch`](Self::next_batch) gave `None`.
    #[must_use]
    pub fn summary(&self) -> WalkSummary {
        self.handle.summary().into()
    }
}

/// Hands over the contents of what is below a directory. A start that is a file gives that file.
///
/// # Errors
/// As [`walk`].
pub fn scan(path: &str, selection: &Selection) -> Result<Scanner, Error> {
    Ok(Scanner {
        handle: wit::scan(path, &selection.to_wit())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpack(data: &[u8]) -> Vec<(EntryKind, String)> {
        let packed = Packed {
            data: data.to_vec(),
            at: 0,
        };
        packed.map(|entry| (entry.kind, entry.path)).collect()
    }

    #[test]
    fn entries_are_unpacked_in_order() {
        assert_eq!(
            unpack("f/a b\0d/ä\0l/c\0".as_bytes()),
            [
                (EntryKind::File, "/a b".to_owned()),
                (EntryKind::Directory, "/ä".to_owned()),
                (EntryKind::Link, "/c".to_owned()),
            ]
        );
        assert_eq!(unpack(b""), []);
    }

    #[test]
    fn what_is_not_an_entry_is_left_out() {
        assert_eq!(
            unpack(b"x/new\0\0f/a\0f/cut"),
            [(EntryKind::File, "/a".to_owned())]
        );
    }

    #[test]
    fn a_piece_has_its_bytes_and_no_others() {
        let chunk = |start, length| Chunk {
            path: "/a".to_owned(),
            start,
            length,
            offset: 0,
            last: true,
        };
        let batch = Batch {
            chunks: vec![chunk(0, 2), chunk(2, 3)],
            data: b"abcde".to_vec(),
        };
        let pieces: Vec<_> = batch.pieces().map(|(_, bytes)| bytes).collect();
        assert_eq!(pieces, [&b"ab"[..], b"cde"]);
        assert_eq!(batch.bytes(&chunk(4, 2)), b"");
        assert_eq!(batch.bytes(&chunk(usize::MAX, 2)), b"");
    }
}
