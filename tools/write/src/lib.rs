//! The Write tool: a whole file in one step.
//!
//! Guarantees that the target holds either all the old bytes or all the new ones, and exactly the content given: no
//! encoding, line ending or final newline is added.
#![forbid(unsafe_code)]

pub mod report;

use toolgate_guest::files::{self, Condition};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Path of the file to write: absolute, or relative to the workspace root.
    file_path: String,
    /// The whole content of the file, byte for byte.
    content: String,
}

/// The tool.
#[derive(Debug)]
pub struct Write;

impl Tool for Write {
    // Mutating and destructive: it replaces whatever the file held. Idempotent: the same content again leaves the same
    // file. Not exclusive: two calls conflict only if their subjects do, and each replaces in one step.
    const DECLARATION: Declaration = Declaration::mutating(
        "Write",
        "Writes a file. What it held before is replaced as a whole, in one step; missing parent directories are made. \
         Fails if this session has read the file and it changed since: read it again first. To change a part of a \
         file, use Edit.",
    )
    .destructive()
    .idempotent()
    .subject(SubjectKind::Path, "file_path")
    .capability(Capability::new("fs-write", "subject", "writes the file that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let replaced = files::replace(&input.file_path, Condition::Any, input.content.as_bytes())?;
        Ok(Output::text(report::report(
            replaced.created,
            &replaced.path,
            &input.content,
        )))
    }
}

toolgate_guest::export!(Write);
