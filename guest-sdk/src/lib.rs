#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The derive writes `::toolgate_guest::…`; this lets the crate's own tests use it.
extern crate self as toolgate_guest;

mod binding;
#[doc(hidden)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes_without_reason,
    reason = "generated from the WIT"
)]
pub mod bindings;
mod context;
mod declaration;
mod error;
mod exports;
mod faults;
pub mod files;
pub mod hook;
#[doc(hidden)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes_without_reason,
    reason = "generated from the WIT"
)]
pub mod hook_bindings;
mod hook_exports;
#[cfg(feature = "http")]
pub mod http;
mod input;
mod output;
pub mod secrets;
#[doc(hidden)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes_without_reason,
    reason = "generated from the WIT"
)]
pub mod secrets_bindings;
pub mod sessions;
pub mod settings;
#[doc(hidden)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes_without_reason,
    reason = "generated from the WIT"
)]
pub mod settings_bindings;
pub mod shell;
#[doc(hidden)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes_without_reason,
    reason = "generated from the WIT"
)]
pub mod shell_bindings;
#[doc(hidden)]
#[allow(
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::allow_attributes_without_reason,
    reason = "generated from the WIT"
)]
pub mod subjects_bindings;
mod tool;
mod values;

pub use binding::bind;
pub use context::{Context, Level};
pub use declaration::{Capability, Declaration, SideEffect, SubjectKind};
pub use error::ToolError;
pub use faults::Faults;
pub use input::{InputField, JsonType, ToolInput};
pub use output::{Blob, Content, Link, Output};
/// JSON values as `serde_json` has them, so that a tool needs no dependency of its own for them.
pub use serde_json::{Map, Value, json};
pub use tool::{ResolvedSubject, Subjects, Tool};
pub use toolgate_guest_macros::ToolInput;

/// Reads JSON from wherever it comes. None: it is none.
#[must_use]
pub fn parse_json(text: &[u8]) -> Option<Value> {
    serde_json::from_slice(text).ok()
}

/// What the macros of this crate write calls to. Not for authors: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::binding::{Object, Properties, choice, choice_schema, object};
    pub use crate::exports::check;
    pub use crate::hook_exports::handle;
    pub use serde_json::{Map, Value};
}
