//! Stdin and stdout of a process that speaks the protocol over them.
//!
//! Guarantees that stdout belongs to the protocol alone: it is moved away from descriptor 1, which leads to stderr from
//! then on, so that whatever prints by mistake prints there.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// The first descriptor that the moved stdout may have.
const ABOVE_STANDARD: RawFd = 3;

/// Where messages come from.
pub(super) type Input = Pin<Box<dyn AsyncRead + Send>>;
/// Where they go.
pub(super) type Output = Pin<Box<dyn AsyncWrite + Send>>;

/// Takes both. Pipes are read and written without a thread; anything else (a socket, a terminal, a file) with one.
///
/// # Errors
/// Stdout or stderr is closed.
pub(super) fn take() -> io::Result<(Input, Output)> {
    let moved = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), ABOVE_STANDARD)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    let input: Input = match reopened(0, false).map(pipe::Receiver::from_file) {
        Some(Ok(pipe)) => Box::pin(pipe),
        Some(Err(_)) | None => Box::pin(tokio::io::stdin()),
    };
    Ok((input, output(moved)))
}

fn output(moved: OwnedFd) -> Output {
    match reopened(moved.as_raw_fd(), true).map(pipe::Sender::from_file) {
        Some(Ok(pipe)) => Box::pin(pipe),
        Some(Err(_)) | None => Box::pin(tokio::fs::File::from_std(File::from(moved))),
    }
}

/// A pipe, opened anew: not to block belongs to the open file, which others may share. `None`: it is no pipe.
fn reopened(descriptor: RawFd, write: bool) -> Option<File> {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
    let file = OpenOptions::new()
        .read(!write)
        .write(write)
        .custom_flags(flags)
        .open(format!("/proc/self/fd/{descriptor}"))
        .ok()?;
    let kind = file.metadata().ok()?.file_type();
    kind.is_fifo().then_some(file)
}
