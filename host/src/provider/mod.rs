//! Providers: what runs a tool.
//!
//! Owns the way from a cleared call to a runtime and back. Never contains a decision about whether to run.

mod component;

pub use component::ComponentProvider;
