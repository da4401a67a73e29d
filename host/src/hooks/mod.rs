//! Hooks: the operator's own programs around a call.
//!
//! Owns how a program is started, fed, read and ended. Never contains what a reply means for the call: that is gates 6
//! and 10.

mod command;
mod reply;

pub use command::{CommandHook, HookError};
