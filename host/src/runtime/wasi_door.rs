//! `wasi:filesystem`: the first door to the view, so that `std::fs` works in any guest.
//!
//! Every operation that names a path is judged by the view before it acts, and what it opens is judged again by its
//! handle. What acts on a handle alone is wasmtime-wasi's own, on handles that were judged when they were opened.

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, Dir, File, FsPerms, OpenMode};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize,
    Host, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags,
    PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult, ReaddirIterator};

use super::files::OpenWish;
use super::guarded_view::{GuardedView, refusal};

/// The most bytes of one write; the guest is told how many were written.
const MAX_WRITE: usize = 1 << 20;
/// The most listings that a guest reads at once: the host holds all names of each.
const MAX_LISTINGS: usize = 64;

impl preopens::Host for GuardedView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut directories = Vec::new();
        for (path, dir) in self.files.preopens() {
            let dir = dir.try_clone()?.into_std_file();
            let descriptor =
                Descriptor::Dir(Dir::new(dir, FsPerms::ReadOnly, OpenMode::READ, true));
            directories.push((
                self.inner.table.push(descriptor)?,
                path.to_string_lossy().into_owned(),
            ));
        }
        Ok(directories)
    }
}

impl Host for GuardedView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner.filesystem_error_code(error)
    }
}

impl HostDescriptor for GuardedView<'_> {
    async fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let unsupported = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(unsupported) {
            return Err(ErrorCode::Unsupported.into());
        }
        let at = self.at(&fd, &path)?;
        let wish = OpenWish {
            follow: path_flags.contains(PathFlags::SYMLINK_FOLLOW),
            write: flags.contains(DescriptorFlags::WRITE),
            create: open_flags.contains(OpenFlags::CREATE),
            exclusive: open_flags.contains(OpenFlags::EXCLUSIVE),
            truncate: open_flags.contains(OpenFlags::TRUNCATE),
        };
        let must_be_directory = open_flags.contains(OpenFlags::DIRECTORY);
        if must_be_directory && wish.changes() {
            return Err(ErrorCode::Invalid.into());
        }
        let opened = self.files.open_wish(&at, wish).map_err(refusal)?;
        let mut mode = OpenMode::READ;
        if wish.changes() {
            mode |= OpenMode::WRITE;
        }
        // A handle for reading changes nothing, not even times, also in a writing view.
        let perms = match wish.changes() {
            true => FsPerms::ReadWrite,
            false => FsPerms::ReadOnly,
        };
        let descriptor = match opened.is_directory() {
            true => Descriptor::Dir(Dir::new(opened.file, perms, mode, true)),
            false if must_be_directory => return Err(ErrorCode::NotDirectory.into()),
            false => Descriptor::File(File::new(opened.file, perms, mode, true)),
        };
        Ok(self.inner.table.push(descriptor)?)
    }

    async fn read_directory(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<ReaddirIterator>> {
        if self.listings.len() >= MAX_LISTINGS {
            return Err(ErrorCode::InsufficientMemory.into());
        }
        let Descriptor::Dir(dir) = self.inner.table.get(&fd)? else {
            return Err(ErrorCode::NotDirectory.into());
        };
        let listed = self.files.listed_directory(&dir.dir).map_err(refusal)?;
        let away = self.away(&fd).await?;
        let borrowed = Resource::new_borrow(fd.rep());
        let stream = self.inner.read_directory(borrowed).await;
        self.back(&fd, away)?;
        let stream = stream?;
        self.listings.insert(stream.rep(), listed);
        Ok(stream)
    }

    async fn stat_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let follow = path_flags.contains(PathFlags::SYMLINK_FOLLOW);
        let (dir, name) = self.seen(&fd, &path, follow)?;
        let stat = self
            .inner
            .stat_at(Resource::new_borrow(dir.rep()), PathFlags::empty(), name)
            .await;
        self.inner.table.delete(dir)?;
        stat
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let follow = path_flags.contains(PathFlags::SYMLINK_FOLLOW);
        let (dir, name) = self.seen(&fd, &path, follow)?;
        let hash = self
            .inner
            .metadata_hash_at(Resource::new_borrow(dir.rep()), PathFlags::empty(), name)
            .await;
        self.inner.table.delete(dir)?;
        hash
    }

    async fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        let (dir, name) = self.seen(&fd, &path, false)?;
        let link = self
            .inner
            .readlink_at(Resource::new_borrow(dir.rep()), name)
            .await;
        self.inner.table.delete(dir)?;
        link
    }

    async fn create_directory_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
    ) -> FsResult<()> {
        let at = self.at(&fd, &path)?;
        self.files.make_directory(&at).map_err(refusal)
    }

    async fn remove_directory_at(
        &mut self,
        fd: Resource<Descriptor>,
        path: String,
    ) -> FsResult<()> {
        let at = self.at(&fd, &path)?;
        self.files
            .change(&at, |dir, name| dir.remove_dir(name))
            .map_err(refusal)?;
        Ok(())
    }

    async fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let at = self.at(&fd, &path)?;
        self.files
            .change(&at, |dir, name| dir.remove_file(name))
            .map_err(refusal)?;
        Ok(())
    }

    async fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        old_path: String,
        new_fd: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let from = self.at(&fd, &old_path)?;
        let to = self.at(&new_fd, &new_path)?;
        self.files.rename(&from, &to).map_err(refusal)?;
        Ok(())
    }

    /// A hard link gives a file a second name that rules on paths do not know.
    async fn link_at(
        &mut self,
        _fd: Resource<Descriptor>,
        _old_path_flags: PathFlags,
        _old_path: String,
        _new_descriptor: Resource<Descriptor>,
        _new_path: String,
    ) -> FsResult<()> {
        Err(ErrorCode::NotPermitted.into())
    }

    async fn symlink_at(
        &mut self,
        fd: Resource<Descriptor>,
        target: String,
        path: String,
    ) -> FsResult<()> {
        if target.starts_with('/') {
            return Err(ErrorCode::NotPermitted.into());
        }
        let at = self.at(&fd, &path)?;
        self.files
            .change(&at, |dir, name| dir.symlink(&target, name))
            .map_err(refusal)?;
        Ok(())
    }

    async fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        _path_flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let at = self.at(&fd, &path)?;
        let place = self.files.change(&at, |_, _| Ok(())).map_err(refusal)?;
        let (dir, name) = self.push(&place)?;
        let borrowed = Resource::new_borrow(dir.rep());
        let set = self
            .inner
            .set_times_at(borrowed, PathFlags::empty(), name, accessed, modified)
            .await;
        self.inner.table.delete(dir)?;
        set
    }

    async fn advise(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
        length: Filesize,
        advice: Advice,
    ) -> FsResult<()> {
        self.inner.advise(fd, offset, length, advice).await
    }

    async fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        let away = self.away(&fd).await?;
        let synced = self.inner.sync_data(Resource::new_borrow(fd.rep())).await;
        self.back(&fd, away)?;
        synced
    }

    async fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        let away = self.away(&fd).await?;
        let synced = self.inner.sync(Resource::new_borrow(fd.rep())).await;
        self.back(&fd, away)?;
        synced
    }

    async fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        self.inner.get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        self.inner.get_type(fd).await
    }

    async fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        self.inner.set_size(fd, size).await
    }

    async fn set_times(
        &mut self,
        fd: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        self.inner.set_times(fd, accessed, modified).await
    }

    async fn read(
        &mut self,
        fd: Resource<Descriptor>,
        length: Filesize,
        offset: Filesize,
    ) -> FsResult<(Vec<u8>, bool)> {
        self.inner.read(fd, length, offset).await
    }

    async fn write(
        &mut self,
        fd: Resource<Descriptor>,
        mut bytes: Vec<u8>,
        offset: Filesize,
    ) -> FsResult<Filesize> {
        bytes.truncate(MAX_WRITE);
        self.inner.write(fd, bytes, offset).await
    }

    async fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        self.inner.stat(fd).await
    }

    async fn is_same_object(
        &mut self,
        a: Resource<Descriptor>,
        b: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        self.inner.is_same_object(a, b).await
    }

    async fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        self.inner.metadata_hash(fd).await
    }

    fn read_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        self.inner.read_via_stream(fd, offset)
    }

    fn write_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.inner.write_via_stream(fd, offset)
    }

    fn append_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<DynOutputStream>> {
        self.inner.append_via_stream(fd)
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        HostDescriptor::drop(&mut self.inner, fd)
    }
}

impl HostDirectoryEntryStream for GuardedView<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<ReaddirIterator>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let rep = stream.rep();
        let listed = self.listings.get(&rep).cloned().unwrap_or_default();
        loop {
            let next = self
                .inner
                .read_directory_entry(Resource::new_borrow(rep))
                .await?;
            match next {
                Some(entry) if !self.files.shows(&listed.join(&entry.name)) => {}
                next => return Ok(next),
            }
        }
    }

    fn drop(&mut self, stream: Resource<ReaddirIterator>) -> wasmtime::Result<()> {
        self.listings.remove(&stream.rep());
        HostDirectoryEntryStream::drop(&mut self.inner, stream)
    }
}
