//! Stands where the native tool for the network will: the name, the subject and the field of `WebFetch`, and no network. It
//! gives back `fetched: URL`, so that a test sees whether a call was executed.

use toolgate_guest::{Context, Declaration, Output, SubjectKind, Tool, ToolError, ToolInput};

/// The input.
#[derive(Debug, ToolInput)]
pub struct Input {
    /// The URL.
    url: String,
}

/// The tool.
#[derive(Debug)]
pub struct WebFetch;

impl Tool for WebFetch {
    const DECLARATION: Declaration =
        Declaration::read_only("WebFetch", "Gives back the URL that it was given.")
            .open_world()
            .subject(SubjectKind::Url, "url");
    type Input = Input;

    fn run(input: Input, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text(format!("fetched: {}", input.url)))
    }
}

toolgate_guest::export!(WebFetch);
