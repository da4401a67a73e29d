//! Compares two files. Both are permission subjects, so the tool computes them itself.
#![forbid(unsafe_code)]

use toolgate_guest::{
    Capability, Context, Declaration, Output, ResolvedSubject, SubjectKind, Subjects, Tool,
    ToolError, ToolInput, files,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Path of the one file.
    left: String,
    /// Path of the other file.
    right: String,
}

/// The tool.
#[derive(Debug)]
pub struct SameFile;

impl Tool for SameFile {
    const DECLARATION: Declaration =
        Declaration::read_only("SameFile", "Says whether two files hold the same bytes.")
            .idempotent()
            .capability(Capability::new(
                "fs-read",
                "workspace",
                "reads the files that it compares",
            ));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let left = files::read_all(&input.left, 16 << 20)?;
        let right = files::read_all(&input.right, 16 << 20)?;
        Ok(Output::text(if left.data == right.data {
            "same"
        } else {
            "different"
        }))
    }
}

impl Subjects for SameFile {
    fn subjects(input: Input) -> Result<Vec<ResolvedSubject>, String> {
        let path = |value| ResolvedSubject {
            kind: SubjectKind::Path,
            value,
        };
        Ok(vec![path(input.left), path(input.right)])
    }
}

toolgate_guest::export_with_subjects!(SameFile);
