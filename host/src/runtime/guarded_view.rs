//! The view behind `wasi:filesystem`: judged places, and descriptors that wasmtime-wasi works on.
//!
//! Contains no operation of a guest: those are the door's.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use wasmtime::component::{HasData, Resource};
use wasmtime_wasi::filesystem::{Descriptor, Dir, File, FsPerms, OpenMode, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::{FsError, FsResult};

use super::elsewhere::Occupied;
use super::files::{AtPath, Code, FileError, FileView, Place};
use super::state::State;

/// Names the door in the linker.
pub(super) struct GuardedFilesystem;

/// The view, and wasmtime-wasi's implementation behind it.
pub(super) struct GuardedView<'a> {
    pub(super) inner: WasiFilesystemCtxView<'a>,
    pub(super) files: &'a mut FileView,
    pub(super) listings: &'a mut Listings,
}

/// What a descriptor is while its work is done elsewhere.
pub(super) struct Away {
    here: Descriptor,
    _occupied: Occupied,
}

/// The directory of each listing that is being read.
pub(super) type Listings = HashMap<u32, PathBuf>;

impl GuardedFilesystem {
    pub(super) fn view(state: &mut State) -> GuardedView<'_> {
        let (inner, files, listings) = state.filesystem_parts();
        GuardedView {
            inner,
            files,
            listings,
        }
    }
}

impl HasData for GuardedFilesystem {
    type Data<'a> = GuardedView<'a>;
}

impl GuardedView<'_> {
    /// The directory behind a descriptor, and a path below it, judged.
    pub(super) fn at(&self, fd: &Resource<Descriptor>, path: &str) -> FsResult<AtPath> {
        let Descriptor::Dir(dir) = self.inner.table.get(fd)? else {
            return Err(ErrorCode::NotDirectory.into());
        };
        self.files.at(&dir.dir, path).map_err(refusal)
    }

    /// A place that is only looked at, as a directory that wasmtime-wasi can work in and a name in it.
    pub(super) fn seen(
        &mut self,
        fd: &Resource<Descriptor>,
        path: &str,
        follow: bool,
    ) -> FsResult<(Resource<Descriptor>, String)> {
        let at = self.at(fd, path)?;
        let place = self.files.seen(&at, follow).map_err(refusal)?;
        self.push(&place)
    }

    /// Makes the descriptor one whose work is done elsewhere, for as long as that is kept.
    pub(super) async fn away(&mut self, fd: &Resource<Descriptor>) -> FsResult<Away> {
        let same = |file: &std::fs::File| file.try_clone().map_err(ErrorCode::from);
        let (away, file) = match self.inner.table.get(fd)? {
            Descriptor::Dir(dir) => {
                let away = Dir::new(same(&dir.dir)?, dir.perms, dir.open_mode, false);
                let file = Arc::clone(&away.dir);
                (Descriptor::Dir(away), file)
            }
            Descriptor::File(file) => {
                let away = File::new(same(&file.file)?, file.perms, file.open_mode, false);
                let file = Arc::clone(&away.file);
                (Descriptor::File(away), file)
            }
        };
        let occupied = Occupied::by(&file).await;
        let here = std::mem::replace(self.inner.table.get_mut(fd)?, away);
        Ok(Away {
            here,
            _occupied: occupied,
        })
    }

    pub(super) fn back(&mut self, fd: &Resource<Descriptor>, away: Away) -> FsResult<()> {
        *self.inner.table.get_mut(fd)? = away.here;
        Ok(())
    }

    pub(super) fn perms(&self) -> FsPerms {
        if self.files.writable() {
            FsPerms::ReadWrite
        } else {
            FsPerms::ReadOnly
        }
    }

    /// A judged place as a directory that wasmtime-wasi can work in, and a name in it.
    pub(super) fn push(&mut self, place: &Place) -> FsResult<(Resource<Descriptor>, String)> {
        let dir = place
            .dir()
            .try_clone()
            .map_err(|error| FsError::from(ErrorCode::from(error)))?
            .into_std_file();
        let descriptor = Descriptor::Dir(Dir::new(dir, self.perms(), OpenMode::READ, true));
        Ok((self.inner.table.push(descriptor)?, place.name()))
    }
}

/// The view's refusal as WASI says it.
pub(super) fn refusal(error: FileError) -> FsError {
    let code = match error.code {
        Code::NotFound => ErrorCode::NoEntry,
        Code::Refused => ErrorCode::Access,
        Code::NotRegular | Code::Deadline => ErrorCode::NotPermitted,
        Code::IsDirectory => ErrorCode::IsDirectory,
        Code::NotDirectory => ErrorCode::NotDirectory,
        Code::NameTooLong => ErrorCode::NameTooLong,
        Code::NoSpace => ErrorCode::InsufficientSpace,
        Code::ReadOnly => ErrorCode::ReadOnly,
        Code::Changed => ErrorCode::Busy,
        Code::Exists => ErrorCode::Exist,
        Code::TooLarge => ErrorCode::FileTooLarge,
        Code::Invalid => ErrorCode::Invalid,
        Code::Io => ErrorCode::Io,
    };
    code.into()
}
