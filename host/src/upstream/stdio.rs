//! The pipes of a server as a transport: one message a line both ways.
//!
//! Guarantees that no line is read beyond its bound, that junk is counted and never waited for, and that lines go out
//! whole whatever becomes of who sends them. Closing it closes the server's input, which asks it to end.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::{mpsc, oneshot};

use super::decode::{Decoded, decode};
use crate::model::ServerAlias;

/// The longest line, bytes.
const MAX_LINE: usize = 8 << 20;
/// How much is read at once.
const PIECE: usize = 64 << 10;
/// The most bytes of junk before the server is given up.
const MAX_JUNK: u64 = 16 << 20;
/// Lines that wait to be written.
const WAITING: usize = 16;
/// The most requests whose answer is wanted as it stands; more are not in flight at once.
const MAX_RAW: usize = 4_096;

/// What a server printed that was no message.
#[derive(Debug, Default)]
pub(super) struct Junk {
    lines: AtomicU64,
    bytes: AtomicU64,
    warned: AtomicBool,
    why: Mutex<Option<String>>,
}

impl Junk {
    /// How many lines.
    pub(super) fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Why the server was given up, if it was.
    pub(super) fn why(&self) -> Option<String> {
        self.why
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn give_up(&self, why: String) {
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    /// Takes one line. False: it is too much.
    fn take(&self, alias: &ServerAlias, line: &[u8]) -> bool {
        self.lines.fetch_add(1, Ordering::Relaxed);
        let length = line.len() as u64;
        if !self.warned.swap(true, Ordering::Relaxed) {
            let shown = String::from_utf8_lossy(line.get(..80).unwrap_or(line)).into_owned();
            tracing::warn!(
                "the server '{alias}' prints what is no message, which is passed over: '{}'",
                crate::model::visible(&shown)
            );
        }
        self.bytes.fetch_add(length, Ordering::Relaxed) + length <= MAX_JUNK
    }
}

type Line = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// See the module.
#[derive(Debug)]
pub(super) struct Pipes {
    alias: ServerAlias,
    output: Receiver,
    /// What was read and is no whole line yet; searched up to `searched`.
    held: Vec<u8>,
    searched: usize,
    ended: bool,
    lines: Option<mpsc::Sender<Line>>,
    raw: HashSet<RequestId>,
    junk: Arc<Junk>,
}

impl Pipes {
    /// A transport over the pipes of a server. Has to be made on a runtime.
    pub(super) fn new(
        alias: ServerAlias,
        input: Sender,
        output: Receiver,
        junk: Arc<Junk>,
    ) -> Self {
        let (lines, waiting) = mpsc::channel(WAITING);
        tokio::spawn(write(input, waiting));
        Self {
            alias,
            output,
            held: Vec::new(),
            searched: 0,
            ended: false,
            lines: Some(lines),
            raw: HashSet::new(),
            junk,
        }
    }

    /// The next whole line. Nothing is lost where the future is dropped.
    async fn line(&mut self) -> Option<Vec<u8>> {
        loop {
            let unsearched = self.held.get(self.searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', unsearched) {
                let end = self.searched + at;
                let rest = self.held.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.held, rest);
                line.truncate(end);
                self.searched = 0;
                return Some(line);
            }
            self.searched = self.held.len();
            if self.ended {
                return None;
            }
            if self.held.len() > MAX_LINE {
                self.junk.give_up(format!(
                    "it printed more than {} MiB without an end of the line",
                    MAX_LINE >> 20
                ));
                return None;
            }
            self.held.reserve(PIECE);
            match self.output.read_buf(&mut self.held).await {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!("the output of the server '{}': {error}", self.alias);
                    self.ended = true;
                }
            }
        }
    }
}

/// Writes whole lines until nobody sends any more, then closes the server's input.
async fn write(mut input: Sender, mut lines: mpsc::Receiver<Line>) {
    while let Some((line, written)) = lines.recv().await {
        let wrote = input.write_all(&line).await;
        let broke = wrote.is_err();
        // Who sent it may have gone.
        if written.send(wrote).is_err() || broke {
            tracing::trace!(broke, "a line to a server");
        }
        if broke {
            return;
        }
    }
}

/// The id as it was sent: some servers answer to the number 7 as "7".
fn as_sent(id: &RequestId) -> RequestId {
    match id {
        RequestId::Number(_) => id.clone(),
        RequestId::String(text) => text.parse().map_or_else(|_| id.clone(), RequestId::Number),
    }
}

fn keeps_raw(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    let ClientJsonRpcMessage::Request(request) = message else {
        return None;
    };
    let raw = matches!(
        request.request,
        ClientRequest::ListToolsRequest(_) | ClientRequest::CallToolRequest(_)
    );
    raw.then(|| request.id.clone())
}

impl Transport<RoleClient> for Pipes {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let Some(id) = keeps_raw(&message) {
            if self.raw.len() >= MAX_RAW {
                self.raw.clear();
            }
            self.raw.insert(id);
        }
        let line = serde_json::to_vec(&message).map_err(io::Error::other);
        let lines = self.lines.clone();
        async move {
            let mut line = line?;
            line.push(b'\n');
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let (written, result) = oneshot::channel();
            let lines = lines.ok_or_else(closed)?;
            lines
                .send((line, written))
                .await
                .map_err(|_gone| closed())?;
            result.await.map_err(|_gone| closed())?
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let line = self.line().await?;
            let trimmed = line.trim_ascii();
            if trimmed.is_empty() {
                continue;
            }
            let raw = &mut self.raw;
            match decode(trimmed, |id| raw.remove(&as_sent(id))) {
                Decoded::Message(message) => return Some(*message),
                Decoded::Junk => {
                    if !self.junk.take(&self.alias, trimmed) {
                        let why = format!(
                            "it printed more than {} MiB of what is no message",
                            MAX_JUNK >> 20
                        );
                        self.junk.give_up(why);
                        return None;
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines = None;
        Ok(())
    }
}
