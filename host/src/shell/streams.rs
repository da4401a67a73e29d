//! The pipes of a command, or its terminal, read as fast as they fill.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt as _, Interest};
use tokio::net::unix::pipe::Receiver;

use super::capture::Stream;

/// How much is read at once, which is what a pipe holds.
const PIECE: usize = 64 << 10;

/// The host's end of a terminal, which is read here and written elsewhere.
pub(super) type Master = Arc<AsyncFd<OwnedFd>>;

/// Where bytes come from.
#[derive(Debug)]
enum Source {
    Pipe(Receiver),
    Terminal(Master),
}

/// The reading ends; one that has come to its end is gone.
#[derive(Debug)]
pub(super) struct Streams {
    out: Option<Source>,
    err: Option<Source>,
    buffers: [Vec<u8>; 2],
    last: Stream,
}

impl Streams {
    /// One pipe for both streams, or two: the reading ends, and the writing ends for stdout and stderr.
    pub(super) fn open(separate: bool) -> io::Result<(Self, OwnedFd, OwnedFd)> {
        let (out, out_end) = pipe()?;
        let (err, err_end) = if separate {
            let (err, err_end) = pipe()?;
            (Some(Source::Pipe(Receiver::from_owned_fd(err)?)), err_end)
        } else {
            (None, out_end.try_clone()?)
        };
        let streams = Self {
            buffers: [
                vec![0; PIECE],
                vec![0; if err.is_some() { PIECE } else { 0 }],
            ],
            out: Some(Source::Pipe(Receiver::from_owned_fd(out)?)),
            err,
            last: Stream::Out,
        };
        Ok((streams, out_end, err_end))
    }

    /// Stderr alone: the reading end and the writing end.
    pub(super) fn of_errors() -> io::Result<(Self, OwnedFd)> {
        let (err, end) = pipe()?;
        let streams = Self {
            buffers: [Vec::new(), vec![0; PIECE]],
            out: None,
            err: Some(Source::Pipe(Receiver::from_owned_fd(err)?)),
            last: Stream::Err,
        };
        Ok((streams, end))
    }

    /// A terminal instead of pipes.
    pub(super) fn of_terminal(master: Master) -> Self {
        Self {
            buffers: [vec![0; PIECE], Vec::new()],
            out: Some(Source::Terminal(master)),
            err: None,
            last: Stream::Out,
        }
    }

    /// Whether all have come to their end.
    pub(super) fn have_ended(&self) -> bool {
        self.out.is_none() && self.err.is_none()
    }

    /// Reads the next piece: from which stream, and how many bytes. `None` once all have ended. Losing the future loses no byte.
    pub(super) async fn next(&mut self) -> Option<(Stream, usize)> {
        while !self.have_ended() {
            let [out_buffer, err_buffer] = &mut self.buffers;
            let (stream, read) = tokio::select! {
                read = read(&mut self.out, out_buffer) => (Stream::Out, read),
                read = read(&mut self.err, err_buffer) => (Stream::Err, read),
            };
            self.last = stream;
            match read {
                Ok(length) if length > 0 => return Some((stream, length)),
                // A pipe that cannot be read any more has ended too, and so does a terminal that nobody holds.
                Ok(_) | Err(_) => match stream {
                    Stream::Out => self.out = None,
                    Stream::Err => self.err = None,
                },
            }
        }
        None
    }

    /// The bytes of the last piece.
    pub(super) fn buffer(&self, length: usize) -> &[u8] {
        let [out, err] = &self.buffers;
        let buffer = match self.last {
            Stream::Out => out,
            Stream::Err => err,
        };
        buffer.get(..length).unwrap_or_default()
    }
}

async fn read(source: &mut Option<Source>, buffer: &mut [u8]) -> io::Result<usize> {
    match source {
        Some(Source::Pipe(pipe)) => pipe.read(buffer).await,
        Some(Source::Terminal(master)) => {
            let read = |master: &OwnedFd| Ok(rustix::io::read(master, &mut *buffer)?);
            master.async_io(Interest::READABLE, read).await
        }
        None => std::future::pending().await,
    }
}

/// A descriptor that can be waited for.
#[expect(
    deprecated,
    reason = "the newer form is unsafe, for owners that hand out changing numbers; an owned descriptor does not"
)]
pub(super) fn watched(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(descriptor)
}

/// A pipe: its reading and its writing end, which no other program inherits.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = io::pipe()?;
    Ok((read.into(), write.into()))
}
