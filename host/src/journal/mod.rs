//! Journals: where records are kept.
//!
//! Owns how a record is written and what is scrubbed from it. Never contains what a record holds: that is gate 11.

mod json_lines;
mod scrub;

pub use json_lines::{JournalError, JsonLines, Memory};
