//! A call before any gate has seen it.

use std::fmt;

use serde::Serialize;

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
}

impl RawCall {
    /// A call through the library.
    pub fn new(name: impl Into<String>, input: impl Into<Vec<u8>>) -> Self {
        Self {
            id: CallId::new(),
            name: name.into(),
            input: input.into(),
            origin: CallOrigin::Library,
        }
    }

    /// The same call, from another door.
    #[must_use]
    pub fn from_origin(mut self, origin: CallOrigin) -> Self {
        self.origin = origin;
        self
    }
}
