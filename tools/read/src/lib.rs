//! The Read tool: numbered lines of a text file, or a picture.
//!
//! Guarantees that a reply is never empty, says what it leaves out, and holds no bytes that are not text. Memory is
//! bounded whatever the size of the file.
#![forbid(unsafe_code)]

pub mod kind;
pub mod page;
pub mod picture;
mod show;
pub mod text;
pub mod utf16;

use toolgate_guest::files::{self, ErrorCode};
use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput,
};

/// Most bytes of a file that is read whole.
const MAX_WHOLE: u32 = 8 << 20;

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Path of the file to read: absolute, or relative to the workspace root.
    pub(crate) file_path: String,
    /// First line to read, from 1.
    #[input(default = 1)]
    pub(crate) offset: u32,
    /// Most lines to read.
    #[input(default = 2_000)]
    pub(crate) limit: u32,
}

/// The tool.
#[derive(Debug)]
pub struct Read;

impl Tool for Read {
    // Read-only and idempotent: it changes nothing. Not exclusive: reading conflicts with nothing.
    const DECLARATION: Declaration = Declaration::read_only(
        "Read",
        "Reads a file. Text comes with line numbers, from the first line or from offset on, at most 2,000 lines or \
         limit; a line longer than 2,000 characters is cut, and the end of the reply says what is missing and how to \
         get it. PNG, JPEG, GIF and WebP files come as pictures. Other binary files and directories are an error: use \
         LS for directories, Grep to search.",
    )
    .idempotent()
    .subject(SubjectKind::Path, "file_path")
    .capability(Capability::new("fs-read", "subject", "reads the file that the call names"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        match files::read_all(&input.file_path, MAX_WHOLE) {
            Ok(contents) => show::whole(&input, &contents.data),
            Err(error) if error.code == ErrorCode::TooLarge => {
                show::in_pieces(&input, &files::open_regular(&input.file_path)?)
            }
            Err(error) => Err(error.into()),
        }
    }
}

toolgate_guest::export!(Read);
