//! Requests to the network over `wasi:http`, for tools that declare the capability `net`.
//!
//! A request goes where the host's grant for the call lets it, and nowhere else; credentials are the host's, and are put in
//! by it. No redirect is followed: where one leads is another URL, which a tool asks for by itself and which is judged by
//! itself. A body is read in pieces, so that a tool decides how much of it it takes.
//!
//! The functions need a host: natively they panic. Unit tests call what works on the results.

mod error;
mod wire;

use std::fmt;

pub use error::{Error, ErrorCode};

/// A request. The host bounds sizes and times whatever is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Such as `GET`.
    pub method: String,
    /// `https://host/path`, whole.
    pub url: String,
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// Bytes to send.
    pub body: Vec<u8>,
    /// Milliseconds until the connection must stand.
    pub connect_ms: u32,
    /// Milliseconds until the answer must begin.
    pub first_byte_ms: u32,
    /// Milliseconds that the answer may pause.
    pub pause_ms: u32,
}

impl Request {
    /// A request without a body: 10 s to connect, 30 s to the first byte, 15 s between bytes.
    #[must_use]
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            connect_ms: 10_000,
            first_byte_ms: 30_000,
            pause_ms: 15_000,
        }
    }

    /// A `GET` of a URL, as [`Request::new`].
    #[must_use]
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the bytes to send.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends it and waits for the head of the answer.
    ///
    /// # Errors
    /// [`Error`]: whatever comes before an answer, a refusal by the host's rules too. A status like 404 is an answer.
    pub fn send(&self) -> Result<Response, Error> {
        wire::send(self)
    }
}

/// The head of an answer, and the way to its body.
pub struct Response {
    /// The status, such as 200.
    pub status: u16,
    /// Names in lower case, and values, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    body: wire::Incoming,
}

impl Response {
    /// The first header of a name, whatever its letter case, if it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The body: at most `limit` bytes, and whether there would have been more.
    ///
    /// # Errors
    /// [`Error`]: the rest did not come.
    pub fn read(self, limit: usize) -> Result<Body, Error> {
        self.body.read(limit)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

/// A body, or its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The bytes.
    pub data: Vec<u8>,
    /// There would have been more.
    pub truncated: bool,
}

/// The first header of a name, whatever its letter case, if it is text.
fn header<'a>(headers: &'a [(String, Vec<u8>)], name: &str) -> Option<&'a str> {
    let (_, value) = headers
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    std::str::from_utf8(value).ok()
}

/// The parts of a URL that a request is made of: scheme, authority, path with query.
fn parts(url: &str) -> Option<(&str, &str, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let rest = rest.split('#').next().unwrap_or(rest);
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    if authority.is_empty() {
        return None;
    }
    let path = match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("/{path}"),
    };
    Some((scheme, authority, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart_without_being_read() {
        for (url, expected) in [
            ("https://a.test", Some(("https", "a.test", "/"))),
            ("http://a.test:8/x?y#z", Some(("http", "a.test:8", "/x?y"))),
            ("http://[::1]?q", Some(("http", "[::1]", "/?q"))),
            ("https://a.test#x/y", Some(("https", "a.test", "/"))),
            ("https:///x", None),
            ("//a.test/", None),
            ("a.test", None),
        ] {
            let expected = expected.map(|(scheme, at, path)| (scheme, at, path.to_owned()));
            assert_eq!(parts(url), expected, "{url}");
        }
    }

    #[test]
    fn a_header_is_found_whatever_its_case() {
        let headers = [
            ("Content-Type".to_owned(), b"text/html".to_vec()),
            ("X".to_owned(), vec![0xff]),
        ];
        assert_eq!(header(&headers, "content-type"), Some("text/html"));
        assert_eq!(header(&headers, "x"), None);
        assert_eq!(header(&headers, "y"), None);
    }

    #[test]
    fn a_request_has_limits_of_its_own() {
        let request = Request::get("https://a.test/").header("accept", "*/*");
        assert_eq!(request.method, "GET");
        assert!(request.connect_ms > 0 && request.first_byte_ms > 0 && request.pause_ms > 0);
    }
}
