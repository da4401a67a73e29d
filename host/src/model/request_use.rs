//! Requests as a call's record keeps them.

use std::net::SocketAddr;

use serde::Serialize;

/// One request that a call made, or was refused to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestUse {
    /// Its method.
    pub method: String,
    /// Scheme, host, port and path, and the names in its query without their values; at most 2 KiB. Of what is no URL, a
    /// fixed text. The journal scrubs it.
    pub url: String,
    /// The judged address that was dialled, by the proxy where one is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<SocketAddr>,
    /// The status that came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of the body that was sent.
    pub sent: u64,
    /// Bytes of the body that came back and was read, decompressed.
    pub received: u64,
    /// SHA-256 of those bytes; none where no answer came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_sha256: Option<String>,
    /// Whether the body was read to its end.
    pub complete: bool,
    /// Names of the secrets that the host put in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Why it was refused, or what broke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// From the request to the end of the body, milliseconds.
    pub ms: u64,
}
