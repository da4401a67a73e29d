//! Counts the words of a text file.
#![forbid(unsafe_code)]

use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput, files,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// Path of the file to count.
    file_path: String,
    /// What to count.
    #[input(default = Unit::Words)]
    unit: Unit,
}

/// What to count.
#[derive(Debug, ToolInput)]
pub enum Unit {
    /// Runs of anything but white space.
    Words,
    /// Lines, the last one also without a line feed.
    Lines,
}

/// The tool.
#[derive(Debug)]
pub struct WordCount;

impl Tool for WordCount {
    const DECLARATION: Declaration =
        Declaration::read_only("WordCount", "Counts the words or lines of a text file.")
            .idempotent()
            .subject(SubjectKind::Path, "file_path")
            .capability(Capability::new(
                "fs-read",
                "subject",
                "reads the file that it counts",
            ));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let contents = files::read_all(&input.file_path, 16 << 20)?;
        let text = String::from_utf8_lossy(&contents.data);
        let count = match input.unit {
            Unit::Words => text.split_whitespace().count(),
            Unit::Lines => text.lines().count(),
        };
        Ok(Output::text(format!("{count} found")))
    }
}

toolgate_guest::export!(WordCount);
