//! The way over `wasi:http`.

use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    Fields, IncomingBody, IncomingResponse, Method, OutgoingBody, OutgoingRequest, RequestOptions,
    Scheme,
};
use wasip2::io::streams::{InputStream, StreamError};

use super::{Body, Error, ErrorCode, Request, Response, parts};

/// Bytes of one piece.
const PIECE: usize = 64 << 10;
/// The most bytes that one `blocking-write-and-flush` takes, by its contract.
const WRITE: usize = 4_096;
/// Nanoseconds of a millisecond.
const NANOS: u64 = 1_000_000;

/// A body that has not been read.
pub(super) struct Incoming {
    // Dropped before its parent.
    stream: InputStream,
    _body: IncomingBody,
}

pub(super) fn send(request: &Request) -> Result<Response, Error> {
    let outgoing = outgoing(request)?;
    let body = outgoing.body().map_err(|()| unsendable("body"))?;
    let nanos = |millis: u32| Some(u64::from(millis) * NANOS);
    let options = RequestOptions::new();
    options
        .set_connect_timeout(nanos(request.connect_ms))
        .and_then(|()| options.set_first_byte_timeout(nanos(request.first_byte_ms)))
        .and_then(|()| options.set_between_bytes_timeout(nanos(request.pause_ms)))
        .map_err(|()| unsendable("time limits"))?;
    let answer = outgoing_handler::handle(outgoing, Some(options))?;
    // A host may answer before it has all of the body, so that an error there is told by the answer.
    let sent = write(&body, &request.body);
    let finished = OutgoingBody::finish(body, None);
    answer.subscribe().block();
    let incoming = match answer.get() {
        Some(Ok(incoming)) => incoming?,
        Some(Err(())) | None => return Err(Error::broken()),
    };
    if !request.body.is_empty() {
        sent?;
        finished?;
    }
    received(&incoming)
}

fn outgoing(request: &Request) -> Result<OutgoingRequest, Error> {
    let (scheme, authority, path) = parts(&request.url).ok_or_else(|| unsendable("URL"))?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    };
    let mut headers: Vec<(String, Vec<u8>)> = request
        .headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone().into_bytes()))
        .collect();
    if !request.body.is_empty() {
        let length = request.body.len().to_string();
        headers.push(("content-length".to_owned(), length.into_bytes()));
    }
    let fields = Fields::from_list(&headers).map_err(|_refused| unsendable("headers"))?;
    let outgoing = OutgoingRequest::new(fields);
    let method = match request.method.as_str() {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "DELETE" => Method::Delete,
        "OPTIONS" => Method::Options,
        "PATCH" => Method::Patch,
        other => Method::Other(other.to_owned()),
    };
    outgoing
        .set_method(&method)
        .and_then(|()| outgoing.set_scheme(Some(&scheme)))
        .and_then(|()| outgoing.set_authority(Some(authority)))
        .and_then(|()| outgoing.set_path_with_query(Some(&path)))
        .map_err(|()| unsendable("URL or method"))?;
    Ok(outgoing)
}

fn unsendable(what: &str) -> Error {
    let message = format!("The {what} of the request cannot be sent.");
    Error::new(ErrorCode::Invalid, message)
}

fn write(body: &OutgoingBody, data: &[u8]) -> Result<(), Error> {
    if data.is_empty() {
        return Ok(());
    }
    let stream = body.write().map_err(|()| Error::broken())?;
    for piece in data.chunks(WRITE) {
        stream
            .blocking_write_and_flush(piece)
            .map_err(|_closed| Error::broken())?;
    }
    Ok(())
}

fn received(incoming: &IncomingResponse) -> Result<Response, Error> {
    let headers = incoming.headers().entries();
    let body = incoming.consume().map_err(|()| Error::broken())?;
    let stream = body.stream().map_err(|()| Error::broken())?;
    Ok(Response {
        status: incoming.status(),
        headers: headers
            .into_iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect(),
        body: Incoming {
            stream,
            _body: body,
        },
    })
}

impl Incoming {
    pub(super) fn read(self, limit: usize) -> Result<Body, Error> {
        let mut data = Vec::new();
        loop {
            // One byte more than is wanted shows whether there is more.
            let left = limit.saturating_add(1) - data.len();
            let piece = u64::try_from(left.min(PIECE)).unwrap_or(u64::MAX);
            match self.stream.blocking_read(piece) {
                Ok(piece) => data.extend_from_slice(&piece),
                Err(StreamError::Closed) => {
                    return Ok(Body {
                        data,
                        truncated: false,
                    });
                }
                Err(StreamError::LastOperationFailed(error)) => {
                    let known = wasip2::http::types::http_error_code(&error);
                    return Err(known.map_or_else(Error::broken, Error::from));
                }
            }
            if data.len() > limit {
                data.truncate(limit);
                return Ok(Body {
                    data,
                    truncated: true,
                });
            }
        }
    }
}
