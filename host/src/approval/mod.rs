//! Approvers: who is asked.
//!
//! Owns the ways to a person or a fixed answer. Never contains the question whether to ask.

mod fixed;
mod terminal;

pub use fixed::Fixed;
pub use terminal::Terminal;
