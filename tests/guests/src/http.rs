//! `wasi:http` as it is: requests that no library would make are free to be said.

use wasip2::http::outgoing_handler;
use wasip2::http::types::{Fields, IncomingBody, Method, OutgoingBody, OutgoingRequest, Scheme};
use wasip2::io::streams::StreamError;

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// Status.
    pub status: u16,
    /// The header fields.
    pub fields: Vec<(String, String)>,
    /// The body, as far as it came.
    pub body: Vec<u8>,
    /// What broke the body.
    pub broken: Option<String>,
}

impl Answer {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Sends a request and reads all of the answer, or as much as `most` says.
///
/// # Errors
/// The code, as text.
pub fn send(
    method: &str,
    url: &str,
    fields: &[(&str, &str)],
    body: &[u8],
    most: usize,
) -> Result<Answer, String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let headers = Fields::new();
    for (name, value) in fields {
        let added = headers.append(name, value.as_bytes());
        added.map_err(|error| format!("the field {name}: {error:?}"))?;
    }
    let request = OutgoingRequest::new(headers);
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.to_owned()),
    };
    let method = match method {
        "GET" => Method::Get,
        other => Method::Other(other.to_owned()),
    };
    let set = request.set_method(&method).is_ok()
        && request.set_scheme(Some(&scheme)).is_ok()
        && request.set_authority(Some(authority)).is_ok()
        && request.set_path_with_query(Some(path)).is_ok();
    if !set {
        return Err("no request can be made of it".to_owned());
    }
    let sent = request.body().map_err(|()| "no body".to_owned())?;
    let waiting = outgoing_handler::handle(request, None).map_err(|code| format!("{code:?}"))?;
    if !body.is_empty() {
        let stream = sent.write().map_err(|()| "no stream".to_owned())?;
        for part in body.chunks(4_096) {
            if stream.blocking_write_and_flush(part).is_err() {
                break;
            }
        }
    }
    // What broke the sending is in the answer's code.
    drop(OutgoingBody::finish(sent, None));
    waiting.subscribe().block();
    let answer = match waiting.get() {
        Some(Ok(Ok(answer))) => answer,
        Some(Ok(Err(code))) => return Err(format!("{code:?}")),
        Some(Err(())) | None => return Err("no answer".to_owned()),
    };
    let fields = answer.headers().entries();
    let fields = fields
        .into_iter()
        .map(|(name, value)| (name, String::from_utf8_lossy(&value).into_owned()));
    let (fields, status) = (fields.collect(), answer.status());
    let incoming = answer.consume().map_err(|()| "no body".to_owned())?;
    let (body, broken) = read(&incoming, most);
    Ok(Answer {
        status,
        fields,
        body,
        broken,
    })
}

fn read(incoming: &IncomingBody, most: usize) -> (Vec<u8>, Option<String>) {
    let mut body = Vec::new();
    let Ok(stream) = incoming.stream() else {
        return (body, Some("no stream".to_owned()));
    };
    while body.len() < most {
        match stream.blocking_read(65_536) {
            Ok(part) => body.extend(part),
            Err(StreamError::Closed) => return (body, None),
            Err(StreamError::LastOperationFailed(error)) => {
                let code = wasip2::http::types::http_error_code(&error);
                let said = code.map_or(error.to_debug_string(), |code| format!("{code:?}"));
                return (body, Some(said));
            }
        }
    }
    body.truncate(most);
    (body, Some("cut here".to_owned()))
}
