//! Scans: a walk that hands over the contents. A thread of the host walks, judges and reads ahead; the guest searches.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};

use super::error::{Code, FileError};
use super::select::Selection;
use super::view::FileView;
use super::walk::{Found, Handle, WalkSummary, Walker};
use crate::policy::Access;

/// A batch is sent on when it holds this much.
const ENOUGH: usize = 128 << 10;
/// The most a batch holds.
const MAX_BATCH: usize = 256 << 10;
/// A piece of a file ends behind a line feed, if the last so many bytes hold one.
const LINE_SEARCH: usize = 64 << 10;
/// Batches that are read ahead.
const AHEAD: usize = 4;
/// How long a guest's thread waits before it looks whether the call still goes on.
const LOOK: Duration = Duration::from_millis(10);

/// A piece of a file inside a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Absolute path.
    pub path: String,
    /// Where it begins in the batch.
    pub start: usize,
    /// How long it is.
    pub length: usize,
    /// Where it begins in the file.
    pub offset: u64,
    /// The file ends with it.
    pub last: bool,
    file: u64,
}

/// Some pieces.
#[derive(Debug, Default)]
pub struct Batch {
    /// In order.
    pub chunks: Vec<Chunk>,
    /// The bytes.
    pub data: Vec<u8>,
}

enum Message {
    Batch(Batch),
    End(WalkSummary),
}

/// The guest's end of a scan.
#[derive(Debug)]
pub struct Scanner {
    batches: Receiver<Message>,
    summary: WalkSummary,
    /// The file that the last batch ended in.
    current: Option<u64>,
    skip: Arc<AtomicU64>,
    given_up: Arc<AtomicBool>,
}

impl FileView {
    /// Starts a scan.
    pub(in crate::runtime) fn scan(
        &mut self,
        text: &str,
        selection: Selection,
    ) -> Result<Scanner, FileError> {
        let selection = Selection {
            directories: false,
            ..selection
        };
        self.begin_scan()?;
        let walker = self.walk(text, selection)?;
        let (sender, batches) = sync_channel(AHEAD);
        let skip = Arc::new(AtomicU64::new(0));
        let given_up = walker.given_up();
        let producer = Producer {
            walker,
            sender,
            skip: Arc::clone(&skip),
            batch: Batch::default(),
            files: 0,
        };
        thread::Builder::new()
            .name("toolgate-scan".to_owned())
            .spawn(move || producer.run())
            .map_err(|error| {
                FileError::new(
                    Code::Io,
                    format!("the scan cannot start: {}.", error.kind()),
                )
            })?;
        Ok(Scanner {
            batches,
            summary: WalkSummary::default(),
            current: None,
            skip,
            given_up,
        })
    }
}

impl Scanner {
    /// The next batch; none at the end.
    pub(in crate::runtime) async fn next_batch(&mut self) -> Option<Batch> {
        loop {
            match self.batches.recv_timeout(LOOK) {
                Ok(Message::Batch(mut batch)) => {
                    let skipped = self.skip.load(Ordering::Relaxed);
                    batch.chunks.retain(|chunk| chunk.file != skipped);
                    self.current = batch
                        .chunks
                        .last()
                        .filter(|chunk| !chunk.last)
                        .map(|chunk| chunk.file);
                    if !batch.chunks.is_empty() {
                        return Some(batch);
                    }
                }
                Ok(Message::End(summary)) => self.summary = summary,
                Err(RecvTimeoutError::Timeout) => tokio::task::yield_now().await,
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Leaves out the rest of the file that the last batch ended in.
    pub(in crate::runtime) fn skip(&mut self) {
        if let Some(file) = self.current {
            self.skip.store(file, Ordering::Relaxed);
        }
    }

    /// What was left out; complete once the last batch was taken.
    pub(in crate::runtime) fn summary(&self) -> WalkSummary {
        self.summary
    }
}

impl Drop for Scanner {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Relaxed);
    }
}

/// The host's end. It stops when the guest's end is gone.
struct Producer {
    walker: Walker,
    sender: SyncSender<Message>,
    skip: Arc<AtomicU64>,
    batch: Batch,
    files: u64,
}

/// The guest's end is gone.
struct Gone;

impl Producer {
    fn run(mut self) {
        if self.produce().is_ok() {
            let end = Message::End(self.walker.summary());
            // Nobody waits for it any more: then nobody misses it.
            drop(self.sender.send(end));
        }
    }

    fn produce(&mut self) -> Result<(), Gone> {
        while let Some(found) = self.walker.next_entry() {
            if found.kind != FileType::RegularFile {
                continue;
            }
            match self.open(&found) {
                Some(file) => self.read(&found, file)?,
                None => self.walker.skip_one(),
            }
            if self.walker.out_of_time() {
                break;
            }
        }
        self.send()
    }

    /// Opens and judges one file; its size goes with it.
    fn open(&self, found: &Found) -> Option<(OwnedFd, u64)> {
        let handle: OwnedFd = match &found.handle {
            Handle::Opened(handle) => handle.try_clone().ok()?,
            Handle::In(dir) => {
                let flags = OFlags::RDONLY
                    | OFlags::NOFOLLOW
                    | OFlags::NONBLOCK
                    | OFlags::NOCTTY
                    | OFlags::CLOEXEC;
                rustix::fs::openat(dir, found.name(), flags, Mode::empty()).ok()?
            }
        };
        let stat = rustix::fs::fstat(&handle).ok()?;
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        // The walk has judged the path, which leads through no link; what is left is the file's identity.
        let allowed = self.walker.judge().denied_as(Access::Read, &stat).is_none();
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        (regular && allowed).then_some((handle, size))
    }

    fn read(&mut self, found: &Found, (file, size): (OwnedFd, u64)) -> Result<(), Gone> {
        self.files += 1;
        let id = self.files;
        if self.batch.data.len() >= ENOUGH {
            self.send()?;
        }
        let mut start = self.batch.data.len();
        let mut offset = 0;
        loop {
            let held = self.batch.data.len() - start;
            let Ok(last) = self.fill(&file, size.saturating_sub(offset + held as u64)) else {
                self.batch.data.truncate(start);
                self.walker.skip_one();
                return Ok(());
            };
            let held = self.batch.data.len() - start;
            let length = if last { held } else { self.line_end(start) };
            self.batch.chunks.push(Chunk {
                path: found.path.clone(),
                start,
                length,
                offset,
                last,
                file: id,
            });
            if last {
                return Ok(());
            }
            offset += length as u64;
            // What was read beyond the line feed begins the next piece.
            let mut rest = Vec::with_capacity(MAX_BATCH);
            rest.extend_from_slice(self.batch.data.get(start + length..).unwrap_or_default());
            self.batch.data.truncate(start + length);
            self.send()?;
            if self.skip.load(Ordering::Relaxed) == id || self.walker.out_of_time() {
                return Ok(());
            }
            self.batch.data = rest;
            start = 0;
        }
    }

    /// Fills the batch from a file of which `expected` bytes are left; true when that was all.
    fn fill(&mut self, file: &OwnedFd, expected: u64) -> rustix::io::Result<bool> {
        let data = &mut self.batch.data;
        if data.capacity() < MAX_BATCH {
            data.reserve_exact(MAX_BATCH - data.len());
        }
        let mut left = expected;
        while data.len() < data.capacity() {
            let read = rustix::io::read(file, rustix::buffer::spare_capacity(data))?;
            left = left.saturating_sub(read as u64);
            // A file that is as long as it was when it was opened has ended; one that grew has not.
            if read == 0 || left == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where the last line of the batch ends, from `start` on.
    fn line_end(&self, start: usize) -> usize {
        let data = self.batch.data.get(start..).unwrap_or_default();
        let from = data.len().saturating_sub(LINE_SEARCH);
        let tail = data.get(from..).unwrap_or_default();
        memchr::memrchr(b'\n', tail).map_or(data.len(), |at| from + at + 1)
    }

    fn send(&mut self) -> Result<(), Gone> {
        if self.batch.chunks.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        match self.sender.send(Message::Batch(batch)) {
            Ok(()) => Ok(()),
            Err(_) => Err(Gone),
        }
    }
}
