//! Servers on loopback that do what they are told, and a resolver that says what it is told.

mod authority;

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use toolgate::config::{Config, ConfigError, Flags, Layers};
use toolgate::egress::{Connector, EgressLimits, ExtraRoots, Resolve};
use toolgate::policy::{EgressGrant, EgressPattern};

pub use authority::Authority;

/// Every test ends within this.
pub const DEADLINE: Duration = Duration::from_secs(60);
/// The loopback address, as an entry names it.
pub const HERE: &str = "127.0.0.1";

/// Runs a test within its deadline.
pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        tokio::time::timeout(DEADLINE, test)
            .await
            .expect("the test ends within its deadline");
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// A server, which ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Seen>,
    task: AbortHandle,
}

/// What a server saw.
#[derive(Debug, Default)]
pub struct Seen {
    connections: AtomicUsize,
    open: AtomicUsize,
    heads: Mutex<Vec<String>>,
}

/// One connection, counted for as long as it is open.
pub struct Caller {
    pub socket: Box<dyn Socket>,
    seen: Arc<Seen>,
}

/// Something that bytes go through.
pub trait Socket: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Socket for T {}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").finish_non_exhaustive()
    }
}

impl Caller {
    /// Reads the head of a request and keeps it. Empty: the caller went away.
    pub async fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match self.socket.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => return String::new(),
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let mut heads = self
            .seen
            .heads
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        heads.push(head.clone());
        head
    }

    /// Reads what the head says that follows it. Who closes before that makes the system reset the connection, and the
    /// answer may be lost.
    pub async fn body_of(&mut self, head: &str) {
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_length = name.eq_ignore_ascii_case("content-length");
            is_length.then(|| value.trim().parse::<u64>().ok())?
        });
        let mut body = (&mut self.socket).take(length.unwrap_or(0));
        drop(tokio::io::copy(&mut body, &mut tokio::io::sink()).await);
    }

    /// Sends bytes. False: the caller went away.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let sent = self.socket.write_all(bytes.as_ref()).await;
        sent.is_ok() && self.socket.flush().await.is_ok()
    }

    /// Waits until the caller goes away.
    pub async fn until_gone(&mut self) {
        let mut buffer = [0; 1_024];
        while self
            .socket
            .read(&mut buffer)
            .await
            .is_ok_and(|read| read > 0)
        {}
    }
}

impl AsyncRead for Caller {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Caller {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.seen.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Server {
    /// A server of raw bytes: the function gets each connection.
    pub async fn raw<F, R>(serve: F) -> Self
    where
        F: Fn(Caller) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Self::with(serve, |socket| async move {
            Some(Box::new(socket) as Box<dyn Socket>)
        })
        .await
    }

    /// The same over TLS or whatever else `wrap` puts around a connection.
    pub async fn with<F, R, W, S>(serve: F, wrap: W) -> Self
    where
        F: Fn(Caller) -> R + Send + Sync + 'static,
        R: Future<Output = ()> + Send + 'static,
        W: Fn(TcpStream) -> S + Send + Sync + 'static,
        S: Future<Output = Option<Box<dyn Socket>>> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Seen::default());
        let counted = Arc::clone(&seen);
        let (serve, wrap) = (Arc::new(serve), Arc::new(wrap));
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                counted.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, serve, wrap) =
                    (Arc::clone(&counted), Arc::clone(&serve), Arc::clone(&wrap));
                tokio::spawn(async move {
                    if let Some(socket) = wrap(socket).await {
                        seen.open.fetch_add(1, Ordering::SeqCst);
                        serve(Caller { socket, seen }).await;
                    }
                });
            }
        });
        Self {
            address,
            seen,
            task: task.abort_handle(),
        }
    }

    /// A server that answers every request with these bytes and closes.
    pub async fn answering(response: impl Into<Vec<u8>>) -> Self {
        let response: Arc<Vec<u8>> = Arc::new(response.into());
        Self::raw(move |mut caller| {
            let response = Arc::clone(&response);
            async move {
                let head = caller.head().await;
                caller.body_of(&head).await;
                caller.send(response.as_slice()).await;
            }
        })
        .await
    }

    /// A server that says `text`.
    pub async fn saying(text: &str) -> Self {
        Self::answering(ok(text)).await
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// The heads of the requests, in order.
    pub fn heads(&self) -> Vec<String> {
        let heads = self.seen.heads.lock();
        heads.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until no connection is open.
    pub async fn until_idle(&self) {
        while self.seen.open.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A response with a body.
pub fn ok(body: &str) -> Vec<u8> {
    response("200 OK", "", body.as_bytes())
}

/// A response with more fields, each ending in a line break.
pub fn response(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{fields}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A redirect.
pub fn redirect(to: &str) -> Vec<u8> {
    response("302 Found", &format!("location: {to}\r\n"), b"")
}

/// A resolver that gives what it is told, one answer after the other, the last one for ever.
#[derive(Debug, Default)]
pub struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// The next answer for a name.
    pub fn say(self: &Arc<Self>, host: &str, addresses: &[&str]) -> Arc<Self> {
        let addresses = addresses
            .iter()
            .map(|text| text.parse().expect("an address"));
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers
            .entry(host.to_owned())
            .or_default()
            .push(addresses.collect());
        Arc::clone(self)
    }

    /// A name of this machine.
    pub fn here(self: &Arc<Self>, host: &str) -> Arc<Self> {
        self.say(host, &[HERE])
    }

    /// The names that were looked up, in order.
    pub fn asked(&self) -> Vec<String> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(host.to_owned());
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(answers) = answers.get_mut(host) else {
            return Err(io::Error::other("no such name"));
        };
        match answers.len() {
            0 => Err(io::Error::other("no such name")),
            1 => Ok(answers[0].clone()),
            _ => Ok(answers.remove(0)),
        }
    }
}

/// A connector that looks up names so.
pub fn connector(names: &Arc<Names>) -> Connector {
    with_limits(names, EgressLimits::default())
}

/// The same with other bounds.
pub fn with_limits(names: &Arc<Names>, limits: EgressLimits) -> Connector {
    Connector::new(limits, &ExtraRoots::default()).with_resolver(Arc::<Names>::clone(names))
}

/// A grant of these patterns, whose names may lead to this machine.
pub fn grant(patterns: &[&str]) -> EgressGrant {
    let patterns = patterns.iter().map(|pattern| {
        let pattern = EgressPattern::parse(pattern).expect("a pattern");
        pattern.with_addresses([HERE]).expect("an address")
    });
    EgressGrant::of_operator(patterns).expect("a grant")
}

/// The settings of a file that says this.
pub fn read(folder: &Path, text: &str) -> Config {
    try_read(folder, text).expect("a configuration")
}

pub fn try_read(folder: &Path, text: &str) -> Result<Config, ConfigError> {
    let file = folder.join("toolgate.toml");
    std::fs::write(&file, text).expect("a file");
    let layers = Layers {
        named: vec![file],
        flags: Flags::default(),
        ..Layers::default()
    };
    layers.load().map(|loaded| loaded.config)
}
