//! Replaces a file by 40 MB, and dies without answering.

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, files};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The file.
    path: String,
}

/// The tool.
#[derive(Debug)]
pub struct DiesReplacing;

impl Tool for DiesReplacing {
    const DECLARATION: Declaration = Declaration::mutating("DiesReplacing", "Writes and dies.")
        .destructive()
        .capability(Capability::new(
            "fs-write",
            "workspace",
            "writes before it dies",
        ));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let data = vec![b'n'; 40_000_000];
        let replaced = files::replace(&input.path, files::Condition::Any, &data);
        panic!("dies after {:?}", replaced.map(|replaced| replaced.created));
    }
}

toolgate_guest::export!(DiesReplacing);
