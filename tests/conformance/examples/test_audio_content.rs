//! A sound.

use toolgate_conformance_guests::{Nothing, SILENCE};
use toolgate_guest::{Blob, Context, Declaration, Output, Tool, ToolError};

/// The tool.
#[derive(Debug)]
pub struct AudioContent;

impl Tool for AudioContent {
    const DECLARATION: Declaration = Declaration::read_only("test_audio_content", "Gives a sound.");
    type Input = Nothing;

    fn run(_input: Nothing, _context: &Context) -> Result<Output, ToolError> {
        Ok(Output::default().with_blob(Blob {
            mime: "audio/wav".to_owned(),
            uri: None,
            data: SILENCE.to_vec(),
        }))
    }
}

toolgate_guest::export!(AudioContent);
