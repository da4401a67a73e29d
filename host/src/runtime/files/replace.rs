//! Writing in one step: the target holds all the old bytes or all the new ones, whatever happens in between.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};

use super::super::elsewhere;
use super::error::{Code, FileError};
use super::open::{STEP, open_at};
use super::real_path::real_path;
use super::view::{FileView, Located};
use crate::policy::{Access, Deed};

/// What the target must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Anything that has not changed since the session read it.
    Any,
    /// Not there.
    Absent,
    /// Holding exactly these bytes.
    Matches(u128),
}

impl Condition {
    /// What a target that must be so is about to go through. One that may be absent is made, unless something is found.
    fn deed(self) -> Deed {
        match self {
            Self::Any | Self::Absent => Deed::Create,
            Self::Matches(_) => Deed::Change,
        }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The resolved path.
    pub path: PathBuf,
    /// No file was there before.
    pub created: bool,
}

/// The file that will be replaced.
struct Old {
    metadata: std::fs::Metadata,
    fingerprint: Option<u128>,
}

/// What came of a rename.
enum Renamed {
    Done,
    /// The target changed since it was looked at.
    Changed,
    /// Something is where nothing was.
    Taken(io::Error),
}

/// The place of the target: its directory, and its name there.
struct Target {
    dir: Dir,
    name: OsString,
    real: PathBuf,
    made: MadeParents,
}

impl FileView {
    /// See `replace` in `wit/deps/files/files.wit`.
    pub(in crate::runtime) async fn replace(
        &mut self,
        text: &str,
        condition: Condition,
        data: &[u8],
    ) -> Result<Replaced, FileError> {
        let path = self.absolute(text)?;
        let deed = condition.deed();
        let located = self.locate(deed, &path)?;
        let located = self.resolve_links(located)?;
        self.judge_opened(deed, &path, &located.path, None)?;
        let mut target = self.target(deed, &path, &located)?;
        let old = self.old(&path, &target, condition).await?;
        let temporary = self
            .write_temporary(&path, &target.dir, old.as_ref(), data)
            .await?;
        let fingerprint = self.ledger.fingerprint(data);
        let created = self
            .put(&path, &mut target, condition, (old, temporary), fingerprint)
            .await?;
        target.sync().await;
        Ok(Replaced {
            path: target.real,
            created,
        })
    }

    /// Puts what was written in the target's place, as long as that is what it was; true if nothing was there. Where
    /// somebody made the target meanwhile it is looked at like any that was there.
    async fn put(
        &mut self,
        path: &Path,
        target: &mut Target,
        condition: Condition,
        (mut old, mut temporary): (Option<Old>, Temporary),
        fingerprint: u128,
    ) -> Result<bool, FileError> {
        loop {
            let known = self.unchanged(path, target, old.as_ref()).await?;
            let is_new = old.is_none();
            let what = (is_new, &mut temporary, fingerprint);
            match self.take_place(path, target, known.as_ref(), what)? {
                Renamed::Done => return Ok(is_new),
                Renamed::Changed => {}
                Renamed::Taken(error) if condition != Condition::Any => {
                    return Err(FileError::io(path, &error));
                }
                Renamed::Taken(_) => {
                    old = self.old(path, target, condition).await?;
                    if let Some(old) = &old {
                        temporary
                            .keep_owner_and_mode(&old.metadata)
                            .map_err(|error| FileError::io(path, &error))?;
                    }
                }
            }
        }
    }

    /// Two edits of one file look and rename one after the other, so that the second sees the first.
    fn take_place(
        &mut self,
        path: &Path,
        target: &mut Target,
        known: Option<&std::fs::Metadata>,
        (is_new, temporary, fingerprint): (bool, &mut Temporary, u128),
    ) -> Result<Renamed, FileError> {
        let ledger = Arc::clone(&self.ledger);
        let _turn = ledger.turn();
        self.in_time()?;
        if known.is_some_and(|known| !is_still(target, known)) {
            return Ok(Renamed::Changed);
        }
        match temporary.rename(target, is_new) {
            Ok(()) => {
                target.made.keep();
                ledger.record(&target.real, fingerprint);
                self.used(Access::Write, path, &target.real);
                Ok(Renamed::Done)
            }
            Err(error) if is_new && error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(Renamed::Taken(error))
            }
            Err(error) => Err(FileError::io(path, &error)),
        }
    }

    /// Opens the target's directory, making it where it is missing, and judges the target by the directory's handle.
    fn target(&self, deed: Deed, path: &Path, located: &Located) -> Result<Target, FileError> {
        let name = match (located.below.file_name(), located.below.as_os_str() == ".") {
            (Some(name), false) => name.to_owned(),
            _ => return Err(FileError::is_directory(path)),
        };
        let parent = located.below.parent().unwrap_or(Path::new(""));
        let (dir, made) = self.open_parents(path, located, parent)?;
        let real = real_path(&dir)
            .map_err(|error| FileError::io(path, &error))?
            .join(&name);
        self.judge_opened(deed, path, &real, None)?;
        Ok(Target {
            dir,
            name,
            real,
            made,
        })
    }

    fn open_parents(
        &self,
        path: &Path,
        located: &Located,
        parent: &Path,
    ) -> Result<(Dir, MadeParents), FileError> {
        let failed = |error: io::Error| FileError::io(path, &error);
        let mut made = MadeParents::default();
        let mut dir = located.dir.try_clone().map_err(failed)?;
        for component in parent.components() {
            let name = component.as_os_str();
            let next = match dir.open_dir_nofollow(name) {
                Ok(next) => next,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let real = real_path(&dir).map_err(failed)?.join(name);
                    self.judge_way(Deed::Create, path, &real)?;
                    dir.create_dir(name).map_err(failed)?;
                    made.made
                        .push((dir.try_clone().map_err(failed)?, name.to_owned()));
                    dir.open_dir_nofollow(name).map_err(failed)?
                }
                Err(error) => return Err(failed(error)),
            };
            dir = next;
        }
        Ok((dir, made))
    }

    /// What is at the target now, if anything, as long as it may be replaced.
    async fn old(
        &self,
        path: &Path,
        target: &Target,
        condition: Condition,
    ) -> Result<Option<Old>, FileError> {
        let file = match open_existing(target) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match condition {
                    Condition::Matches(_) => Err(changed(path)),
                    Condition::Any | Condition::Absent => Ok(None),
                };
            }
            Err(error) => return Err(FileError::io(path, &error)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|error| FileError::io(path, &error.into()))?;
        let deed = match condition {
            // Refused below, by its own name.
            Condition::Absent => Deed::Create,
            Condition::Any | Condition::Matches(_) => Deed::Change,
        };
        self.judge_opened(deed, path, &target.real, Some(&stat))?;
        let metadata = file
            .metadata()
            .map_err(|error| FileError::io(path, &error))?;
        if metadata.is_dir() {
            return Err(FileError::is_directory(path));
        }
        if !metadata.is_file() {
            return Err(FileError::not_regular(path));
        }
        if condition == Condition::Absent {
            return Err(FileError::new(
                Code::Exists,
                format!("'{}' exists already.", path.display()),
            ));
        }
        if metadata.permissions().mode() & 0o222 == 0 {
            let message = format!(
                "'{}' is read-only: its mode lets nobody write it.",
                path.display()
            );
            return Err(FileError::new(Code::ReadOnly, message));
        }
        let expected = match condition {
            Condition::Matches(fingerprint) => Some(fingerprint),
            Condition::Any | Condition::Absent => self.ledger.last(&target.real),
        };
        if let Some(expected) = expected
            && self.fingerprint_of(path, &file).await? != expected
        {
            return Err(changed(path));
        }
        Ok(Some(Old {
            metadata,
            fingerprint: expected,
        }))
    }

    /// Hashes a file step by step, for as long as the call has time.
    async fn fingerprint_of(
        &self,
        path: &Path,
        mut file: &std::fs::File,
    ) -> Result<u128, FileError> {
        let mut hasher = self.ledger.hasher();
        let mut bytes = vec![0; STEP];
        loop {
            self.in_time()?;
            let read = io::Read::read(&mut file, &mut bytes);
            let read = read.map_err(|error| FileError::io(path, &error))?;
            match bytes.get(..read) {
                Some(part) if !part.is_empty() => hasher.update(part),
                _ => return Ok(hasher.digest128()),
            }
            tokio::task::yield_now().await;
        }
    }

    async fn write_temporary(
        &self,
        path: &Path,
        dir: &Dir,
        old: Option<&Old>,
        data: &[u8],
    ) -> Result<Temporary, FileError> {
        let failed = |error: io::Error| FileError::io(path, &error);
        let mut temporary = Temporary::create(dir, old.is_none()).map_err(failed)?;
        for step in data.chunks(STEP) {
            self.in_time()?;
            temporary.file.write_all(step).map_err(failed)?;
            tokio::task::yield_now().await;
        }
        if let Some(old) = old {
            temporary
                .keep_owner_and_mode(&old.metadata)
                .map_err(failed)?;
        }
        let written = temporary.file.try_clone().map_err(failed)?;
        synced(written).await.map_err(failed)?;
        Ok(temporary)
    }

    /// Looks once more, before the rename. With the state of the file that was looked at, where it must be so still.
    async fn unchanged(
        &self,
        path: &Path,
        target: &Target,
        old: Option<&Old>,
    ) -> Result<Option<std::fs::Metadata>, FileError> {
        let Some(old) = old else {
            return Ok(None);
        };
        let Ok(file) = open_existing(target) else {
            return Err(changed(path));
        };
        let metadata = file
            .metadata()
            .map_err(|error| FileError::io(path, &error))?;
        match old.fingerprint {
            _ if same_state(&old.metadata, &metadata) => Ok(Some(metadata)),
            Some(expected) if self.fingerprint_of(path, &file).await? == expected => {
                Ok(Some(metadata))
            }
            Some(_) => Err(changed(path)),
            None => Ok(None),
        }
    }
}

/// Whether the target is the file of this state, and nothing was written since.
fn is_still(target: &Target, known: &std::fs::Metadata) -> bool {
    let now = open_existing(target).and_then(|file| file.metadata());
    now.is_ok_and(|now| same_state(known, &now))
}

impl Target {
    /// Brings the new name to the disk. The data is there and the name is in place: a directory that cannot be synced
    /// loses neither.
    async fn sync(&self) {
        if let Ok(dir) = self.dir.open(".")
            && let Err(error) = synced(dir.into_std()).await
        {
            tracing::debug!("a directory could not be synced: {error}");
        }
    }
}

/// Waits for the disk: nobody knows how long that takes.
async fn synced(file: std::fs::File) -> io::Result<()> {
    elsewhere::run(move || file.sync_all()).await?
}

fn changed(path: &Path) -> FileError {
    let message = format!(
        "'{}' changed since it was read. Read it again first.",
        path.display()
    );
    FileError::new(Code::Changed, message)
}

/// The change time cannot be set by a program, so equal ones mean that nothing was written.
fn same_state(old: &std::fs::Metadata, new: &std::fs::Metadata) -> bool {
    let state = |metadata: &std::fs::Metadata| {
        (
            metadata.dev(),
            metadata.ino(),
            metadata.size(),
            metadata.ctime(),
            metadata.ctime_nsec(),
        )
    };
    state(old) == state(new)
}

fn open_existing(target: &Target) -> io::Result<std::fs::File> {
    let located = Located {
        dir: Arc::new(target.dir.try_clone()?),
        below: PathBuf::from(&target.name),
        path: target.real.clone(),
    };
    open_at(&located, FollowSymlinks::No)
}

/// A temporary file, removed again unless it was renamed.
struct Temporary {
    dir: Dir,
    name: OsString,
    file: std::fs::File,
    renamed: bool,
}

impl Temporary {
    /// A new target gets what the process's umask leaves of 0666; one that takes an old file's place starts closed.
    fn create(dir: &Dir, new: bool) -> io::Result<Self> {
        let name = OsString::from(format!(".toolgate-{}.tmp", uuid::Uuid::new_v4().simple()));
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .follow(FollowSymlinks::No);
        options.mode(if new { 0o666 } else { 0o600 });
        let file = dir.open_with(&name, &options)?.into_std();
        Ok(Self {
            dir: dir.try_clone()?,
            name,
            file,
            renamed: false,
        })
    }

    fn keep_owner_and_mode(&self, old: &std::fs::Metadata) -> io::Result<()> {
        let own = self.file.metadata()?;
        if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(&self.file, Some(old.uid()), Some(old.gid()))?;
        }
        self.file
            .set_permissions(std::fs::Permissions::from_mode(old.mode() & 0o7777))
    }

    fn rename(&mut self, target: &Target, new: bool) -> io::Result<()> {
        if new {
            rename_new(&self.dir, &self.name, &target.dir, &target.name)?;
        } else {
            self.dir.rename(&self.name, &target.dir, &target.name)?;
        }
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed
            && let Err(error) = self.dir.remove_file(&self.name)
        {
            tracing::error!("a temporary file could not be removed: {error}");
        }
    }
}

/// Renames onto a name that must be free.
#[cfg(target_os = "linux")]
fn rename_new(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    rustix::fs::renameat_with(from, old, to, new, rustix::fs::RenameFlags::NOREPLACE)
        .map_err(io::Error::from)
}

/// Renames onto a name that must be free: a hard link is refused where the name is taken.
#[cfg(not(target_os = "linux"))]
fn rename_new(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    from.hard_link(old, to, new)?;
    from.remove_file(old)
}

/// Directories that were made for the target, removed again unless the write came to an end.
#[derive(Default)]
struct MadeParents {
    made: Vec<(Dir, OsString)>,
}

impl MadeParents {
    fn keep(&mut self) {
        self.made.clear();
    }
}

impl Drop for MadeParents {
    fn drop(&mut self) {
        for (dir, name) in self.made.drain(..).rev() {
            // Somebody may have put something into it meanwhile: then it stays.
            if let Err(error) = dir.remove_dir(&name) {
                tracing::debug!("a directory made for a failed write stays: {error}");
            }
        }
    }
}
