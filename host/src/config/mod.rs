//! Configuration: `toolgate.toml` to typed settings, each with where it comes from.
//!
//! Owns the file's grammar, the layers and their order, and which of a workspace's files the person trusts: until then
//! not one key of them is read. What it does not know stops the start, with file, line and the nearest key. Never
//! contains what a setting means, and never runs anything.

mod approval;
mod bound;
mod egress;
mod egress_entry;
mod file;
mod grants;
mod hooks;
pub mod import;
mod keep;
mod keys;
mod layers;
mod limits;
mod mcp;
mod merge;
mod places;
mod plain;
mod read_once;
mod reading;
mod rule_entry;
mod runs;
mod serve;
mod settings;
mod shell;
mod shell_limits;
mod source;
mod store;
#[cfg(test)]
mod tests;
mod tools;
mod trust;
mod web_search;
mod workspace;

use std::path::PathBuf;

pub use crate::model::HookFormat;
pub use bound::{same_bytes, unchanged};
pub use egress::{EgressSetting, SecretOrigin, SecretSetting};
pub use layers::{Flags, InForce, Layers, Loaded};
pub use limits::LimitSetting;
pub use mcp::{
    DEFAULT_IDLE_TIMEOUT_MS, DEFAULT_START_TIMEOUT_MS, McpEra, McpReach, McpServer, McpTool,
};
pub use places::{MANAGED_FILE, state_dir, user_file};
pub use plain::{PlainFiles, PlainSetting};
pub use runs::Runs;
pub use serve::ServeSetting;
pub use settings::{
    ApprovalSetting, ApproverKind, Config, DEFAULT_PROGRAM_TIMEOUT_MS, HookRun, HookSetting,
    MAX_PROGRAM_TIMEOUT_MS,
};
pub use shell::{ShellContainment, ShellKind, ShellNetwork, ShellSandbox, ShellSetting, ShellUser};
pub use shell_limits::ShellLimits;
pub use source::{Layer, Source, Sourced};
pub use store::{RegistrySetting, StoreSetting};
pub use trust::{TrustStore, Trusted};
pub use web_search::{SearchService, WebSearchBackend, WebSearchSetting};
pub use workspace::{NotInForce, Preview, WhyNot, WorkspaceFile};

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {what}", source::Place(.file, *.line))]
pub struct ConfigError {
    /// The file, or what stands for one: a flag, or `library`.
    pub file: PathBuf,
    /// Line, from 1; 0 where the file itself is the problem.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// What a text says as a person's file, for what is fuzzed.
#[cfg(any(test, fuzzing))]
pub(crate) fn of_text(file: &std::path::Path, text: &str) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    merge::add(&mut config, Layer::User, file, text)?;
    approval::check(&config)?;
    config.web_search.service()?;
    Ok(config)
}

/// The JSON Schema of `toolgate.toml`, for editors.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(file::File).to_value()
}
