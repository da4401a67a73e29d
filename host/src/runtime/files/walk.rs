//! Walks: directories by handle, entries in the order of their paths' bytes, links never followed.

use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::error::FileError;
use super::ignore_rules::{IgnoreLevel, ignored};
use super::open::Opened;
use super::select::{Select, Selection};
use super::view::{FileView, Judge};

/// Bytes of a packed batch.
const BATCH: usize = 64 << 10;
/// The most entries that one walk looks at.
const MAX_ENTRIES: u32 = 1_000_000;
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
    looked_at: u32,
    summary: WalkSummary,
    deadline: Instant,
}

#[derive(Debug)]
struct Level {
    dir: Arc<OwnedFd>,
    /// Absolute, with a slash at the end.
    path: String,
    entries: std::vec::IntoIter<Entry>,
    has_ignore: bool,
}

#[derive(Debug)]
struct Entry {
    name: String,
    kind: FileType,
}

impl Entry {
    /// A directory sorts as its entries will: with the slash.
    fn sort_key(&self) -> impl Iterator<Item = u8> + '_ {
        let slash = (self.kind == FileType::Directory).then_some(b'/');
        self.name.bytes().chain(slash)
    }
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
            looked_at: 0,
            summary: WalkSummary::default(),
            deadline: self.deadline,
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
    pub(in crate::runtime) fn next_batch(&mut self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(BATCH + 4_096);
        while packed.len() < BATCH
            && let Some(found) = self.next_entry()
        {
            packed.push(match found.kind {
                FileType::Directory => b'd',
                FileType::Symlink => b'l',
                _ => b'f',
            });
            packed.extend_from_slice(found.path.as_bytes());
            packed.push(0);
        }
        packed
    }

    pub(super) fn next_entry(&mut self) -> Option<Found> {
        if let Some(only) = self.only.take() {
            self.summary.given = 1;
            return Some(only);
        }
        loop {
            let level = self.stack.last_mut()?;
            let Some(entry) = level.entries.next() else {
                if level.has_ignore {
                    self.ignore.pop();
                }
                self.stack.pop();
                continue;
            };
            self.looked_at += 1;
            if self.looked_at > MAX_ENTRIES
                || (self.looked_at.is_multiple_of(256) && Instant::now() >= self.deadline)
            {
                self.summary.truncated = true;
                self.stack.clear();
                return None;
            }
            let path = format!("{}{}", level.path, entry.name);
            let found = Found {
                kind: entry.kind,
                name: level.path.len(),
                handle: Handle::In(Arc::clone(&level.dir)),
                path,
            };
            if let Some(found) = self.look_at(found) {
                self.summary.given += 1;
                return Some(found);
            }
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
        let Ok(entries) = self.entries(dir.as_fd()) else {
            self.summary.skipped += 1;
            return;
        };
        let has = |name: &str| entries.iter().any(|entry| entry.name == name);
        let level = self
            .selection
            .respect_ignore
            .then(|| IgnoreLevel::read(&dir, Path::new(&path), has))
            .flatten();
        let has_ignore = level.is_some();
        self.ignore.extend(level);
        self.stack.push(Level {
            dir,
            path,
            entries: entries.into_iter(),
            has_ignore,
        });
    }

    fn entries(&mut self, dir: impl AsFd) -> rustix::io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(dir.as_fd())? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let Ok(text) = name.to_str() else {
                self.summary.skipped += 1;
                continue;
            };
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    rustix::fs::statat(dir.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
                        .map_or(FileType::Unknown, |stat| {
                            FileType::from_raw_mode(stat.st_mode)
                        })
                }
                known => known,
            };
            entries.push(Entry {
                name: text.to_owned(),
                kind,
            });
        }
        entries.sort_unstable_by(|a, b| a.sort_key().cmp(b.sort_key()));
        Ok(entries)
    }

    pub(super) fn judge(&self) -> &Judge {
        &self.judge
    }

    pub(super) fn skip_one(&mut self) {
        self.summary.skipped += 1;
        self.summary.given = self.summary.given.saturating_sub(1);
    }

    pub(super) fn out_of_time(&mut self) -> bool {
        let out = Instant::now() >= self.deadline;
        self.summary.truncated |= out;
        out
    }
}

fn leads_somewhere(found: &Found) -> bool {
    match &found.handle {
        Handle::In(dir) => rustix::fs::statat(dir, found.name(), AtFlags::empty()).is_ok(),
        Handle::Opened(_) => true,
    }
}
