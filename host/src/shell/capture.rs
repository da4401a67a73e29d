//! The output of a command while it comes: bounded in memory whatever its length, counted exactly, and written whole to a
//! spill up to its limit.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Bytes of the beginning that are kept.
const HEAD: usize = 128 << 10;
/// Bytes of the end that are kept.
const TAIL: usize = 1 << 20;
/// The most bytes that are spilled.
pub(super) const SPILLED: u64 = 64 << 20;

/// A stream of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// stdout, and stderr where they are not kept apart.
    Out,
    /// stderr where it is kept apart.
    Err,
}

/// Where all of the output goes. Called while the command runs, on the runtime's thread, with at most 64 KiB: a local file is
/// fine, a network is not.
pub trait Spill: Send + std::fmt::Debug {
    /// Takes the next bytes, of both streams in the order of their arrival.
    ///
    /// # Errors
    /// They cannot be kept. The command goes on, its result says so, and nothing more is spilled.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// The end of the output. Gives where it is.
    ///
    /// # Errors
    /// It could not be kept.
    fn finish(self: Box<Self>) -> io::Result<PathBuf>;
}

/// A spill into a private file.
#[derive(Debug)]
pub struct SpillFile {
    file: File,
    /// Until it is handed over.
    path: Option<PathBuf>,
}

impl SpillFile {
    /// Makes a file of mode 0600 and of a name of its own in a folder, which is made with mode 0700 where it is missing.
    ///
    /// # Errors
    /// One of them cannot be made.
    pub fn create(folder: &Path) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let path = folder.join(format!("{}.out", uuid::Uuid::new_v4().simple()));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        Ok(Self {
            file,
            path: Some(path),
        })
    }
}

impl Spill for SpillFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn finish(mut self: Box<Self>) -> io::Result<PathBuf> {
        self.path
            .take()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// What nobody was told of is of no use to anybody.
impl Drop for SpillFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && let Err(error) = std::fs::remove_file(path)
        {
            tracing::debug!("{} stays: {error}", path.display());
        }
    }
}

/// A part of a stream, raw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins in the stream. Later than asked for where the bytes between are no longer kept.
    pub start: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Length of the stream until now.
    pub total: u64,
}

impl Piece {
    /// Where the next piece begins.
    pub fn next(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// One stream.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    check: Utf8,
}

impl Capture {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.check.push(bytes);
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..over);
    }

    /// Length of the stream.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that were part of no character.
    pub(super) fn invalid(&self) -> u64 {
        self.check.invalid + self.check.pending.len() as u64
    }

    /// Whether it is no text: it holds a NUL, or more than a tenth of it is invalid.
    pub(super) fn is_binary(&self) -> bool {
        self.check.nul || self.invalid() * 10 > self.total
    }

    /// Everything, where all of it is kept.
    pub(super) fn whole(&self) -> Option<Vec<u8>> {
        let kept = (self.head.len() + self.tail.len()) as u64;
        (kept == self.total).then(|| [self.head.clone(), self.last()].concat())
    }

    /// The kept beginning.
    pub(super) fn first(&self) -> &[u8] {
        &self.head
    }

    /// The kept end behind the kept beginning.
    pub(super) fn last(&self) -> Vec<u8> {
        let (front, back) = self.tail.as_slices();
        [front, back].concat()
    }

    /// What is kept from an offset on, at most `most` bytes.
    pub(super) fn read(&self, from: u64, most: usize) -> Piece {
        let head = self.head.len() as u64;
        let tail_start = self.total - self.tail.len() as u64;
        let (start, bytes): (u64, Vec<u8>) = if from < head {
            let skip = usize::try_from(from).unwrap_or(usize::MAX);
            (
                from,
                self.head.iter().skip(skip).take(most).copied().collect(),
            )
        } else {
            let start = from.clamp(tail_start, self.total);
            let skip = usize::try_from(start - tail_start).unwrap_or(usize::MAX);
            (start, self.tail.range(skip..).take(most).copied().collect())
        };
        Piece {
            start,
            bytes,
            total: self.total,
        }
    }
}

/// Checks a stream of bytes that come in pieces; a character may be cut anywhere.
#[derive(Debug, Default)]
struct Utf8 {
    pending: Vec<u8>,
    invalid: u64,
    nul: bool,
}

impl Utf8 {
    fn push(&mut self, bytes: &[u8]) {
        self.nul |= bytes.contains(&0);
        if self.pending.is_empty() {
            self.check(bytes);
        } else {
            let joined = [std::mem::take(&mut self.pending).as_slice(), bytes].concat();
            self.check(&joined);
        }
    }

    fn check(&mut self, mut rest: &[u8]) {
        while let Err(error) = std::str::from_utf8(rest) {
            let after = rest.get(error.valid_up_to()..).unwrap_or_default();
            let Some(length) = error.error_len() else {
                after.clone_into(&mut self.pending);
                return;
            };
            self.invalid += length as u64;
            rest = after.get(length..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_and_tail_are_kept_and_everything_is_counted() {
        let mut capture = Capture::default();
        let mut all = Vec::new();
        for number in 0..300_000 {
            let line = format!("{number}\n");
            capture.push(line.as_bytes());
            all.extend_from_slice(line.as_bytes());
        }
        assert_eq!(capture.total(), all.len() as u64);
        assert_eq!(capture.first(), &all[..HEAD]);
        assert_eq!(capture.last(), all[all.len() - TAIL..]);
        assert_eq!(capture.whole(), None);
        let piece = capture.read(10, 100);
        assert_eq!((piece.start, piece.bytes.as_slice()), (10, &all[10..110]));
        let lost = capture.read(HEAD as u64, 100);
        assert_eq!(lost.start, (all.len() - TAIL) as u64);
        let end = capture.read(u64::MAX, 100);
        assert_eq!((end.start, end.bytes.len()), (all.len() as u64, 0));
        assert_eq!(
            capture.read(lost.next(), 1).bytes,
            [all[all.len() - TAIL + 100]]
        );
    }

    #[test]
    fn short_output_is_whole() {
        let mut capture = Capture::default();
        capture.push(&[b'x'; HEAD]);
        capture.push(b"yz");
        assert_eq!(capture.whole().unwrap().len(), HEAD + 2);
        assert_eq!(capture.read(HEAD as u64, 9).bytes, b"yz");
    }

    #[test]
    fn characters_may_be_cut_anywhere() {
        let mut capture = Capture::default();
        for byte in "a🦀b".bytes() {
            capture.push(&[byte]);
        }
        assert_eq!((capture.invalid(), capture.is_binary()), (0, false));
        capture.push(b"\xff\xfe");
        assert_eq!((capture.invalid(), capture.is_binary()), (2, true));
        let mut nul = Capture::default();
        nul.push(b"a\0");
        assert!(nul.is_binary());
    }

    #[test]
    fn a_spill_file_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("spill");
        let mut spill = Box::new(SpillFile::create(&folder).unwrap());
        spill.write(b"all").unwrap();
        let path = spill.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"all");
        for (path, mode) in [(&folder, 0o700), (&path, 0o600)] {
            let found = std::fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode);
        }
        drop(SpillFile::create(&folder).unwrap());
        let left = std::fs::read_dir(&folder).unwrap().count();
        assert_eq!(left, 1, "one that was not handed over is gone");
    }
}
