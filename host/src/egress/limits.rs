//! What bounds every request.

use std::time::Duration;

/// Bounds of one request. Each has a default; a bound of `Duration::MAX` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EgressLimits {
    /// Looking up the name, connecting, and TLS, together. Default 15 s.
    pub connect: Duration,
    /// From the connection to the head of the response. Default 60 s.
    pub first_byte: Duration,
    /// Between two parts of the body. Default 30 s.
    pub idle: Duration,
    /// All of it, to the end of the body. Default 300 s.
    pub total: Duration,
    /// Bytes of the request's body. Default 16 MiB.
    pub request_body: u64,
    /// Bytes of the response's body, as they travel and decompressed. Default 32 MiB.
    pub response_body: u64,
    /// How much larger than what travelled a decompressed body may be, once it is larger than 1 MiB. Default 200.
    pub ratio: u64,
    /// Header fields of a request or a response. Default 128.
    pub header_fields: usize,
    /// Bytes of all header fields together. Default 32 KiB, at least 8 KiB.
    pub header_bytes: usize,
}

impl Default for EgressLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(300),
            request_body: 16 << 20,
            response_body: 32 << 20,
            ratio: 200,
            header_fields: 128,
            header_bytes: 32 << 10,
        }
    }
}
