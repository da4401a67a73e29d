//! Opens and never closes, and then holds what it has.

use std::fs::File;
use std::time::Duration;

use toolgate_guest::{Capability, Context, Declaration, Output, Tool, ToolError, ToolInput, files};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// What to leak.
    what: What,
    /// The file to open, again and again.
    path: String,
    /// How often.
    times: u32,
    /// How long to hold what could be opened, milliseconds.
    #[input(default = 0)]
    hold_ms: u32,
}

/// What to leak.
#[derive(Debug, ToolInput)]
pub enum What {
    /// Files of the standard library.
    StdFile,
    /// Files of the host's own interface.
    HostFile,
    /// Walks.
    Walker,
    /// Listings of the standard library.
    Listing,
}

/// The tool.
#[derive(Debug)]
pub struct LeaksHandles;

impl Tool for LeaksHandles {
    const DECLARATION: Declaration =
        Declaration::read_only("LeaksHandles", "Opens and never closes.").capability(
            Capability::new("fs-read", "workspace", "opens a file again and again"),
        );
    type Input = Input;

    fn run(input: Input, context: &Context) -> Result<Output, ToolError> {
        let mut failed = None;
        for _ in 0..input.times {
            if let Err(error) = leak(&input) {
                failed = Some(error);
                break;
            }
        }
        context.progress(0, None, "holding");
        std::thread::sleep(Duration::from_millis(input.hold_ms.into()));
        match failed {
            None => Ok(Output::text("all are open")),
            Some(error) => Err(ToolError::failed(error)),
        }
    }
}

fn leak(input: &Input) -> Result<(), String> {
    match input.what {
        What::StdFile => File::open(&input.path)
            .map(std::mem::forget)
            .map_err(|error| error.to_string()),
        What::HostFile => files::open_regular(&input.path)
            .map(std::mem::forget)
            .map_err(|error| error.message),
        What::Listing => std::fs::read_dir(&input.path)
            .map(std::mem::forget)
            .map_err(|error| error.to_string()),
        What::Walker => files::walk(".", &files::Selection::default())
            .map(std::mem::forget)
            .map_err(|error| error.message),
    }
}

toolgate_guest::export!(LeaksHandles);
