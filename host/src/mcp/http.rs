//! The protocol over HTTP.
//!
//! Guarantees that nobody without a token gets in where there is one, that no address but loopback is served without one,
//! that a browser's page gets in only from an origin that was named, and only under a host name that was named, and that
//! bodies, headers, connections, sessions and their times are bounded.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::calls::GRACE;
use super::clients::lock;
use super::frame::{self, Frame, Refusal};
use super::server::{McpServer, Principal};
use super::token::Token;
use crate::model::CallOrigin;

/// Where the protocol is served.
const PATH: &str = "/mcp";
/// The largest body, bytes: four times what the input of a call may have.
const MAX_BODY: usize = 4 << 20;
/// The most bytes of a request's head.
const MAX_HEAD: usize = 64 << 10;
/// How long a request's head may take.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long its body may take.
const BODY_TIME: Duration = Duration::from_secs(30);
/// How long connections may take to end when the server does.
const LAST: Duration = Duration::from_millis(500);
/// How long the last answers may take on their way out.
const FLUSH: Duration = Duration::from_millis(50);
/// The header that names a session.
const SESSION: &str = "mcp-session-id";

type Body = BoxBody<Bytes, Infallible>;
type Service = StreamableHttpService<McpServer, LocalSessionManager>;

/// How HTTP is served.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Where.
    pub address: SocketAddr,
    /// Who may come in. Empty: whoever reaches the address, which must be loopback.
    pub tokens: Vec<Token>,
    /// Names (`host` or `host:port`) under which the server may be addressed, beside its own address.
    pub hosts: Vec<String>,
    /// Origins (`https://app.example.com:443`) of pages that may call, beside those of loopback.
    pub origins: Vec<String>,
    /// Connections at once; more wait to be accepted. Default: 256.
    pub max_connections: usize,
    /// Sessions at once, of clients that begin with `initialize`. Default: 100.
    pub max_sessions: usize,
    /// How long a session lives without a message. Default: 30 min, more than the longest call may be silent.
    pub session_idle: Duration,
}

impl HttpSettings {
    /// The defaults, on an address.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            tokens: Vec::new(),
            hosts: Vec::new(),
            origins: Vec::new(),
            max_connections: 256,
            max_sessions: 100,
            session_idle: Duration::from_secs(30 * 60),
        }
    }
}

/// Why HTTP cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Anybody could call.
    #[error(
        "{0} can be reached from other machines, and there is no token: name one with --token-file, or with \
         'token_file' or 'token_env' in [serve], or serve on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// The address.
    #[error("{address} cannot be served: {error}")]
    Address {
        /// Which.
        address: SocketAddr,
        /// Why.
        error: std::io::Error,
    },
}

/// A server that has its address and does not serve yet.
#[derive(Debug)]
pub struct BoundHttp {
    listener: TcpListener,
    address: SocketAddr,
    settings: HttpSettings,
    server: McpServer,
}

impl McpServer {
    /// Takes an address for HTTP.
    ///
    /// # Errors
    /// [`HttpError`].
    pub async fn bind_http(&self, settings: HttpSettings) -> Result<BoundHttp, HttpError> {
        let address = settings.address;
        if settings.tokens.is_empty() && !address.ip().is_loopback() {
            return Err(HttpError::Open(address));
        }
        let failed = |error| HttpError::Address { address, error };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        Ok(BoundHttp {
            address: listener.local_addr().map_err(failed)?,
            listener,
            settings,
            server: self.clone(),
        })
    }
}

impl BoundHttp {
    /// The address, with the port that the system chose.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled: then no connection is accepted, calls have 0.8 s to end, and the rest is ended.
    pub async fn serve(self, stop: CancellationToken) {
        let shared = Arc::clone(&self.server.shared);
        let streams = CancellationToken::new();
        let closing = CancellationToken::new();
        let door = Arc::new(self.door(&streams));
        let free = Arc::new(Semaphore::new(self.settings.max_connections));
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&self.listener, &free) => accepted,
                () = stop.cancelled() => break,
            };
            let Some((stream, permit)) = accepted else {
                continue;
            };
            let (door, closing) = (Arc::clone(&door), closing.clone());
            connections.spawn(async move {
                connection(stream, door, closing).await;
                drop(permit);
            });
        }
        drop(self.listener);
        shared.end(GRACE).await;
        tokio::time::sleep(FLUSH).await;
        streams.cancel();
        closing.cancel();
        connections.close();
        if tokio::time::timeout(LAST, connections.wait())
            .await
            .is_err()
        {
            tracing::debug!("{} connections do not end", connections.len());
        }
    }

    fn door(&self, streams: &CancellationToken) -> Door {
        let settings = &self.settings;
        let port = self.address.port();
        let own = ["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}"));
        let loopback = ["localhost", "127.0.0.1", "[::1]"].map(|name| format!("http://{name}:*"));
        let hosts = own.into_iter().chain([self.address.to_string()]);
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(hosts.chain(settings.hosts.iter().cloned()))
            .with_allowed_origins(loopback.into_iter().chain(settings.origins.iter().cloned()))
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_BODY)
            .with_cancellation_token(streams.clone());
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(settings.session_idle);
        let sessions = Arc::new(sessions);
        let server = self.server.clone();
        Door {
            service: StreamableHttpService::new(
                move || Ok(server.session(CallOrigin::McpHttp)),
                Arc::clone(&sessions),
                config,
            ),
            sessions,
            owners: Mutex::default(),
            tokens: settings.tokens.clone(),
            max_sessions: settings.max_sessions,
        }
    }
}

/// The next connection, when there is room for one.
async fn accept(
    listener: &TcpListener,
    free: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(free).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _peer)) => Some((stream, permit)),
        Err(error) => {
            // The process is out of descriptors, or the client went: neither is better at once.
            tracing::warn!("a connection cannot be accepted: {error}");
            tokio::time::sleep(FLUSH).await;
            None
        }
    }
}

async fn connection(stream: TcpStream, door: Arc<Door>, closing: CancellationToken) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("{error}");
    }
    let service = service_fn(move |request| {
        let door = Arc::clone(&door);
        async move { Ok::<_, Infallible>(door.answer(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = std::pin::pin!(served);
    let ended = tokio::select! {
        ended = served.as_mut() => ended,
        () = closing.cancelled() => {
            served.as_mut().graceful_shutdown();
            match tokio::time::timeout(LAST, served).await {
                Ok(ended) => ended,
                Err(_elapsed) => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
}

/// What stands between a connection and the protocol.
struct Door {
    service: Service,
    sessions: Arc<LocalSessionManager>,
    /// Which client began which session.
    owners: Mutex<HashMap<String, Arc<str>>>,
    tokens: Vec<Token>,
    max_sessions: usize,
}

impl Door {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        match (request.method(), request.uri().path()) {
            (&Method::GET, "/healthz") => text(StatusCode::OK, "ok\n"),
            (_, PATH) => match self.who(&request) {
                Some(principal) => self.protocol(request, principal).await,
                None => unauthorised(),
            },
            _ => text(
                StatusCode::NOT_FOUND,
                "There is nothing here; the protocol is at /mcp.\n",
            ),
        }
    }

    /// Who has a right to be here.
    fn who(&self, request: &Request<Incoming>) -> Option<Principal> {
        if self.tokens.is_empty() {
            return Some(Principal("anybody".into()));
        }
        let given = request.headers().get(header::AUTHORIZATION)?;
        Token::find(&self.tokens, given.as_bytes())
    }

    async fn protocol(&self, request: Request<Incoming>, who: Principal) -> Response<Body> {
        if let Some(session) = session_of(request.headers()) {
            let owner = lock(&self.owners).get(&session).cloned();
            if owner.is_some_and(|owner| owner != who.0) {
                return text(StatusCode::NOT_FOUND, "There is no such session.\n");
            }
        }
        if request.method() != Method::POST {
            let (mut parts, _body) = request.into_parts();
            parts.extensions.insert(who);
            let request = Request::from_parts(parts, Full::new(Bytes::new()));
            return self.service.handle(request).await;
        }
        match self.message(request, &who).await {
            Ok((request, begins)) => {
                let response = self.service.handle(request).await;
                if begins && let Some(session) = session_of(response.headers()) {
                    self.own(session, &who).await;
                }
                response
            }
            Err(response) => *response,
        }
    }

    /// A request whose body is one message, and whether that begins a session.
    async fn message(
        &self,
        request: Request<Incoming>,
        who: &Principal,
    ) -> Result<(Request<Full<Bytes>>, bool), Box<Response<Body>>> {
        let (mut parts, body) = request.into_parts();
        let read = Limited::new(body, MAX_BODY).collect();
        let bytes = match tokio::time::timeout(BODY_TIME, read).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                let refusal = Refusal::too_long(MAX_BODY);
                return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, &refusal));
            }
            Ok(Err(_)) => {
                return Err(Box::new(text(StatusCode::BAD_REQUEST, "The body ended.\n")));
            }
            Err(_elapsed) => {
                let late = text(StatusCode::REQUEST_TIMEOUT, "The body took too long.\n");
                return Err(Box::new(late));
            }
        };
        let begins = match frame::read(&bytes) {
            Frame::Message { message, arguments } => {
                if let Some(arguments) = arguments {
                    parts.extensions.insert(arguments);
                }
                is_initialize(&message)
            }
            Frame::Refused(refusal) => return Err(refused(StatusCode::BAD_REQUEST, &refusal)),
            Frame::Nothing if bytes.trim_ascii().is_empty() => {
                return Err(Box::new(text(
                    StatusCode::BAD_REQUEST,
                    "The body is empty.\n",
                )));
            }
            Frame::Nothing => return Err(Box::new(text(StatusCode::ACCEPTED, ""))),
        };
        if begins && self.sessions.sessions.read().await.len() >= self.max_sessions {
            let full = "There are too many sessions. Try again later.\n";
            return Err(Box::new(text(StatusCode::SERVICE_UNAVAILABLE, full)));
        }
        parts.extensions.insert(who.clone());
        Ok((Request::from_parts(parts, Full::new(bytes)), begins))
    }

    /// A session belongs to who began it. Those that are over are forgotten.
    async fn own(&self, session: String, who: &Principal) {
        let alive = self.sessions.sessions.read().await;
        let mut owners = lock(&self.owners);
        owners.retain(|known, _| alive.contains_key(known.as_str()));
        owners.insert(session, Arc::clone(&who.0));
    }
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

fn session_of(headers: &http::HeaderMap) -> Option<String> {
    Some(headers.get(SESSION)?.to_str().ok()?.to_owned())
}

fn text(status: StatusCode, words: &'static str) -> Response<Body> {
    respond(
        status,
        "text/plain; charset=utf-8",
        Bytes::from_static(words.as_bytes()),
    )
}

fn refused(status: StatusCode, refusal: &Refusal) -> Box<Response<Body>> {
    Box::new(respond(
        status,
        "application/json",
        refusal.to_json().into(),
    ))
}

fn respond(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(body).boxed());
    *response.status_mut() = status;
    let kind = header::HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn unauthorised() -> Response<Body> {
    let mut response = text(StatusCode::UNAUTHORIZED, "A bearer token is needed.\n");
    let challenge = header::HeaderValue::from_static("Bearer realm=\"toolgate\"");
    response
        .headers_mut()
        .insert(header::WWW_AUTHENTICATE, challenge);
    response
}
