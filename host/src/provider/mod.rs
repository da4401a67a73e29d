//! Providers: what runs a tool.
//!
//! Owns the way from a cleared call to a runtime and back. Never contains a decision about whether to run.

mod code;
mod component;
mod server_sandbox;
mod shell;
mod shell_sandbox;
mod shell_sessions;
#[cfg(test)]
mod shell_tests;

pub use code::Code;
pub use component::ComponentProvider;
pub use server_sandbox::{ServerFiles, server_sandbox};
pub use shell::{NativeShell, ShellPlaces};
