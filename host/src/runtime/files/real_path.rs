//! The resolved path of an opened object, asked of the kernel.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

/// Where the opened object is now.
#[cfg(not(target_vendor = "apple"))]
pub(super) fn real_path(handle: impl AsFd) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStringExt as _;
    let link = format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd());
    let path = rustix::fs::readlinkat(rustix::fs::CWD, link, Vec::with_capacity(256))?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(
        path.into_bytes(),
    )))
}

/// Where the opened object is now.
#[cfg(target_vendor = "apple")]
pub(super) fn real_path(handle: impl AsFd) -> io::Result<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    let path = rustix::fs::getpath(handle)?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(
        path.into_bytes(),
    )))
}
