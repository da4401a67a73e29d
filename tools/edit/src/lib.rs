//! The Edit tool: one exact replacement in a file.
//!
//! Guarantees that a file which changed since it was read is not edited, and that what is written are the bytes that
//! were compared. The replacement itself is `toolgate-splice`, which MultiEdit shares.
#![forbid(unsafe_code)]

use toolgate_guest::files::{self, Condition};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput,
};
use toolgate_splice::splice;

/// Most bytes of a file that is edited.
const MAX_BYTES: u32 = 32 << 20;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Path of the file to edit: absolute, or relative to the workspace root.
    file_path: String,
    /// The text to replace, exactly as it stands in the file, without the line numbers that Read shows.
    old_string: String,
    /// The text to put in its place, taken literally.
    new_string: String,
    /// Replace every occurrence. Otherwise old_string must occur exactly once.
    #[input(default = false)]
    replace_all: bool,
}

/// The tool.
#[derive(Debug)]
pub struct Edit;

impl Tool for Edit {
    // Mutating and destructive: the replaced text is gone. Not idempotent: the same edit again fails, or matches what
    // the first one wrote. Not exclusive: two calls conflict only if their subjects do, and a write in between is
    // noticed by the fingerprint.
    const DECLARATION: Declaration = Declaration::mutating(
        "Edit",
        "Replaces text in a file. old_string must match exactly, white space included, and exactly once: give enough \
         of the text around it, or set replace_all. Everything else in the file stays as it is, byte for byte. Fails \
         if the file changed since this session read it. To make several changes to one file, use MultiEdit; to \
         create a file, use Write.",
    )
    .destructive()
    .subject(SubjectKind::Path, "file_path")
    .capability(Capability::new("fs-write", "subject", "reads and replaces the file that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let contents = files::read_all(&input.file_path, MAX_BYTES)?;
        if contents.changed_since_read {
            return Err(ToolError::failed(
                "The file changed since it was read. Read it again before editing.",
            ));
        }
        let edit = toolgate_splice::Edit {
            old: &input.old_string,
            new: &input.new_string,
            all: input.replace_all,
        };
        let spliced = splice(&contents.data, edit)
            .map_err(|refusal| ToolError::failed(refusal.to_string()))?;
        let replaced = files::replace(
            &input.file_path,
            Condition::Matches(contents.fingerprint),
            &spliced.text,
        )?;
        Ok(Output::text(format!(
            "Edited {}. {}",
            replaced.path,
            spliced.summary()
        )))
    }
}

toolgate_guest::export!(Edit);
