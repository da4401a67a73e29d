//! Tests of a policy: calls, and what must become of each.
//!
//! Owns the file that they are written in and the comparison with what the gates would say. Never runs a call, and never
//! decides one: that is the chain's `explain`.

mod compare;
mod file;

pub use compare::{Difference, Found};
pub use file::{Case, Expected, TestFileError, parse, read};
