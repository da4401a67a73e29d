//! Places below a directory handle, as `wasi:filesystem` names them.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{FileType, OFlags};

use super::error::{Code, FileError};
use super::open::Opened;
use super::real_path::real_path;
use super::view::{FileView, Located, MAX_PATH};
use crate::policy::{Access, Deed, RequestRefusal, fold};

/// The most entries of a directory that is renamed: each is judged.
const MAX_CARRIED: usize = 10_000;

/// A path below a directory handle, not looked at yet.
#[derive(Debug)]
pub(in crate::runtime) struct AtPath {
    path: PathBuf,
}

/// A directory handle and a name in it, judged.
#[derive(Debug)]
pub(in crate::runtime) struct Place {
    dir: Dir,
    name: OsString,
}

impl Place {
    pub(in crate::runtime) fn dir(&self) -> &Dir {
        &self.dir
    }

    pub(in crate::runtime) fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }
}

/// How something should be opened.
#[derive(Clone, Copy, Debug)]
pub(in crate::runtime) struct OpenWish {
    pub(in crate::runtime) follow: bool,
    pub(in crate::runtime) write: bool,
    pub(in crate::runtime) create: bool,
    pub(in crate::runtime) exclusive: bool,
    pub(in crate::runtime) truncate: bool,
}

impl OpenWish {
    /// Whether it asks for more than reading.
    pub(in crate::runtime) fn changes(self) -> bool {
        self.write || self.create || self.truncate
    }

    /// What the place of a changing wish is about to go through. One that may be absent is made, unless something is
    /// found.
    fn deed(self) -> Deed {
        match self.create {
            true => Deed::Create,
            false => Deed::Change,
        }
    }
}

impl FileView {
    /// A path below a directory handle. It cannot leave the directory.
    pub(in crate::runtime) fn at(&self, dir: &File, path: &str) -> Result<AtPath, FileError> {
        let asked = Path::new(path);
        if path.len() > MAX_PATH {
            return Err(FileError::new(Code::NameTooLong, "the name is too long."));
        }
        let base = real_path(dir).map_err(|error| FileError::io(asked, &error))?;
        let absolute = fold(&base, asked);
        let outside = asked.is_absolute() || !absolute.starts_with(&base);
        if outside {
            return Err(FileError::new(
                Code::Refused,
                format!("'{path}' leads out of its directory."),
            ));
        }
        Ok(AtPath { path: absolute })
    }

    /// Opens what a guest asks for, judged.
    pub(in crate::runtime) fn open_wish(
        &mut self,
        at: &AtPath,
        wish: OpenWish,
    ) -> Result<Opened, FileError> {
        let opened = if wish.changes() {
            self.open_changing(at, wish)?
        } else if wish.follow {
            self.open(&at.path)?
        } else {
            let located = self.locate(Deed::Read, &at.path)?;
            let file = super::open::open_at(&located, FollowSymlinks::No);
            let file = file.map_err(|error| FileError::io(&at.path, &error))?;
            self.judged(Deed::Read, &at.path, file)?
        };
        match opened.file_type() {
            FileType::RegularFile | FileType::Directory => Ok(opened),
            _ => Err(FileError::not_regular(&at.path)),
        }
    }

    /// Opens for writing. A link at the end is never followed, and nothing is truncated before the handle is judged. In a
    /// view for creating, the operating system makes the file or refuses, so that a handle that writes is one of a file
    /// that this call has made.
    fn open_changing(&mut self, at: &AtPath, wish: OpenWish) -> Result<Opened, FileError> {
        let place = self.place(wish.deed(), &at.path, false)?;
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = OpenOptions::new();
        options.read(true).write(true).follow(FollowSymlinks::No);
        let must_be_new = wish.create && (wish.exclusive || self.creates_only());
        options
            .create(wish.create && !must_be_new)
            .create_new(must_be_new);
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
        let failed = |error: io::Error| match error.kind() {
            // Asked for the file whether it exists or not: that it exists is not what is wrong.
            io::ErrorKind::AlreadyExists if !wish.exclusive => {
                FileError::refused(&at.path, &RequestRefusal::CreateOnly)
            }
            _ => FileError::io(&at.path, &error),
        };
        let file = place
            .dir
            .open_with(&place.name, &options)
            .map_err(failed)?
            .into_std();
        let deed = match must_be_new {
            true => Deed::Create,
            false => Deed::Change,
        };
        let opened = self.judged(deed, &at.path, file)?;
        if wish.truncate && opened.file_type() == FileType::RegularFile {
            opened.file.set_len(0).map_err(failed)?;
        }
        Ok(opened)
    }

    /// The place of something that is only looked at.
    pub(in crate::runtime) fn seen(&self, at: &AtPath, follow: bool) -> Result<Place, FileError> {
        self.place(Deed::Read, &at.path, follow)
    }

    /// Makes a directory. The operating system refuses where something is.
    pub(in crate::runtime) fn make_directory(&mut self, at: &AtPath) -> Result<(), FileError> {
        self.act(Deed::Create, at, |dir, name| dir.create_dir(name))
            .map(|_| ())
    }

    /// Removes or changes one entry of a directory, or makes one that is neither a file nor a directory.
    pub(in crate::runtime) fn change(
        &mut self,
        at: &AtPath,
        act: impl FnOnce(&Dir, &Path) -> io::Result<()>,
    ) -> Result<Place, FileError> {
        self.act(Deed::Change, at, act)
    }

    fn act(
        &mut self,
        deed: Deed,
        at: &AtPath,
        act: impl FnOnce(&Dir, &Path) -> io::Result<()>,
    ) -> Result<Place, FileError> {
        let place = self.place(deed, &at.path, false)?;
        act(&place.dir, Path::new(&place.name)).map_err(|error| FileError::io(&at.path, &error))?;
        self.used(Access::Write, &at.path, &at.path);
        Ok(place)
    }

    /// Renames. Both names are written, the old one is read, and the same holds for everything below a directory: what
    /// may not be touched cannot be carried away with the folder that holds it.
    pub(in crate::runtime) fn rename(
        &mut self,
        from: &AtPath,
        to: &AtPath,
    ) -> Result<(), FileError> {
        let old = self.place(Deed::Change, &from.path, false)?;
        let new = self.place(Deed::Change, &to.path, false)?;
        let failed = |error: io::Error| FileError::io(&from.path, &error);
        let metadata = old.dir.symlink_metadata(&old.name).map_err(failed)?;
        let mut left = MAX_CARRIED;
        if metadata.is_dir() {
            let dir = old.dir.open_dir_nofollow(&old.name).map_err(failed)?;
            self.judge_carried(&dir, &from.path, &to.path, &mut left)?;
        }
        self.judge_opened(Deed::Read, &from.path, &from.path, None)?;
        let renamed = old.dir.rename(&old.name, &new.dir, &new.name);
        renamed.map_err(|error| FileError::io(&to.path, &error))?;
        self.used(Access::Write, &from.path, &to.path);
        Ok(())
    }

    /// Judges everything in a directory, under the names that it has and the names that it would have.
    fn judge_carried(
        &self,
        dir: &Dir,
        from: &Path,
        to: &Path,
        left: &mut usize,
    ) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::io(from, &error);
        for entry in dir.entries().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            *left = left.checked_sub(1).ok_or_else(|| {
                let message = format!(
                    "'{}' holds too much to be renamed as a whole.",
                    from.display()
                );
                FileError::new(Code::TooLarge, message)
            })?;
            let (old, new) = (from.join(entry.file_name()), to.join(entry.file_name()));
            self.judge_opened(Deed::Read, from, &old, None)?;
            self.judge_opened(Deed::Change, from, &old, None)?;
            self.judge_opened(Deed::Change, to, &new, None)?;
            if entry.file_type().map_err(failed)?.is_dir() {
                let below = dir.open_dir_nofollow(entry.file_name()).map_err(failed)?;
                self.judge_carried(&below, &old, &new, left)?;
            }
        }
        Ok(())
    }

    /// The resolved path of a directory that is about to be listed.
    pub(in crate::runtime) fn listed_directory(&self, dir: &File) -> Result<PathBuf, FileError> {
        let real = real_path(dir).map_err(|error| FileError::io(Path::new("."), &error))?;
        self.judge_way(Deed::Read, &real, &real)?;
        Ok(real)
    }

    /// Whether the listing of a directory may name this path.
    pub(in crate::runtime) fn shows(&self, path: &Path) -> bool {
        self.grant().is_ok_and(|grant| grant.shows(path))
    }

    /// The directory of a path, opened, with the name in it; the two together judged.
    fn place(&self, deed: Deed, path: &Path, follow: bool) -> Result<Place, FileError> {
        let mut located = self.locate(deed, path)?;
        if follow {
            located = self.resolve_links(located)?;
        }
        let failed = |error: io::Error| FileError::io(path, &error);
        let Located { dir, below, .. } = &located;
        let (parent, name) = match below.components().next_back() {
            Some(Component::Normal(name)) => {
                (below.parent().unwrap_or(Path::new("")), name.to_owned())
            }
            _ => (Path::new(""), OsString::from(".")),
        };
        let dir = match parent.as_os_str().is_empty() {
            true => dir.try_clone(),
            false => dir.open_dir(parent),
        };
        let dir = dir.map_err(failed)?;
        let real = fold(&real_path(&dir).map_err(failed)?, Path::new(&name));
        self.judge_opened(deed, path, &real, None)?;
        Ok(Place { dir, name })
    }
}
