//! The MultiEdit tool: several exact replacements in a file, all or none.
//!
//! Guarantees that the file is written once, after the last edit applied, and not at all if one failed; that a file
//! which changed since it was read is not edited. The replacement itself is `toolgate-splice`, which Edit shares.
#![forbid(unsafe_code)]

use toolgate_guest::files::{self, Condition};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput,
};
use toolgate_splice::splice_all;

/// Most bytes of a file that is edited.
const MAX_BYTES: u32 = 32 << 20;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Path of the file to edit: absolute, or relative to the workspace root.
    file_path: String,
    /// The edits, in the order in which they apply. Each sees the result of those before it.
    edits: Vec<Replacement>,
}

/// One edit.
#[derive(Debug, ToolInput)]
pub struct Replacement {
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
pub struct MultiEdit;

impl Tool for MultiEdit {
    // Mutating and destructive: the replaced text is gone. Not idempotent: the same edits again fail, or match what the
    // first call wrote. Not exclusive: two calls conflict only if their subjects do, and a write in between is noticed
    // by the fingerprint.
    const DECLARATION: Declaration = Declaration::mutating(
        "MultiEdit",
        "Makes several replacements in one file, in order, all or none: if one of them fails, the file stays as it \
         was and the reply names the edit. Each old_string must match exactly, white space included, and exactly once \
         in the result of the edits before it, or the edit sets replace_all. Everything else in the file stays as it \
         is, byte for byte. Fails if the file changed since this session read it.",
    )
    .destructive()
    .subject(SubjectKind::Path, "file_path")
    .capability(Capability::new("fs-write", "subject", "reads and replaces the file that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        if input.edits.is_empty() {
            return Err(ToolError::invalid_input(
                "Parameter 'edits' must hold at least one edit. Nothing was changed.",
            ));
        }
        let contents = files::read_all(&input.file_path, MAX_BYTES)?;
        if contents.changed_since_read {
            return Err(ToolError::failed(
                "The file changed since it was read. Read it again before editing.",
            ));
        }
        let edits: Vec<_> = input.edits.iter().map(edit).collect();
        let (text, summary) = splice_all(&contents.data, &edits)
            .map_err(|failed| ToolError::failed(failed.to_string()))?;
        let replaced = files::replace(
            &input.file_path,
            Condition::Matches(contents.fingerprint),
            &text,
        )?;
        Ok(Output::text(format!(
            "Edited {}.\n{summary}",
            replaced.path
        )))
    }
}

fn edit(replacement: &Replacement) -> toolgate_splice::Edit<'_> {
    toolgate_splice::Edit {
        old: &replacement.old_string,
        new: &replacement.new_string,
        all: replacement.replace_all,
    }
}

toolgate_guest::export!(MultiEdit);
