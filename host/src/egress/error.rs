//! Why a request has no response, or a response no end.

use std::net::SocketAddr;
use std::time::Duration;

use crate::policy::EgressRefusal;

/// See the module. `Display` is for the operator; [`EgressError::for_model`] is a sentence that holds no address and
/// nothing that a server chose.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    /// The grant.
    #[error("{0}")]
    Refused(#[from] EgressRefusal),
    /// The call made its share.
    #[error("the call has made {limit} requests, which is the most that one may make")]
    TooManyRequests {
        /// How many.
        limit: usize,
    },
    /// The call has too many at once.
    #[error("the call has {limit} requests open, which is the most at once")]
    TooManyOpen {
        /// How many.
        limit: usize,
    },
    /// The name has no address.
    #[error("the host '{host}' cannot be looked up: {what}")]
    Lookup {
        /// The name.
        host: String,
        /// What the resolver says.
        what: String,
    },
    /// No connection.
    #[error("no connection to {address}: {what}")]
    Connect {
        /// What was dialled.
        address: SocketAddr,
        /// What the system says.
        what: String,
    },
    /// TLS.
    #[error("no TLS with '{host}': {what}")]
    Tls {
        /// The name.
        host: String,
        /// What is wrong.
        what: String,
    },
    /// The configured proxy. There is no other way.
    #[error("the proxy {proxy} gives no connection: {what}")]
    Proxy {
        /// The proxy, without credentials.
        proxy: String,
        /// What is wrong.
        what: String,
    },
    /// A secret that is needed and not there.
    #[error("the secret '{name}' cannot be had: {what}")]
    Secret {
        /// Its name.
        name: String,
        /// Why.
        what: String,
    },
    /// A bound of time.
    #[error("{what} took more than {} ms", .limit.as_millis())]
    Time {
        /// `the connection`, `the head of the response`, `a part of the body`, `the request`.
        what: &'static str,
        /// The bound.
        limit: Duration,
    },
    /// A body that is too large.
    #[error("the body of the {of} is larger than {limit} bytes")]
    Body {
        /// `request` or `response`.
        of: &'static str,
        /// The bound.
        limit: u64,
    },
    /// A body where none may be.
    #[error("the tool is read-only, and the request has a body")]
    BodyOfReader,
    /// Header fields that are too many or too long.
    #[error("the header of the {of} has more than {fields} fields or {bytes} bytes")]
    Header {
        /// `request` or `response`.
        of: &'static str,
        /// The bound.
        fields: usize,
        /// The bound.
        bytes: usize,
    },
    /// A small body that becomes a large one.
    #[error("the body of the response becomes more than {ratio} times as large by decompression")]
    Bomb {
        /// The bound.
        ratio: u64,
    },
    /// A body that is not what its header says.
    #[error("the body of the response cannot be decompressed: {0}")]
    Encoding(String),
    /// What the server sends is no HTTP, or the connection broke.
    #[error("the exchange with the server broke: {0}")]
    Protocol(String),
    /// The guest's own body broke.
    #[error("the body of the request broke: {0}")]
    RequestBody(String),
    /// Redirects without an end.
    #[error("there were more than {0} redirects")]
    TooManyRedirects(usize),
}

impl EgressError {
    /// A sentence for the model.
    pub fn for_model(&self) -> String {
        match self {
            Self::Refused(refusal) => format!("The request was not sent: {}.", refused(refusal)),
            Self::TooManyRequests { .. } | Self::TooManyOpen { .. } | Self::BodyOfReader => {
                format!("The request was not sent: {self}.")
            }
            Self::Lookup { host, .. } => format!("The host '{host}' cannot be looked up."),
            Self::Connect { .. } => "The server could not be reached.".to_owned(),
            Self::Tls { host, .. } => {
                format!("No trusted TLS connection to '{host}' was possible.")
            }
            Self::Proxy { .. } => {
                "The operator's proxy gave no connection, and there is no other way.".to_owned()
            }
            Self::Secret { name, .. } => {
                format!("The request was not sent: the secret '{name}' cannot be had.")
            }
            Self::Encoding(_) => "The body of the response could not be decompressed.".to_owned(),
            Self::Protocol(_) => {
                "The connection broke, or the server does not speak HTTP.".to_owned()
            }
            Self::Time { .. }
            | Self::Body { .. }
            | Self::Header { .. }
            | Self::Bomb { .. }
            | Self::RequestBody(_)
            | Self::TooManyRedirects(_) => format!("The request failed: {self}."),
        }
    }

    /// The cause in an error of hyper's, which may carry one of ours.
    pub(super) fn from_hyper(error: &hyper::Error) -> Self {
        let mut cause = std::error::Error::source(error);
        while let Some(inner) = cause {
            if let Some(ours) = inner.downcast_ref::<Self>() {
                return ours.clone();
            }
            cause = inner.source();
        }
        let mut what = error.to_string();
        if let Some(cause) = std::error::Error::source(error) {
            what = format!("{what}: {cause}");
        }
        Self::Protocol(short(&what))
    }
}

/// Without the rule's file, which is no business of the model's.
fn refused(refusal: &EgressRefusal) -> String {
    match refusal {
        EgressRefusal::Denied(rules) => match rules.first() {
            Some(rule) => format!("the rule {} {} denies it", rule.effect, rule.rule),
            None => "a rule denies it".to_owned(),
        },
        EgressRefusal::Asked(rule) => format!(
            "the redirect leads to what the rule {} {} asks for: make a call for that URL",
            rule.effect, rule.rule
        ),
        other => other.to_string(),
    }
}

/// The beginning of a text that a system or a server chose.
pub(super) fn short(text: &str) -> String {
    let text: String = text.chars().take(300).collect();
    crate::model::visible(&text.replace('\n', " ")).into_owned()
}
