//! Claims to be non-destructive, and is: it makes the file that the call names.

use toolgate_guest::files::{self, Condition};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The file to make.
    path: String,
}

/// The tool.
#[derive(Debug)]
pub struct CreatesFiles;

impl Tool for CreatesFiles {
    const DECLARATION: Declaration = Declaration::mutating("CreatesFiles", "Makes a file.")
        .subject(SubjectKind::Path, "path")
        .capability(Capability::new(
            "fs-write",
            "subject",
            "makes the file that the call names",
        ));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        files::replace(&input.path, Condition::Any, b"made")?;
        Ok(Output::text("made"))
    }
}

toolgate_guest::export!(CreatesFiles);
