//! Heads of requests and responses: what is left out, what is put in, and how much they may hold.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use super::error::EgressError;
use super::limits::EgressLimits;
use super::scrub::Scrubber;

/// Fields of one connection only: the connector's own business.
const OF_THE_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("http2-settings"),
];
/// What is said where a request names no program.
const USER_AGENT: &str = concat!("toolgate/", env!("CARGO_PKG_VERSION"));
/// What the connector can decompress.
pub(super) const ENCODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br");

/// Counts the fields of a head.
pub(super) fn check(
    headers: &HeaderMap,
    of: &'static str,
    limits: &EgressLimits,
) -> Result<(), EgressError> {
    let bytes: usize = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len())
        .sum();
    if headers.len() > limits.header_fields || bytes > limits.header_bytes {
        return Err(too_much(of, limits));
    }
    Ok(())
}

pub(super) fn too_much(of: &'static str, limits: &EgressLimits) -> EgressError {
    EgressError::Header {
        of,
        fields: limits.header_fields,
        bytes: limits.header_bytes,
    }
}

/// The head of a request as it goes out, without `host`, which comes from the URL.
pub(super) fn outgoing(headers: &mut HeaderMap) {
    for name in &OF_THE_CONNECTION {
        headers.remove(name);
    }
    headers.remove(header::HOST);
    if !headers.contains_key(header::ACCEPT_ENCODING) {
        // A part of a file is a part of its plain bytes.
        let encodings = match headers.contains_key(header::RANGE) {
            true => HeaderValue::from_static("identity"),
            false => ENCODINGS,
        };
        headers.insert(header::ACCEPT_ENCODING, encodings);
    }
    headers
        .entry(header::USER_AGENT)
        .or_insert(HeaderValue::from_static(USER_AGENT));
}

/// The head of a response as it comes in.
pub(super) fn incoming(headers: &mut HeaderMap) {
    for name in &OF_THE_CONNECTION {
        headers.remove(name);
    }
}

/// Takes secrets out of fields that came back.
pub(super) fn scrub(headers: &mut HeaderMap, scrubbers: &[Arc<Scrubber>]) {
    for value in headers.values_mut() {
        for scrubber in scrubbers {
            let clean = scrubber.bytes(value.as_bytes());
            if clean != value.as_bytes() {
                *value = HeaderValue::from_bytes(&clean).unwrap_or(HeaderValue::from_static(""));
            }
        }
    }
}

/// Whether a response to this request has a body at all.
pub(super) fn has_body(method: &Method, status: StatusCode) -> bool {
    method != Method::HEAD
        && status != StatusCode::NO_CONTENT
        && status != StatusCode::NOT_MODIFIED
        && !status.is_informational()
}

/// Where a redirect leads, as it is written.
pub(super) fn location(status: StatusCode, headers: &HeaderMap) -> Option<&str> {
    match status.as_u16() {
        301 | 302 | 303 | 307 | 308 => headers.get(header::LOCATION)?.to_str().ok(),
        _ => None,
    }
}
