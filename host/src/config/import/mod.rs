//! Settings of other agents, carried over into a `toolgate.toml`.
//!
//! Guarantees that nothing gets wider: a setting is carried over exactly, or so that it allows less or refuses more, with
//! a note; otherwise it is reported with the reason. Everything in the file is in one list or the other. Never touches a
//! file, and never decides what is done with the text that it gives.

pub mod claude;
mod claude_hooks;
mod claude_paths;
mod claude_rules;
mod draft;
mod json;

use std::path::PathBuf;

use serde::Serialize;

/// What an import came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The text of a `toolgate.toml`.
    pub toml: String,
    /// What was carried over.
    pub carried: Vec<Carried>,
    /// What was not.
    pub left: Vec<NotCarried>,
}

/// A setting that was carried over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Carried {
    /// Where it stands: a JSON pointer.
    pub pointer: String,
    /// What stands there.
    pub what: String,
    /// What it became; nothing where the absence of a setting says the same.
    pub becomes: Vec<String>,
    /// How it differs: allows less, or refuses or asks more.
    pub note: Option<String>,
}

/// A setting that was not carried over, or only in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotCarried {
    /// Where it stands: a JSON pointer.
    pub pointer: String,
    /// What stands there.
    pub what: String,
    /// Why not.
    pub why: String,
    /// It refuses, asks or guards: without it, the new file is less strict than the old one.
    pub weaker: bool,
}

/// Why a file cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It is no JSON, or a key stands there twice.
    #[error("{}:{line}:{column}: {what}", .file.display())]
    Json {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// A value is of another type than the format has there.
    #[error("{}: {pointer} must be {expected}, but is {found}", .file.display())]
    Type {
        /// The file.
        file: PathBuf,
        /// Where: a JSON pointer; `/` is the whole file.
        pointer: String,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
}
