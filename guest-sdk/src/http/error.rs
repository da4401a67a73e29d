//! Why there is no answer.

use std::fmt;

use wasip2::http::types::ErrorCode as Wire;

use crate::ToolError;

/// How the host's sentence begins where its rules or grants keep a request back.
const NOT_SENT: &str = "The request was not sent";

/// What went wrong, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The host's rules or grants do not let the request out. Trying again changes nothing.
    Refused,
    /// The URL, method or a header cannot be sent.
    Invalid,
    /// The name has no address.
    NoSuchHost,
    /// Nobody answers there.
    Unreachable,
    /// The other side cannot prove who it is, or speaks no TLS that this host takes.
    Tls,
    /// It took too long.
    TimedOut,
    /// More came than the host takes.
    TooLarge,
    /// What came is no HTTP, or broke off.
    Broken,
    /// Anything else.
    Other,
}

/// Why there is no answer. `?` turns it into a [`ToolError`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// For programs.
    pub code: ErrorCode,
    /// A sentence for the model.
    pub message: String,
}

impl Error {
    pub(super) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub(super) fn broken() -> Self {
        Self::new(ErrorCode::Broken, "The connection broke off.")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<Error> for ToolError {
    /// `Refused` is a denial, `Invalid` an input that does not fit, everything else a failure. The sentence stays.
    fn from(error: Error) -> Self {
        match error.code {
            ErrorCode::Refused => Self::Denied(error.message),
            ErrorCode::Invalid => Self::invalid_input(error.message),
            _ => Self::Failed(error.message),
        }
    }
}

impl From<Wire> for Error {
    /// A host that has a sentence of its own sends it in the one code that carries a text; then that is the message.
    fn from(wire: Wire) -> Self {
        if let Wire::InternalError(Some(message)) = wire {
            let code = match message.starts_with(NOT_SENT) {
                true => ErrorCode::Refused,
                false => ErrorCode::Other,
            };
            return Self::new(code, message);
        }
        let (code, message) = known(&wire);
        Self::new(code, message)
    }
}

fn known(wire: &Wire) -> (ErrorCode, &'static str) {
    match wire {
        Wire::HttpRequestDenied | Wire::DestinationIpProhibited => (
            ErrorCode::Refused,
            "The host does not let this request out: no grant or rule allows the URL, or its address is a private one.",
        ),
        Wire::HttpRequestMethodInvalid
        | Wire::HttpRequestUriInvalid
        | Wire::HttpRequestUriTooLong
        | Wire::HttpRequestLengthRequired
        | Wire::HttpRequestBodySize(_)
        | Wire::HttpRequestHeaderSectionSize(_)
        | Wire::HttpRequestHeaderSize(_)
        | Wire::HttpRequestTrailerSectionSize(_)
        | Wire::HttpRequestTrailerSize(_) => {
            (ErrorCode::Invalid, "The request cannot be sent as it is.")
        }
        Wire::DnsError(_) | Wire::DestinationNotFound => (
            ErrorCode::NoSuchHost,
            "The name of the host has no address.",
        ),
        Wire::DestinationUnavailable
        | Wire::DestinationIpUnroutable
        | Wire::ConnectionRefused
        | Wire::ConnectionLimitReached => (ErrorCode::Unreachable, "The host cannot be reached."),
        Wire::TlsProtocolError | Wire::TlsCertificateError | Wire::TlsAlertReceived(_) => (
            ErrorCode::Tls,
            "The secure connection failed: the certificate does not hold, or there is no common protocol.",
        ),
        Wire::DnsTimeout
        | Wire::ConnectionTimeout
        | Wire::ConnectionReadTimeout
        | Wire::ConnectionWriteTimeout
        | Wire::HttpResponseTimeout => (ErrorCode::TimedOut, "The host took too long to answer."),
        Wire::HttpResponseHeaderSectionSize(_)
        | Wire::HttpResponseHeaderSize(_)
        | Wire::HttpResponseBodySize(_)
        | Wire::HttpResponseTrailerSectionSize(_)
        | Wire::HttpResponseTrailerSize(_) => (
            ErrorCode::TooLarge,
            "The answer is larger than the host takes.",
        ),
        Wire::ConnectionTerminated
        | Wire::HttpResponseIncomplete
        | Wire::HttpResponseTransferCoding(_)
        | Wire::HttpResponseContentCoding(_)
        | Wire::HttpUpgradeFailed
        | Wire::HttpProtocolError => (ErrorCode::Broken, "The answer broke off or is no HTTP."),
        Wire::LoopDetected | Wire::ConfigurationError | Wire::InternalError(_) => {
            (ErrorCode::Other, "The request failed inside the host.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_a_denial_and_a_sentence_of_the_host_stays() {
        let refused = Error::from(Wire::HttpRequestDenied);
        assert_eq!(refused.code, ErrorCode::Refused);
        assert!(matches!(ToolError::from(refused), ToolError::Denied(_)));
        let said = |text: &str| Error::from(Wire::InternalError(Some(text.to_owned())));
        assert_eq!(said("No answer.").message, "No answer.");
        assert_eq!(said("No answer.").code, ErrorCode::Other);
        assert_eq!(
            said("The request was not sent: a rule denies it.").code,
            ErrorCode::Refused
        );
        assert!(matches!(
            ToolError::from(Error::from(Wire::DnsTimeout)),
            ToolError::Failed(_)
        ));
    }
}
