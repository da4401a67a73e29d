//! Opening what exists: without waiting, without leaving the roots, judged on the handle.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
use rustix::fs::{FileType, OFlags, Stat};

use super::error::{Code, FileError};
use super::real_path::real_path;
use super::status::mode;
use super::view::{FileView, Located};
use crate::policy::Deed;

/// The most bytes of a file that is read whole, whatever the guest says: what it could give back.
const MAX_WHOLE: u64 = 64 << 20;
/// The most bytes of one read.
const MAX_READ: usize = 1 << 20;
/// Bytes that are read or written between two pauses.
pub(super) const STEP: usize = 1 << 20;

/// An opened and judged object.
#[derive(Debug)]
pub(in crate::runtime) struct Opened {
    pub(in crate::runtime) file: File,
    pub(in crate::runtime) stat: Stat,
    /// Its resolved path.
    pub(in crate::runtime) real: PathBuf,
}

impl Opened {
    pub(in crate::runtime) fn file_type(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    pub(in crate::runtime) fn is_directory(&self) -> bool {
        self.file_type() == FileType::Directory
    }
}

/// An opened regular file, as the guest holds it.
#[derive(Clone, Debug)]
pub struct OpenedFile {
    file: Arc<File>,
    real: PathBuf,
    size: u64,
    mode: u32,
}

impl OpenedFile {
    pub(in crate::runtime) fn real(&self) -> &Path {
        &self.real
    }

    pub(in crate::runtime) fn size(&self) -> u64 {
        self.size
    }

    pub(in crate::runtime) fn mode(&self) -> u32 {
        self.mode
    }

    /// At most 1 MiB from `offset`.
    ///
    /// # Errors
    /// The operating system's.
    pub(in crate::runtime) fn read(&self, offset: u64, max: u32) -> Result<Vec<u8>, FileError> {
        let mut bytes = vec![0; MAX_READ.min(max as usize)];
        let read = self
            .file
            .read_at(&mut bytes, offset)
            .map_err(|error| FileError::io(&self.real, &error))?;
        bytes.truncate(read);
        Ok(bytes)
    }
}

/// A whole file as one read saw it.
#[derive(Debug)]
pub struct Contents {
    pub(in crate::runtime) file: OpenedFile,
    pub(in crate::runtime) data: Vec<u8>,
    pub(in crate::runtime) fingerprint: u128,
    pub(in crate::runtime) changed_since_read: bool,
}

impl FileView {
    /// Opens something for reading, whatever it is, and judges it.
    pub(in crate::runtime) fn open(&mut self, path: &Path) -> Result<Opened, FileError> {
        let located = self.locate(Deed::Read, path)?;
        let file = match open_at(&located, FollowSymlinks::Yes) {
            Ok(file) => file,
            // Links that leave the root by an absolute path, perhaps into this or another root.
            Err(error) if leads_out(&error) => {
                let resolved = self.resolve_links(located)?;
                open_at(&resolved, FollowSymlinks::No)
                    .map_err(|error| FileError::io(path, &error))?
            }
            Err(error) => return Err(FileError::io(path, &error)),
        };
        self.judged(Deed::Read, path, file)
    }

    /// Judges an opened handle.
    pub(super) fn judged(
        &mut self,
        deed: Deed,
        path: &Path,
        file: File,
    ) -> Result<Opened, FileError> {
        let stat = rustix::fs::fstat(&file).map_err(|error| FileError::io(path, &error.into()))?;
        let real = real_path(&file).map_err(|error| FileError::io(path, &error))?;
        if stat.st_nlink == 0 {
            return Err(FileError::new(
                Code::NotFound,
                format!("'{}' does not exist.", path.display()),
            ));
        }
        self.judge_opened(deed, path, &real, Some(&stat))?;
        self.used(deed.access(), path, &real);
        Ok(Opened { file, stat, real })
    }

    /// Opens a regular file.
    pub(in crate::runtime) fn open_regular(&mut self, text: &str) -> Result<OpenedFile, FileError> {
        let path = self.absolute(text)?;
        let opened = self.open(&path)?;
        match opened.file_type() {
            FileType::RegularFile => Ok(OpenedFile {
                real: opened.real,
                size: u64::try_from(opened.stat.st_size).unwrap_or(0),
                mode: mode(&opened.stat) & 0o7777,
                file: Arc::new(opened.file),
            }),
            FileType::Directory => Err(FileError::is_directory(&path)),
            _ => Err(FileError::not_regular(&path)),
        }
    }

    /// Reads a whole regular file. A reading view remembers what the session saw.
    pub(in crate::runtime) async fn read_all(
        &mut self,
        text: &str,
        max: u32,
    ) -> Result<Contents, FileError> {
        let file = self.open_regular(text)?;
        let max = u64::from(max).min(MAX_WHOLE);
        let too_large = |size: u64| {
            let message =
                format!("'{text}' has {size} bytes, and {max} is the most that is read at once.");
            FileError::new(Code::TooLarge, message)
        };
        if file.size > max {
            return Err(too_large(file.size));
        }
        let data = read_to_end(&file, max).await?;
        if data.len() as u64 > max {
            return Err(too_large(data.len() as u64));
        }
        let fingerprint = self.ledger.fingerprint(&data);
        let changed_since_read = self.ledger.changed(&file.real, fingerprint);
        if !self.writable() {
            self.ledger.record(&file.real, fingerprint);
        }
        Ok(Contents {
            file,
            data,
            fingerprint,
            changed_since_read,
        })
    }
}

/// Reads to the end, and one byte beyond `max` at the most.
async fn read_to_end(file: &OpenedFile, max: u64) -> Result<Vec<u8>, FileError> {
    use std::io::Read as _;
    let mut data = Vec::with_capacity(usize::try_from(file.size).unwrap_or(0) + 1);
    let mut left = max + 1;
    loop {
        let (handle, step): (&File, u64) = (&file.file, left.min(STEP as u64));
        let read = handle
            .take(step)
            .read_to_end(&mut data)
            .map_err(|error| FileError::io(&file.real, &error))?;
        left -= read as u64;
        if (read as u64) < step || left == 0 {
            return Ok(data);
        }
        tokio::task::yield_now().await;
    }
}

/// Opens below a directory handle. `O_NONBLOCK`: a FIFO or a device must not hold the call up.
pub(super) fn open_at(located: &Located, follow: FollowSymlinks) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options
        .read(true)
        .follow(follow)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
    located
        .dir
        .open_with(&located.below, &options)
        .map(cap_std::fs::File::into_std)
}

/// Whether cap-std refused because the path led out of its directory.
pub(super) fn leads_out(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
        || error.raw_os_error() == Some(rustix::io::Errno::XDEV.raw_os_error())
}
