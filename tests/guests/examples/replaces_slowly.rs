//! Replaces a file again and again, until something ends it.

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, files};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The file.
    path: String,
    /// Bytes of each write.
    bytes: u32,
}

/// The tool.
#[derive(Debug)]
pub struct ReplacesSlowly;

impl Tool for ReplacesSlowly {
    const DECLARATION: Declaration =
        Declaration::mutating("ReplacesSlowly", "Writes again and again.")
            .destructive()
            .capability(Capability::new(
                "fs-write",
                "workspace",
                "writes until it is ended",
            ));
    type Input = Input;

    fn run(input: Input, context: &Context) -> Result<Output, ToolError> {
        let mut data = vec![b'a'; input.bytes as usize];
        loop {
            let letter = if data.first() == Some(&b'a') {
                b'b'
            } else {
                b'a'
            };
            data.fill(letter);
            // A write that the deadline refused is tried again: only the end of the guest ends it.
            if files::replace(&input.path, files::Condition::Any, &data).is_ok() {
                context.progress(0, None, "replaced");
            }
        }
    }
}

toolgate_guest::export!(ReplacesSlowly);
