//! Walks: directories by handle, entries in the order of their paths' bytes, links never followed.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::error::FileError;
use super::ignore_rules::{IgnoreLevel, ignored};
use super::listing::{Entries, Listing};
use super::open::Opened;
use super::select::{Select, Selection};
use super::view::{FileView, Judge};

/// Bytes of a packed batch.
const BATCH: usize = 64 << 10;
/// The most entries that one walk reads.
const MAX_ENTRIES: usize = 1_000_000;
/// Entries that are looked at between two looks at the clock, and at whether anybody still wants them: some milliseconds'
/// work at the most where nothing has to be fetched from a disk, also where a directory is read between them.
const PAUSE: usize = 256;
/// The deepest directory below the start; each level holds a handle.
const MAX_LEVELS: usize = 256;

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkSummary {
    /// Entries given.
    pub given: u32,
    /// Left out by ignore rules.
    pub ignored: u32,
    /// Could not be looked at.
    pub skipped: u32,
    /// A bound ended the walk.
    pub truncated: bool,
}

/// A walk in progress.
#[derive(Debug)]
pub struct Walker {
    judge: Judge,
    select: Select,
    selection: Selection,
    /// Length of the start's path with its slash: what is behind it is relative.
    prefix: usize,
    stack: Vec<Level>,
    ignore: Vec<IgnoreLevel>,
    only: Option<Found>,
    reading: Option<Reading>,
    /// Entries read so far.
    read: usize,
    /// Entries read and looked at since the last look at the clock.
    work: usize,
    pause_is_due: bool,
    summary: WalkSummary,
    deadline: Instant,
    given_up: Arc<AtomicBool>,
}

/// A directory of which not all names are known yet.
#[derive(Debug)]
struct Reading {
    dir: Arc<OwnedFd>,
    path: String,
    listing: Listing,
}

#[derive(Debug)]
struct Level {
    dir: Arc<OwnedFd>,
    /// Absolute, with a slash at the end.
    path: String,
    entries: Entries,
    has_ignore: bool,
}

/// What one step of a walk came to.
enum Step {
    /// An entry that is given.
    Found(Found),
    /// One that is not, or none yet.
    Passed,
    /// There are no more.
    End,
}

/// An entry of a walk.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) kind: FileType,
    pub(super) path: String,
    pub(super) handle: Handle,
    /// Where its name begins in `path`.
    pub(super) name: usize,
}

/// How to get at an entry.
#[derive(Debug)]
pub(super) enum Handle {
    /// The directory that holds it.
    In(Arc<OwnedFd>),
    /// It is open: the start of the walk was a file.
    Opened(Arc<OwnedFd>),
}

impl Found {
    pub(super) fn name(&self) -> &str {
        self.path.get(self.name..).unwrap_or_default()
    }
}

impl FileView {
    /// Starts a walk.
    pub(in crate::runtime) fn walk(
        &mut self,
        text: &str,
        selection: Selection,
    ) -> Result<Walker, FileError> {
        let path = self.absolute(text)?;
        let start = self.open(&path)?;
        let select = Select::compile(&selection)?;
        let judge = self.judge()?.clone();
        let ignore = if selection.respect_ignore {
            self.ignore_above(&judge, &start.real)
        } else {
            Vec::new()
        };
        let mut walker = Walker {
            judge,
            select,
            selection,
            prefix: 0,
            stack: Vec::new(),
            ignore,
            only: None,
            reading: None,
            read: 0,
            work: 0,
            pause_is_due: false,
            summary: WalkSummary::default(),
            deadline: self.deadline,
            given_up: Arc::default(),
        };
        walker.begin(&path, start)?;
        Ok(walker)
    }

    /// Ignore files between the root and the start.
    fn ignore_above(&self, judge: &Judge, start: &Path) -> Vec<IgnoreLevel> {
        let Some(root) = judge.root_of(start) else {
            return Vec::new();
        };
        let mut above: Vec<&Path> = start
            .ancestors()
            .skip(1)
            .take_while(|path| path.starts_with(root))
            .collect();
        above.reverse();
        let preopens = self.preopens();
        let Some((_, root_dir)) = preopens.iter().find(|(path, _)| path == root) else {
            return Vec::new();
        };
        above
            .into_iter()
            .filter_map(|path| {
                let below = path.strip_prefix(root).ok()?;
                let below = if below.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    below
                };
                let dir = root_dir.open_dir(below).ok()?;
                IgnoreLevel::read(&dir, path, |_| true)
            })
            .collect()
    }
}

impl Walker {
    fn begin(&mut self, asked: &Path, start: Opened) -> Result<(), FileError> {
        let is_directory = start.is_directory();
        let kind = start.file_type();
        let real = start.real.to_string_lossy().into_owned();
        let handle: Arc<OwnedFd> = Arc::new(start.file.into());
        if is_directory {
            let path = if real.ends_with('/') {
                real
            } else {
                format!("{real}/")
            };
            self.prefix = path.len();
            self.enter(handle, path);
            return Ok(());
        }
        if kind != FileType::RegularFile {
            return Err(FileError::not_regular(asked));
        }
        let name = real.rfind('/').map_or(0, |slash| slash + 1);
        self.prefix = name;
        self.only = Some(Found {
            kind,
            path: real,
            handle: Handle::Opened(handle),
            name,
        });
        Ok(())
    }

    /// What was left out so far.
    pub(in crate::runtime) fn summary(&self) -> WalkSummary {
        self.summary
    }

    /// The next entries, packed; empty at the end.
    pub(in crate::runtime) async fn next_batch(&mut self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(BATCH + 4_096);
        while packed.len() < BATCH {
            match self.step() {
                Step::Found(found) => {
                    packed.push(match found.kind {
                        FileType::Directory => b'd',
                        FileType::Symlink => b'l',
                        _ => b'f',
                    });
                    packed.extend_from_slice(found.path.as_bytes());
                    packed.push(0);
                }
                Step::Passed => {}
                Step::End => break,
            }
            if std::mem::take(&mut self.pause_is_due) {
                tokio::task::yield_now().await;
            }
        }
        packed
    }

    /// The next entry, however long it takes.
    pub(super) fn next_entry(&mut self) -> Option<Found> {
        loop {
            match self.step() {
                Step::Found(found) => return Some(found),
                Step::Passed => {}
                Step::End => return None,
            }
        }
    }

    fn step(&mut self) -> Step {
        if let Some(only) = self.only.take() {
            self.summary.given = 1;
            return Step::Found(only);
        }
        self.work += 1;
        if self.work >= PAUSE {
            self.work = 0;
            self.pause_is_due = true;
            if self.out_of_time() {
                self.stack.clear();
                self.reading = None;
            }
        }
        if let Some(reading) = self.reading.take() {
            self.read_on(reading);
            return Step::Passed;
        }
        let Some(level) = self.stack.last_mut() else {
            return Step::End;
        };
        let Some(entry) = level.entries.next() else {
            if level.has_ignore {
                self.ignore.pop();
            }
            self.stack.pop();
            return Step::Passed;
        };
        let path = format!("{}{}", level.path, entry.name());
        let found = Found {
            kind: entry.kind,
            name: level.path.len(),
            handle: Handle::In(Arc::clone(&level.dir)),
            path,
        };
        match self.look_at(found) {
            Some(found) => {
                self.summary.given += 1;
                Step::Found(found)
            }
            None => Step::Passed,
        }
    }

    fn look_at(&mut self, found: Found) -> Option<Found> {
        let is_dir = found.kind == FileType::Directory;
        let relative = found.path.get(self.prefix..).unwrap_or_default();
        if self.select.excludes(relative) {
            return None;
        }
        let wanted = self.select.wants(relative, is_dir);
        if !wanted && !is_dir {
            return None;
        }
        if self.selection.respect_ignore && self.is_ignored(&found, is_dir) {
            self.summary.ignored += 1;
            return None;
        }
        if !self.judge.shows(Path::new(&found.path)) {
            return None;
        }
        match found.kind {
            FileType::Directory => {
                self.descend(&found);
                (wanted && self.selection.directories).then_some(found)
            }
            FileType::RegularFile => Some(found),
            FileType::Symlink if leads_somewhere(&found) => Some(found),
            _ => {
                self.summary.skipped += 1;
                None
            }
        }
    }

    fn is_ignored(&self, found: &Found, is_dir: bool) -> bool {
        found.name().starts_with('.') || ignored(&self.ignore, Path::new(&found.path), is_dir)
    }

    fn descend(&mut self, found: &Found) {
        let depth = u32::try_from(self.stack.len()).unwrap_or(u32::MAX);
        if self.selection.max_depth != 0 && depth >= self.selection.max_depth {
            return;
        }
        if self.stack.len() >= MAX_LEVELS {
            self.summary.truncated = true;
            return;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Handle::In(parent) = &found.handle else {
            return;
        };
        match rustix::fs::openat(parent, found.name(), flags, Mode::empty()) {
            Ok(dir) => self.enter(Arc::new(dir), format!("{}/", found.path)),
            Err(_) => self.summary.skipped += 1,
        }
    }

    fn enter(&mut self, dir: Arc<OwnedFd>, path: String) {
        match Listing::of(&dir) {
            Ok(listing) => self.read_on(Reading { dir, path, listing }),
            Err(_) => self.summary.skipped += 1,
        }
    }

    /// Reads one more piece of a directory, and goes into it if that was the last one.
    fn read_on(&mut self, mut reading: Reading) {
        let before = reading.listing.len();
        let most = MAX_ENTRIES.saturating_sub(self.read);
        if most == 0 {
            self.summary.truncated = true;
            return;
        }
        let Ok(more) = reading.listing.read_piece(&reading.dir, most) else {
            self.summary.skipped += 1;
            return;
        };
        let read = reading.listing.len() - before;
        self.read += read;
        self.work += read;
        if more && self.read < MAX_ENTRIES {
            self.reading = Some(reading);
            return;
        }
        self.summary.truncated |= more;
        let Reading { dir, path, listing } = reading;
        self.summary.skipped += listing.skipped;
        let level = self
            .selection
            .respect_ignore
            .then(|| IgnoreLevel::read(&dir, Path::new(&path), |name| listing.has(name)))
            .flatten();
        let has_ignore = level.is_some();
        self.ignore.extend(level);
        self.stack.push(Level {
            dir,
            path,
            entries: listing.entries(),
            has_ignore,
        });
    }

    pub(super) fn judge(&self) -> &Judge {
        &self.judge
    }

    pub(super) fn skip_one(&mut self) {
        self.summary.skipped += 1;
        self.summary.given = self.summary.given.saturating_sub(1);
    }

    /// Whether the walk is over before its end: its time is, or nobody wants the rest.
    pub(super) fn out_of_time(&mut self) -> bool {
        let out = self.given_up.load(Ordering::Relaxed) || Instant::now() >= self.deadline;
        self.summary.truncated |= out;
        out
    }

    /// Set by whoever does not want the rest.
    pub(super) fn given_up(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.given_up)
    }
}

fn leads_somewhere(found: &Found) -> bool {
    match &found.handle {
        Handle::In(dir) => rustix::fs::statat(dir, found.name(), AtFlags::empty()).is_ok(),
        Handle::Opened(_) => true,
    }
}
