//! Commands: the grammar of `Bash(…)`, and what a command line is for it.
//!
//! Guarantees that a text is judged as bash runs it, or is called opaque. Two readers that share nothing must agree on the
//! words before an allow rule sees them; deny rules see every reading of every command that can be found, and are told
//! when that may not be all. Of a program that is not known to run nothing, every argument, the part behind `=` and the
//! rest of a cluster of options are commands for deny rules, and a text with a blank is one too; so a denied name that
//! stands there as a word is refused. Messages (`git commit -m`, `gh pr create --title`), what `echo` prints, what `grep`
//! looks for and the subcommands of known tools (`git rm`, `docker rm`) are not. Text is no boundary all the same: programs run others in ways that no argument shows (a
//! script, a Makefile, an alias of git), and what they may do is what the sandbox lets them.
//!
//! Owns the reading of command lines and patterns, and the index of patterns. Never contains I/O: not what is on `PATH`,
//! which files a wildcard finds, or what a variable holds.

mod ansi_c;
mod builtins;
mod code;
mod git;
mod grammar;
mod guarded;
mod index;
mod line;
mod loosely;
mod options;
mod pattern;
mod pieces;
mod programs;
mod scan;
mod scripts;
mod unwrap;
mod variables;
mod view;
mod word;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod shown;

pub use guarded::{GuardedPaths, NotKnown, guarded};
pub use index::CommandIndex;
pub use line::{CommandLine, SimpleCommand};
pub use pattern::{CommandPattern, CommandPatternError};
