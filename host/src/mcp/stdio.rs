//! The protocol over stdin and stdout: one message a line.
//!
//! Guarantees that no line of more than [`MAX_LINE`] bytes is held, that nothing a client sends ends the server but the
//! end of its input, that two requests never share an id, and that the server is gone within two seconds of that end,
//! with all that it started.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta as _,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServiceExt as _};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::calls::GRACE;
use super::clients::lock;
use super::frame::{self, Frame, Refusal};
use super::server::McpServer;
use super::streams::{self, Input, Output};
use crate::model::CallOrigin;

/// The longest line, bytes: four times what the input of a call may have, as over HTTP.
const MAX_LINE: usize = 4 << 20;
/// Messages that may wait to be written.
const MAX_WAITING: usize = 64;
/// The most requests that wait for their answers.
const MAX_REQUESTS: usize = 1_024;
/// How long the protocol may take to end when all calls have.
const LAST: Duration = Duration::from_millis(150);

impl McpServer {
    /// Serves one client over this process's stdin and stdout, until its input ends or `stop` is cancelled. From then on
    /// what the process prints goes to stderr.
    ///
    /// # Errors
    /// Stdout or stderr is closed.
    pub async fn serve_stdio(&self, stop: CancellationToken) -> io::Result<()> {
        let (input, output) = streams::take()?;
        self.serve_streams(input, output, stop).await;
        Ok(())
    }

    async fn serve_streams(&self, input: Input, output: Output, stop: CancellationToken) {
        let gone = CancellationToken::new();
        let (out, waiting) = mpsc::channel(MAX_WAITING);
        let writer = tokio::spawn(write_all(output, waiting, gone.clone()));
        let lines = Lines::new(input, out, gone.clone());
        let server = self.session(CallOrigin::McpStdio);
        let mut session = tokio::spawn(async move {
            match server.serve(lines).await {
                Ok(running) => drop(running.waiting().await),
                Err(error) => tracing::debug!("the client went before it began: {error}"),
            }
        });
        tokio::select! {
            // The session ends by itself when everything that came is answered.
            () = gone.cancelled() => drop(tokio::time::timeout(GRACE, &mut session).await),
            () = stop.cancelled() => {}
            _ = &mut session => {}
        }
        self.shared.end(Duration::ZERO).await;
        // With its calls gone it has nothing to wait for but its input, which may never end.
        if !session.is_finished() && tokio::time::timeout(LAST, &mut session).await.is_err() {
            session.abort();
        }
        if tokio::time::timeout(LAST, writer).await.is_err() {
            tracing::debug!("the client does not take its last messages");
        }
    }
}

/// The only one who writes.
async fn write_all(
    mut output: Output,
    mut waiting: mpsc::Receiver<Vec<u8>>,
    gone: CancellationToken,
) {
    while let Some(line) = waiting.recv().await {
        let written = output.write_all(&line).await;
        let flushed = match (written, waiting.is_empty()) {
            (Ok(()), true) => output.flush().await,
            (written, _) => written,
        };
        if let Err(error) = flushed {
            tracing::debug!("the client takes no more messages: {error}");
            break;
        }
    }
    gone.cancel();
}

/// Lines of a client to messages, and back.
struct Lines {
    input: BufReader<Input>,
    line: Vec<u8>,
    /// The rest of a line that was too long is not read.
    skipping: bool,
    out: Option<mpsc::Sender<Vec<u8>>>,
    /// Answers that are not sent yet. Here, because waiting for room may be given up.
    owed: VecDeque<Vec<u8>>,
    /// The client has begun: before that, what needs no answer is dropped.
    begun: bool,
    under_way: Arc<Mutex<HashSet<RequestId>>>,
    gone: CancellationToken,
}

/// What a part of the input was.
enum Part {
    More,
    Line,
    TooLong,
    End,
}

impl Lines {
    fn new(input: Input, out: mpsc::Sender<Vec<u8>>, gone: CancellationToken) -> Self {
        Self {
            input: BufReader::with_capacity(64 << 10, input),
            line: Vec::new(),
            skipping: false,
            out: Some(out),
            owed: VecDeque::new(),
            begun: false,
            under_way: Arc::default(),
            gone,
        }
    }

    /// Reads what is there. Giving up waiting loses nothing: what was read is kept before anything is waited for.
    async fn part(&mut self) -> Part {
        let there = match self.input.fill_buf().await {
            Ok(there) => there,
            Err(error) => {
                tracing::debug!("the client's input cannot be read: {error}");
                return Part::End;
            }
        };
        if there.is_empty() {
            return Part::End;
        }
        let end = memchr::memchr(b'\n', there);
        let taken = end.map_or(there.len(), |at| at + 1);
        let part = if self.skipping {
            self.skipping = end.is_none();
            Part::More
        } else if self.line.len() + taken > MAX_LINE {
            self.line = Vec::new();
            self.skipping = end.is_none();
            Part::TooLong
        } else {
            self.line
                .extend_from_slice(there.get(..taken).unwrap_or(there));
            match end {
                Some(_) => Part::Line,
                None => Part::More,
            }
        };
        self.input.consume(taken);
        part
    }

    /// Sends what is owed. Giving up waiting loses nothing.
    async fn pay(&mut self) {
        while let Some(out) = self.out.as_ref().filter(|_| !self.owed.is_empty()) {
            let Ok(room) = out.reserve().await else {
                self.owed.clear();
                return;
            };
            if let Some(line) = self.owed.pop_front() {
                room.send(line);
            }
        }
    }

    fn owe(&mut self, refusal: &Refusal) {
        let mut line = refusal.to_json();
        line.push(b'\n');
        self.owed.push_back(line);
    }

    /// The message in the line, if it is for the server.
    fn taken(&mut self) -> Option<ClientJsonRpcMessage> {
        let frame = frame::read(&self.line);
        // What one long line needed is not kept for all the short ones.
        match self.line.capacity() > 1 << 20 {
            true => self.line = Vec::new(),
            false => self.line.clear(),
        }
        match frame {
            Frame::Nothing => None,
            Frame::Refused(refusal) => {
                self.owe(&refusal);
                None
            }
            Frame::Message {
                mut message,
                arguments,
            } => {
                frame::attach(&mut message, arguments);
                self.admitted(*message)
            }
        }
    }

    fn admitted(&mut self, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                self.begun |= begins(&request.request);
                let mut under_way = lock(&self.under_way);
                let what = match under_way.contains(&request.id) {
                    true => "a request with this id is under way",
                    false if under_way.len() >= MAX_REQUESTS => "too many requests are under way",
                    false => {
                        under_way.insert(request.id.clone());
                        drop(under_way);
                        return Some(message);
                    }
                };
                drop(under_way);
                self.owe(&Refusal {
                    id: Some(request.id.clone()),
                    error: ErrorData::invalid_request(what, None),
                });
                None
            }
            ClientJsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    // It gets no answer, so that its id is free.
                    lock(&self.under_way).remove(id);
                }
                self.begun.then_some(message)
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {
                self.begun.then_some(message)
            }
        }
    }
}

/// Whether a request opens the session: before one does, the protocol's library takes anything but a request for the end.
fn begins(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_) => false,
        other => {
            let meta = other.get_meta();
            let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            let known = |version| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
            missing.is_empty() && meta.protocol_version().is_some_and(known)
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answered = match &message {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            lock(&self.under_way).remove(id);
        }
        let line = serde_json::to_vec(&message).map(|mut line| {
            line.push(b'\n');
            line
        });
        let out = self.out.clone();
        async move {
            let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
            let out = out.ok_or_else(closed)?;
            out.send(line?).await.map_err(|_closed| closed())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.pay().await;
            match self.part().await {
                Part::More => {}
                Part::TooLong => self.owe(&Refusal::too_long(MAX_LINE)),
                Part::Line => {
                    if let Some(message) = self.taken() {
                        return Some(message);
                    }
                }
                Part::End => {
                    // A last line may lack its end.
                    if let Some(message) = self.taken() {
                        return Some(message);
                    }
                    self.pay().await;
                    self.gone.cancel();
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.out = None;
        Ok(())
    }
}
