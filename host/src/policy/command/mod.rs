//! Commands: the grammar of `Bash(…)`, and what a command line is for it.
//!
//! Guarantees that a text is judged as bash runs it, or is called opaque. Two readers that share nothing must agree on the
//! words before an allow rule sees them; deny rules see every reading of every command that can be found, and are told
//! when that may not be all. Text is no boundary all the same: programs run others in ways that no argument shows (a
//! script, a Makefile, an alias of git), and what they may do is what the sandbox lets them.
//!
//! Owns the reading of command lines and patterns, and the index of patterns. Never contains I/O: not what is on `PATH`,
//! which files a wildcard finds, or what a variable holds.

mod ansi_c;
mod builtins;
mod code;
mod grammar;
mod index;
mod line;
mod options;
mod pattern;
mod programs;
mod scan;
mod unwrap;
mod word;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;

pub use index::CommandIndex;
pub use line::{CommandLine, SimpleCommand};
pub use pattern::{CommandPattern, CommandPatternError};
