#![doc = include_str!("../README.md")]

pub mod approval;
pub mod config;
pub mod egress;
mod error;
pub mod gate;
pub mod hooks;
mod host;
pub mod journal;
pub mod mcp;
pub mod model;
pub mod policy;
pub mod policy_test;
pub mod program;
pub mod provider;
pub mod runtime;
pub mod shell;
pub mod spill;
pub mod state;
pub mod store;
pub mod suggest;
pub mod upstream;

#[cfg(test)]
#[path = "../fuzz/src/replay.rs"]
mod fuzzed;

pub use config::state_dir;
pub use error::HostError;
pub use host::{Host, HostBuilder, LeftOut};
