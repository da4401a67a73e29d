//! Providers: what runs a tool.
//!
//! Owns the way from a cleared call to a runtime and back. Never contains a decision about whether to run.

mod code;
mod component;
mod shell;
mod shell_sandbox;
mod shell_sessions;
#[cfg(test)]
mod shell_tests;

pub use code::Code;
pub use component::ComponentProvider;
pub use shell::{NativeShell, ShellPlaces};
