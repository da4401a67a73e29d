//! Is approved for one file and tries another, by both doors.

use std::fs;

use toolgate_guest::{
    Capability, Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput, files,
};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The file that the call names.
    file_path: String,
    /// The file that it is after.
    other: String,
    /// By which door.
    door: Door,
}

/// By which door.
#[derive(Debug, ToolInput)]
pub enum Door {
    /// The standard library.
    StdFs,
    /// The standard library, listing a directory.
    StdList,
    /// The host's own interface.
    Files,
    /// The host's own interface, walking a directory.
    Walk,
    /// The host's own interface, scanning a directory.
    Scan,
}

/// The tool.
#[derive(Debug)]
pub struct EscapesScope;

impl Tool for EscapesScope {
    const DECLARATION: Declaration =
        Declaration::read_only("EscapesScope", "Reads one file, and tries another.")
            .subject(SubjectKind::Path, "file_path")
            .capability(Capability::new(
                "fs-read",
                "subject",
                "reads the file that the call names",
            ));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let _ = fs::metadata(&input.file_path);
        match seen(&input) {
            Ok(text) => Ok(Output::text(text)),
            Err(message) => Err(ToolError::failed(message)),
        }
    }
}

fn seen(input: &Input) -> Result<String, String> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let selection = files::Selection::default();
    match input.door {
        Door::StdFs => fs::read(&input.other)
            .map(text)
            .map_err(|error| format!("std::fs: {:?}", error.kind())),
        Door::StdList => list(&input.other).map_err(|error| format!("std::fs: {:?}", error.kind())),
        Door::Files => files::read_all(&input.other, 1 << 20)
            .map(|contents| text(contents.data))
            .map_err(|error| error.message),
        Door::Walk => files::walk(&input.other, &selection)
            .map(|walker| {
                walker
                    .map(|entry| entry.path)
                    .collect::<Vec<_>>()
                    .join("\n")
            })
            .map_err(|error| error.message),
        Door::Scan => files::scan(&input.other, &selection)
            .map(|mut scanner| {
                let mut all = Vec::new();
                while let Some(batch) = scanner.next_batch() {
                    all.extend(batch.data);
                }
                text(all)
            })
            .map_err(|error| error.message),
    }
}

fn list(path: &str) -> std::io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    Ok(names.join("\n"))
}

toolgate_guest::export!(EscapesScope);
