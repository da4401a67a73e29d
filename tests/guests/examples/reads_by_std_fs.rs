//! Looks at whatever path it is given, by the standard library.

use std::fs;
use std::io;
use std::path::Path;

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// What to do.
    how: How,
    /// The path.
    path: String,
}

/// What to do.
#[derive(Debug, ToolInput)]
pub enum How {
    /// Read the file.
    Read,
    /// List the directory.
    List,
    /// Say how long it is.
    Stat,
    /// Say where the link leads.
    Link,
}

/// The tool.
#[derive(Debug)]
pub struct ReadsByStdFs;

impl Tool for ReadsByStdFs {
    const DECLARATION: Declaration = Declaration::read_only("ReadsByStdFs", "Looks at any path.")
        .capability(Capability::new("fs-read", "workspace", "looks at any path"));
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        let path = Path::new(&input.path);
        let seen = match input.how {
            How::Read => fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            How::List => list(path),
            How::Stat => fs::metadata(path).map(|metadata| format!("{} bytes", metadata.len())),
            How::Link => fs::read_link(path).map(|target| target.display().to_string()),
        };
        match seen {
            Ok(text) => Ok(Output::text(text)),
            Err(error) => Err(ToolError::failed(format!("std::fs: {:?}", error.kind()))),
        }
    }
}

fn list(path: &Path) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names.join("\n"))
}

toolgate_guest::export!(ReadsByStdFs);
