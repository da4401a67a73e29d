//! The connector.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use bytes::Bytes;
use http::{Request, Response, StatusCode, Uri, header};
use http_body::Body as HttpBody;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::time::{Instant, timeout};

use super::body::{Body, Noted, Outgoing, Timers, Travelling, empty};
use super::decode::{Encoding, decoded};
use super::dial::{Connection, Dialler, TaskGuard, Tasks};
use super::error::EgressError;
use super::head;
use super::limits::EgressLimits;
use super::proxy::Proxy;
use super::resolve::{Resolve, SystemResolver};
use super::scrubbed::Scrubbed;
use super::secrets::Secrets;
use super::tls::{ExtraRoots, Tls};
use super::uses::{Note, RequestUses};
use crate::policy::{EgressGrant, JudgedUrl, UrlSubject};

/// See the module above. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Connector {
    dialler: Arc<Dialler>,
    limits: EgressLimits,
    secrets: Secrets,
    uses: Option<RequestUses>,
}

/// The error of a request's body.
pub(super) type BodyError = Box<dyn std::error::Error + Send + Sync>;

impl Connector {
    /// A connector that looks up names by the system and dials without a proxy. The environment is not asked for one.
    pub fn new(limits: EgressLimits, extra: &ExtraRoots) -> Self {
        Self {
            dialler: Arc::new(Dialler {
                resolver: Arc::new(SystemResolver::default()),
                tls: Arc::new(Tls::new(extra)),
                proxy: None,
            }),
            limits,
            secrets: Secrets::default(),
            uses: None,
        }
    }

    /// The same with another resolver.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        let Dialler { tls, proxy, .. } = self.dialler.as_ref();
        self.dialler = Arc::new(Dialler {
            resolver,
            tls: Arc::clone(tls),
            proxy: proxy.clone(),
        });
        self
    }

    /// The same through a proxy.
    #[must_use]
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        let Dialler { resolver, tls, .. } = self.dialler.as_ref();
        self.dialler = Arc::new(Dialler {
            resolver: Arc::clone(resolver),
            tls: Arc::clone(tls),
            proxy: Some(proxy),
        });
        self
    }

    /// The same with secrets, which are put into requests whose grant names them.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// The secrets.
    pub fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// The same with other bounds, such as for a stream of events that never ends.
    #[must_use]
    pub fn with_limits(mut self, limits: EgressLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The bounds.
    pub fn limits(&self) -> &EgressLimits {
        &self.limits
    }

    /// The same for one call: its requests are noted in this list, and bounded in number.
    #[must_use]
    pub fn noting(mut self, uses: &RequestUses) -> Self {
        self.uses = Some(uses.clone());
        self
    }

    /// Sends a request whose URL is absolute. A redirect is an answer like any other: see [`Connector::follow`].
    ///
    /// `host`, and all fields that are about one connection, come from the connector. A body that is compressed with gzip,
    /// deflate or brotli arrives decompressed, and its header without the fields that said so.
    ///
    /// # Errors
    /// [`EgressError`]: nothing that the grant does not cover has been looked up or dialled.
    pub async fn send<B>(
        &self,
        grant: &EgressGrant,
        request: Request<B>,
    ) -> Result<Response<Body>, EgressError>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        self.send_one(grant, request, false).await
    }

    /// `redirected`: a redirect led here, whoever knows it.
    pub(super) async fn send_one<B>(
        &self,
        grant: &EgressGrant,
        request: Request<B>,
        redirected: bool,
    ) -> Result<Response<Body>, EgressError>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        let url = request.uri().to_string();
        let note = match &self.uses {
            Some(uses) => uses.begin(request.method().as_str(), &url)?,
            None => Note::default(),
        };
        let redirected = redirected || self.redirected(&url);
        let sent = self.judged(grant, request, &url, redirected, &note);
        match sent.await {
            Ok((response, guard, begun)) => Ok(self.received(response, guard, begun, note)),
            Err(error) => {
                note.failed(&error);
                tracing::debug!("a request was not answered: {error}");
                Err(error)
            }
        }
    }

    fn redirected(&self, url: &str) -> bool {
        let Some(uses) = &self.uses else {
            return false;
        };
        UrlSubject::parse(url).is_ok_and(|url| uses.redirects_to(url.url().as_str()))
    }

    async fn judged<B>(
        &self,
        grant: &EgressGrant,
        request: Request<B>,
        url: &str,
        redirected: bool,
        note: &Note,
    ) -> Result<(Answer, TaskGuard, Instant), EgressError>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        let begun = Instant::now();
        let judged = grant.judge(request.method().as_str(), url, redirected)?;
        head::check(request.headers(), "request", &self.limits)?;
        let (mut parts, body) = request.into_parts();
        let limit = (!grant.reads_only()).then_some(self.limits.request_body);
        let body = Outgoing::new(body, limit, note.sender());
        body.check()?;
        head::outgoing(&mut parts.headers);
        let put = self
            .secrets
            .put_in(grant.secrets(), judged.url(), &mut parts.headers);
        let put = put.await?;
        if !put.is_empty() {
            // What comes back must be readable, so that the value is found in it.
            parts
                .headers
                .insert(header::ACCEPT_ENCODING, head::ENCODINGS);
            note.put_in(put.clone());
        }
        let method = parts.method.clone();
        let guard = TaskGuard::default();
        let connecting = self.dialler.dial(&judged, note, guard.tasks());
        let connection = within(self.limits.connect, "the connection", connecting).await?;
        let request = Request::from_parts(parts, body);
        let exchange = self.exchange(connection, request, &judged, guard.tasks());
        let answering = within(self.limits.first_byte, "the head of the response", exchange);
        let response = within(self.limits.total, "the request", answering).await?;
        let status = response.status();
        if status == StatusCode::SWITCHING_PROTOCOLS {
            let what = "the server changes the protocol".to_owned();
            return Err(EgressError::Protocol(what));
        }
        head::check(response.headers(), "response", &self.limits)?;
        note.answered(status.as_u16());
        self.note_redirect(&judged, &response);
        let has_body = head::has_body(&method, status);
        if !put.is_empty() && Encoding::of(response.headers()) == Encoding::Other {
            let what = "it is in an encoding in which a secret could hide".to_owned();
            return Err(EgressError::Encoding(what));
        }
        Ok((Answer { response, has_body }, guard, begun))
    }

    /// One exchange on a fresh connection.
    async fn exchange<B>(
        &self,
        connection: Connection,
        mut request: Request<Outgoing<B>>,
        judged: &JudgedUrl,
        tasks: &Tasks,
    ) -> Result<Response<Incoming>, EgressError>
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        let broken = |error: hyper::Error| match error.is_parse_too_large() {
            true => head::too_much("response", &self.limits),
            false => EgressError::from_hyper(&error),
        };
        *request.uri_mut() = target(judged.url(), connection.http2)?;
        let socket = TokioIo::new(connection.socket);
        let header_bytes = self.limits.header_bytes.max(8 << 10);
        if connection.http2 {
            *request.version_mut() = http::Version::HTTP_2;
            let (mut sender, driver) = http2::Builder::new(tasks.clone())
                .timer(TokioTimer::new())
                .max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
                .handshake(socket)
                .await
                .map_err(broken)?;
            tasks.spawn(async move { drop(driver.await) });
            return sender.send_request(request).await.map_err(broken);
        }
        *request.version_mut() = http::Version::HTTP_11;
        request
            .headers_mut()
            .insert(header::HOST, host(judged.url())?);
        let (mut sender, driver) = http1::Builder::new()
            .max_headers(self.limits.header_fields)
            .max_header_size(header_bytes)
            .handshake(socket)
            .await
            .map_err(broken)?;
        tasks.spawn(async move { drop(driver.await) });
        sender.send_request(request).await.map_err(broken)
    }

    fn note_redirect(&self, judged: &JudgedUrl, response: &Response<Incoming>) {
        let Some(uses) = &self.uses else {
            return;
        };
        let location = head::location(response.status(), response.headers());
        let target = location.and_then(|location| judged.url().url().join(location).ok());
        // Compared in the form in which a request for it will be.
        let target = target.and_then(|target| UrlSubject::parse(target.as_str()).ok());
        if let Some(target) = target {
            uses.add_redirect(target.url().to_string());
        }
    }

    fn received(
        &self,
        answer: Answer,
        connection: TaskGuard,
        begun: Instant,
        note: Note,
    ) -> Response<Body> {
        let (mut parts, inner) = answer.response.into_parts();
        let travelled = Arc::new(AtomicU64::new(0));
        let encoding = Encoding::of(&parts.headers);
        head::incoming(&mut parts.headers);
        let mut body = empty();
        if answer.has_body {
            body = Travelling {
                inner,
                timers: Timers::new(&self.limits, begun),
                travelled: Arc::clone(&travelled),
                limit: self.limits.response_body,
                _connection: connection,
            }
            .boxed_unsync();
            if encoding.is_undone() {
                parts.headers.remove(header::CONTENT_ENCODING);
                parts.headers.remove(header::CONTENT_LENGTH);
                body = decoded(body, encoding);
            }
        }
        let scrubbers = self.secrets.scrubbers();
        if !scrubbers.is_empty() {
            head::scrub(&mut parts.headers, &scrubbers);
            // The length may become another one.
            parts.headers.remove(header::CONTENT_LENGTH);
            body = Scrubbed::new(body, scrubbers).boxed_unsync();
        }
        let body = Noted::new(body, note, travelled, &self.limits).boxed_unsync();
        Response::from_parts(parts, body)
    }
}

/// A response's head, and whether anything follows.
struct Answer {
    response: Response<Incoming>,
    has_body: bool,
}

async fn within<T>(
    limit: std::time::Duration,
    what: &'static str,
    work: impl Future<Output = Result<T, EgressError>>,
) -> Result<T, EgressError> {
    timeout(limit, work)
        .await
        .unwrap_or(Err(EgressError::Time { what, limit }))
}

/// What the request line names: exactly what was judged.
fn target(url: &UrlSubject, whole: bool) -> Result<Uri, EgressError> {
    let url = url.url();
    let mut text = url.path().to_owned();
    if let Some(query) = url.query() {
        text = format!("{text}?{query}");
    }
    if whole {
        text = format!("{}{text}", url.origin().ascii_serialization());
    }
    let wrong = |error: http::uri::InvalidUri| EgressError::Protocol(error.to_string());
    text.parse().map_err(wrong)
}

fn host(url: &UrlSubject) -> Result<http::HeaderValue, EgressError> {
    let text = match url.url().port() {
        Some(port) => format!("{}:{port}", url.host()),
        None => url.host().to_owned(),
    };
    let wrong = |error: http::header::InvalidHeaderValue| EgressError::Protocol(error.to_string());
    http::HeaderValue::from_str(&text).map_err(wrong)
}
