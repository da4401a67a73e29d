//! Secrets, for tools that declare the capability `secret`.
//!
//! No value ever reaches a tool. The host puts a secret into the requests that go to the one place it is for, and takes it
//! out of what comes back: a tool only sends its requests.

use crate::secrets_bindings::toolgate::secrets::secrets as wit;

/// Whether the operator has set up a secret of this name for this tool. A tool that did not declare it hears no.
#[must_use]
pub fn exists(name: &str) -> bool {
    wit::exists(name)
}
