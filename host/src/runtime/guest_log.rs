//! The bounded log of a call: what a guest writes to stdout and stderr, and what it logs. Never the host's own streams.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};

/// The most bytes of a line.
const MAX_LINE: usize = 4 << 10;

/// Lines of one call. Clones are one log.
#[derive(Clone, Debug)]
pub(super) struct GuestLog {
    inner: Arc<Mutex<Lines>>,
}

#[derive(Debug)]
struct Lines {
    /// The most that are kept.
    most: usize,
    lines: Vec<String>,
    dropped: usize,
}

impl GuestLog {
    /// A log that keeps this many lines.
    pub(super) fn new(most: usize) -> Self {
        let lines = Lines {
            most,
            lines: Vec::new(),
            dropped: 0,
        };
        Self {
            inner: Arc::new(Mutex::new(lines)),
        }
    }

    pub(super) fn line(&self, text: &str) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.lines.len() >= inner.most {
            inner.dropped += 1;
            return;
        }
        let mut end = text.len().min(MAX_LINE);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        inner
            .lines
            .push(text.get(..end).unwrap_or_default().to_owned());
    }

    /// The lines, with a last one that says how many were dropped.
    pub(super) fn take(&self) -> Vec<String> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = std::mem::take(&mut inner.lines);
        if inner.dropped > 0 {
            lines.push(format!("({} more lines were dropped)", inner.dropped));
        }
        lines
    }

    pub(super) fn stream(&self, name: &'static str) -> GuestStream {
        GuestStream {
            log: self.clone(),
            name,
        }
    }
}

/// A standard stream of a guest, into the log.
#[derive(Clone, Debug)]
pub(super) struct GuestStream {
    log: GuestLog,
    name: &'static str,
}

impl IsTerminal for GuestStream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for GuestStream {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl AsyncWrite for GuestStream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        for line in String::from_utf8_lossy(bytes).lines() {
            self.log.line(&format!("{}: {line}", self.name));
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
