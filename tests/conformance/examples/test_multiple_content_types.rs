//! A text, a picture and a resource.

use toolgate_conformance_guests::{Nothing, PIXEL};
use toolgate_guest::{Blob, Context, Declaration, Output, Tool, ToolError};

/// The tool.
#[derive(Debug)]
pub struct MultipleContentTypes;

impl Tool for MultipleContentTypes {
    const DECLARATION: Declaration = Declaration::read_only(
        "test_multiple_content_types",
        "Gives a text, a picture and a resource.",
    );
    type Input = Nothing;

    fn run(_input: Nothing, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::text("Multiple content types test:")
            .with_image("image/png", PIXEL)
            .with_blob(Blob {
                mime: "application/json".to_owned(),
                uri: Some("test://mixed-content-resource".to_owned()),
                data: br#"{"test":"data","value":123}"#.to_vec(),
            }))
    }
}

toolgate_guest::export!(MultipleContentTypes);
