//! Configuration: `toolgate.toml` to typed settings.
//!
//! Owns the file's grammar and the order of several files. What it does not know stops the start, with file, line and the
//! nearest key. Never contains what a setting means.

mod file;
mod keys;
mod merge;

use std::path::PathBuf;

pub use file::{Config, HookSetting, LimitSetting};
pub use merge::load;

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {what}", .file.display(), position(*line))]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1; 0 where the file itself is the problem.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// `:7`, or nothing.
fn position(line: usize) -> String {
    if line == 0 {
        String::new()
    } else {
        format!(":{line}")
    }
}

/// The JSON Schema of `toolgate.toml`, for editors.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(file::File).to_value()
}
