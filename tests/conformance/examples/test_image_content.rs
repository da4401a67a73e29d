//! A picture.

use toolgate_conformance_guests::{Nothing, PIXEL};
use toolgate_guest::{Context, Declaration, Output, Tool, ToolError};

/// The tool.
#[derive(Debug)]
pub struct ImageContent;

impl Tool for ImageContent {
    const DECLARATION: Declaration =
        Declaration::read_only("test_image_content", "Gives a picture.");
    type Input = Nothing;

    fn run(_input: Nothing, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::default().with_image("image/png", PIXEL))
    }
}

toolgate_guest::export!(ImageContent);
