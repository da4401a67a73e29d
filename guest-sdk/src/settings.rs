//! What the operator set for this tool, in `[tools.NAME.settings]`: texts by names that the tool documents.
//!
//! Nothing secret belongs there: a credential is put into requests by the host (`[secrets]`), and no tool has it.
//!
//! The function needs a host: natively it panics. Unit tests give what it gives.

use crate::settings_bindings::toolgate::tool::settings as wit;

/// The value of a setting, if the operator gave it one.
#[must_use]
pub fn get(name: &str) -> Option<String> {
    wit::get(name)
}
