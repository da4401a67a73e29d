//! A resource inside of the result.

use toolgate_conformance_guests::Nothing;
use toolgate_guest::{Blob, Context, Declaration, Output, Tool, ToolError};

/// The tool.
#[derive(Debug)]
pub struct EmbeddedResource;

impl Tool for EmbeddedResource {
    const DECLARATION: Declaration =
        Declaration::read_only("test_embedded_resource", "Gives a resource.");
    type Input = Nothing;

    fn run(_input: Nothing, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::default().with_blob(Blob {
            mime: "text/plain".to_owned(),
            uri: Some("test://embedded-resource".to_owned()),
            data: b"This is an embedded resource content.".to_vec(),
        }))
    }
}

toolgate_guest::export!(EmbeddedResource);
