//! A server at an address: the streamable HTTP transport over whatever dials for the host.
//!
//! Guarantees that every request goes through the one way out that the host gives, to the server's own URL; that no body
//! and no event is read beyond its bound; and that an answer which is none is an error with its status.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use rmcp::model::ClientRequest;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use url::Url;

use super::Ground;
use super::decode::{Decoded, decode};
use super::link::short;
use crate::config::Sourced;

/// The longest body of JSON, and the longest event, bytes.
const MAX_MESSAGE: usize = 8 << 20;
/// Bytes of a body that says why a request failed.
const MAX_WHY: usize = 512;
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// What comes back: its parts as they come.
pub type Answered = http::Response<BoxStream<'static, Result<Bytes, DialError>>>;

/// Why nothing came back, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DialError(pub String);

/// The way out: sends a request of a server's conversation to that server, and nowhere else. Dropping what it gives ends
/// the connection.
#[async_trait]
pub trait Dial: Debug + Send + Sync {
    /// Sends a request, with the secret that the operator named.
    ///
    /// # Errors
    /// It was not sent, or not answered.
    async fn send(&self, request: http::Request<Bytes>) -> Result<Answered, DialError>;
}

/// How addresses are reached: the way out to one of them, with the name of the secret that goes along.
pub type Address = Box<dyn Fn(&Url, Option<&str>) -> Result<Arc<dyn Dial>, String> + Send + Sync>;

/// A client of one server.
#[derive(Clone, Debug)]
pub(super) struct Client(Arc<dyn Dial>);

impl Ground {
    /// The transport to an address.
    pub(super) fn http(
        &self,
        url: &Url,
        secret: Option<&Sourced<String>>,
    ) -> Result<StreamableHttpClientTransport<Client>, String> {
        let dial = (self.address)(url, secret.map(|secret| secret.value.as_str()))?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
        // A session that is gone is a failure that is seen: what was asked in it is not asked again unseen.
        config.reinit_on_expired_session = false;
        Ok(StreamableHttpClientTransport::with_client(
            Client(dial),
            config,
        ))
    }
}

type Failed = StreamableHttpError<DialError>;

impl Client {
    async fn send(
        &self,
        method: Method,
        uri: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answered, Failed> {
        let mut request = http::Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri
            .parse()
            .map_err(|error| Failed::Client(DialError(format!("the address is none: {error}"))))?;
        *request.headers_mut() = headers;
        self.0.send(request).await.map_err(Failed::Client)
    }
}

/// The headers of every request of a conversation.
fn headers(
    accept: &'static str,
    session: Option<&str>,
    authorization: Option<String>,
    more: HashMap<HeaderName, HeaderValue>,
) -> Result<HeaderMap, Failed> {
    let value = |text: &str| {
        HeaderValue::from_str(text)
            .map_err(|error| Failed::Client(DialError(format!("a header cannot be sent: {error}"))))
    };
    let mut headers: HeaderMap = more.into_iter().collect();
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    if let Some(session) = session {
        headers.insert(SESSION, value(session)?);
    }
    if let Some(token) = authorization {
        headers.insert(AUTHORIZATION, value(&format!("Bearer {token}"))?);
    }
    Ok(headers)
}

impl StreamableHttpClient for Client {
    type Error = DialError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        authorization: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let accept = "application/json, text/event-stream";
        let mut headers = headers(accept, session.as_deref(), authorization, more)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        let body = serde_json::to_vec(&message)?;
        let answered = self.send(Method::POST, &uri, headers, body.into()).await?;
        answer(&message, session.is_some(), answered).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        authorization: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let headers = headers(JSON, Some(&session), authorization, more)?;
        let answered = self
            .send(Method::DELETE, &uri, headers, Bytes::new())
            .await?;
        match answered.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(Failed::ServerDoesNotSupportDeleteSession),
            status if status.is_success() => Ok(()),
            status => Err(unexpected(status, "")),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        authorization: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let mut headers = headers(EVENTS, session.as_deref(), authorization, more)?;
        if let Some(last) = last_event.and_then(|last| HeaderValue::from_str(&last).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        let answered = self.send(Method::GET, &uri, headers, Bytes::new()).await?;
        match answered.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(Failed::ServerDoesNotSupportSse),
            StatusCode::NOT_FOUND if session.is_some() => Err(Failed::SessionExpired),
            status if !status.is_success() => Err(unexpected(status, "")),
            _ if is(&answered, EVENTS) => Ok(events(answered.into_body())),
            _ => Err(Failed::UnexpectedContentType(kind(&answered))),
        }
    }
}

/// What an answer to a message is.
async fn answer(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    answered: Answered,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = answered.status();
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && in_session {
        return Err(Failed::SessionExpired);
    }
    let (json, sse) = (is(&answered, JSON), is(&answered, EVENTS));
    let session = answered.headers().get(SESSION);
    let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
    let kind = kind(&answered);
    let body = answered.into_body();
    if !status.is_success() {
        let bytes = read(body, if json { MAX_MESSAGE } else { MAX_WHY }, true).await?;
        return refused(message, in_session, status, json.then_some(&bytes), &bytes);
    }
    if sse {
        return Ok(StreamableHttpPostResponse::Sse(events(body), session));
    }
    let bytes = read(body, MAX_MESSAGE, false).await?;
    let ClientJsonRpcMessage::Request(request) = message else {
        // Nobody waits for what comes back.
        return Ok(StreamableHttpPostResponse::Accepted);
    };
    if !json {
        return Err(Failed::UnexpectedContentType(kind));
    }
    // The transport itself looks into lists.
    let raw = matches!(request.request, ClientRequest::CallToolRequest(_));
    match decode(bytes.trim_ascii(), |_| raw) {
        Decoded::Message(message) => Ok(StreamableHttpPostResponse::Json(*message, session)),
        Decoded::Junk => Err(unexpected(status, "the body is no message")),
    }
}

/// A refusal: an error of the server's, the sign of an older server, or a failure with its status.
fn refused(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    status: StatusCode,
    json: Option<&Vec<u8>>,
    bytes: &[u8],
) -> Result<StreamableHttpPostResponse, Failed> {
    let said = json.and_then(|bytes| serde_json::from_slice::<ServerJsonRpcMessage>(bytes).ok());
    let said = match said {
        Some(ServerJsonRpcMessage::Error(error)) => Some(error),
        Some(_) | None => None,
    };
    let closed = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let ClientJsonRpcMessage::Request(request) = message else {
        return Err(unexpected(status, &short(&String::from_utf8_lossy(bytes))));
    };
    let asks_era = matches!(request.request, ClientRequest::DiscoverRequest(_));
    if asks_era && !in_session && status.is_client_error() && !closed {
        // Whoever refuses the question knows no newer protocol, whatever it says and to whichever id.
        let error = said.map_or_else(
            || ErrorData::new(ErrorCode::INVALID_REQUEST, format!("HTTP {status}"), None),
            |said| said.error,
        );
        let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(error, None));
    }
    match said {
        Some(said) if !closed => Ok(StreamableHttpPostResponse::Json(
            ServerJsonRpcMessage::error(said.error, Some(request.id.clone())),
            None,
        )),
        _ => Err(unexpected(status, &short(&String::from_utf8_lossy(bytes)))),
    }
}

fn unexpected(status: StatusCode, what: &str) -> Failed {
    let what: String = what.chars().take(200).collect();
    let text = match what.is_empty() {
        true => format!("HTTP {status}"),
        false => format!("HTTP {status}: {what}"),
    };
    Failed::UnexpectedServerResponse(Cow::Owned(text))
}

fn kind(answered: &Answered) -> Option<String> {
    let kind = answered.headers().get(CONTENT_TYPE)?;
    Some(short(&String::from_utf8_lossy(kind.as_bytes())))
}

fn is(answered: &Answered, kind: &str) -> bool {
    let said = answered.headers().get(CONTENT_TYPE);
    let said = said.and_then(|said| said.to_str().ok()).unwrap_or_default();
    let said = said.split(';').next().unwrap_or_default().trim();
    said.eq_ignore_ascii_case(kind)
}

/// A body of at most so many bytes; of a longer one an error, or its beginning.
async fn read(
    mut body: BoxStream<'static, Result<Bytes, DialError>>,
    most: usize,
    beginning: bool,
) -> Result<Vec<u8>, Failed> {
    let mut read = Vec::new();
    while let Some(part) = body.next().await {
        let part = part.map_err(Failed::Client)?;
        let room = most.saturating_sub(read.len());
        match part.get(..room) {
            Some(kept) if part.len() > room => {
                if !beginning {
                    return Err(Failed::ResponseBodyTooLarge { max_size: most });
                }
                read.extend_from_slice(kept);
                return Ok(read);
            }
            _ => read.extend_from_slice(&part),
        }
    }
    Ok(read)
}

/// The events of a body, each bounded. One whose message is no answer becomes an error to whoever waits for it.
fn events(
    body: BoxStream<'static, Result<Bytes, DialError>>,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let bounded = body.scan(Bound::default(), |bound, part| {
        std::future::ready(Some(part.and_then(|part| bound.pass(part))))
    });
    let events = SseStream::from_bytes_stream(bounded);
    events.map(|event| event.map(answerable)).boxed()
}

/// Bytes since the last end of an event.
#[derive(Default)]
struct Bound {
    held: usize,
    ends: usize,
}

impl Bound {
    fn pass(&mut self, part: Bytes) -> Result<Bytes, DialError> {
        for byte in &part {
            match byte {
                b'\n' => self.ends += 1,
                b'\r' => {}
                _ => self.ends = 0,
            }
            self.held = if self.ends >= 2 { 0 } else { self.held + 1 };
            if self.held > MAX_MESSAGE {
                let what = format!("an event of more than {} MiB", MAX_MESSAGE >> 20);
                return Err(DialError(what));
            }
        }
        Ok(part)
    }
}

fn answerable(mut event: Sse) -> Sse {
    let Some(data) = event.data.as_deref().filter(|data| !data.trim().is_empty()) else {
        return event;
    };
    if let Decoded::Message(message) = decode(data.as_bytes(), |_| false)
        && let ServerJsonRpcMessage::Error(_) = *message
        && let Ok(error) = serde_json::to_string(&*message)
    {
        event.data = Some(error);
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_bounded_and_bodies_are_not() {
        let mut bound = Bound::default();
        let line = Bytes::from(vec![b'x'; 1 << 20]);
        for _ in 0..100 {
            bound.pass(line.clone()).unwrap();
            bound.pass(Bytes::from_static(b"\r\n\r\n")).unwrap();
        }
        let over = (0..9).find_map(|_| bound.pass(line.clone()).err());
        assert!(over.unwrap().to_string().contains("more than 8 MiB"));
    }

    #[test]
    fn an_event_that_is_no_answer_is_an_error() {
        let event = Sse {
            data: Some(r#"{"jsonrpc":"2.0","id":1,"result":null}"#.to_owned()),
            ..Sse::default()
        };
        let data = answerable(event).data.unwrap();
        assert!(
            data.contains("\"error\"") && data.contains("no object"),
            "{data}"
        );
    }
}
