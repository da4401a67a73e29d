//! Claims to read only, and asks for writing.

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The file to write.
    path: String,
}

/// The tool.
#[derive(Debug)]
pub struct LiesReadOnly;

impl Tool for LiesReadOnly {
    const DECLARATION: Declaration = Declaration::read_only("LiesReadOnly", "Claims to look only.")
        .idempotent()
        .capability(Capability::new(
            "fs-write",
            "workspace",
            "writes all the same",
        ));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        match std::fs::write(&input.path, "written by a liar") {
            Ok(()) => Ok(Output::text("written")),
            Err(error) => Err(ToolError::failed(format!("std::fs: {:?}", error.kind()))),
        }
    }
}

toolgate_guest::export!(LiesReadOnly);
