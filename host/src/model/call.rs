//! A call before any gate has seen it.

use std::fmt;

use serde::Serialize;

use super::visible;

/// The longest name of a client that is kept, characters.
const MAX_CLIENT: usize = 100;

/// Names one call for good. A UUID of version 7, so that ids sort by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct CallId(uuid::Uuid);

impl CallId {
    /// A new id.
    pub fn new() -> Self {
        Self(uuid::Uuid::now_v7())
    }
}

impl Default for CallId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Through which door a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallOrigin {
    /// The command line.
    CommandLine,
    /// The Rust library.
    Library,
    /// An MCP client over stdin and stdout.
    McpStdio,
    /// An MCP client over HTTP.
    McpHttp,
}

/// A call as it arrived: nothing of it is trusted.
#[derive(Clone, Debug)]
pub struct RawCall {
    /// Its id; every result carries it.
    pub id: CallId,
    /// The tool that was asked for.
    pub name: String,
    /// The input: bytes that should be one JSON object.
    pub input: Vec<u8>,
    /// Where it came from.
    pub origin: CallOrigin,
    /// What the client calls itself, which nothing shows to be true: at most 100 characters, escaped.
    pub client: Option<String>,
}

impl RawCall {
    /// A call through the library.
    pub fn new(name: impl Into<String>, input: impl Into<Vec<u8>>) -> Self {
        Self {
            id: CallId::new(),
            name: name.into(),
            input: input.into(),
            origin: CallOrigin::Library,
            client: None,
        }
    }

    /// The same call, from another door.
    #[must_use]
    pub fn from_origin(mut self, origin: CallOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// The same call, of a client that calls itself so.
    #[must_use]
    pub fn from_client(mut self, name: &str) -> Self {
        let name: String = name.chars().take(MAX_CLIENT).collect();
        let name: String = visible(&name).replace('\n', "\\n");
        self.client = Some(name.chars().take(MAX_CLIENT).collect());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_name_is_bounded_and_escaped() {
        let named = |name: &str| RawCall::new("Read", "{}").from_client(name).client.unwrap();
        assert_eq!(named("An Agent 1.0"), "An Agent 1.0");
        assert_eq!(named("a\nb\u{1b}[2J"), "a\\nb\\u{1b}[2J");
        assert_eq!(named(&"\u{202e}".repeat(500)).chars().count(), MAX_CLIENT);
    }
}
