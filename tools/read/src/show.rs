//! The reply for an opened file, read whole or in pieces.

use toolgate_guest::files::File;
use toolgate_guest::{Output, ToolError};

use crate::Input;
use crate::kind::Kind;
use crate::picture;
use crate::text::Text;

/// Bytes of a piece of a larger file.
const PIECE: u32 = 1 << 20;

/// Bytes after which lines are no longer counted.
const MAX_COUNTED: u64 = 256 << 20;

/// The reply for the whole bytes of a file.
pub(crate) fn whole(input: &Input, data: &[u8]) -> Result<Output, ToolError> {
    let kind = Kind::of(data);
    if let Kind::Picture(format) = kind {
        let size = picture::inspect(format, data)
            .map_err(|refusal| ToolError::failed(refusal.about(&input.file_path)))?;
        let note = format!(
            "[{}, {} × {} pixels]",
            format.mime(),
            size.width,
            size.height
        );
        return Ok(Output::text(note).with_image(format.mime(), data));
    }
    if kind == Kind::Empty {
        return Ok(Output::text("[The file is empty (0 bytes).]"));
    }
    refuse(kind, input, data.len() as u64)?;
    let mut text = Text::new(kind, input.offset, input.limit);
    text.feed(data);
    Ok(Output::text(
        text.finish(true)
            .map_err(|error| ToolError::failed(error.to_string()))?,
    ))
}

/// The reply for a file that is too large to be read whole.
pub(crate) fn in_pieces(input: &Input, file: &File) -> Result<Output, ToolError> {
    let mut piece = file.read(0, PIECE)?;
    let kind = Kind::of(&piece);
    refuse(kind, input, file.info().size)?;
    let mut text = Text::new(kind, input.offset, input.limit);
    let mut position = 0;
    while !piece.is_empty() && position < MAX_COUNTED {
        text.feed(&piece);
        position += piece.len() as u64;
        piece = file.read(position, PIECE)?;
    }
    Ok(Output::text(
        text.finish(piece.is_empty())
            .map_err(|error| ToolError::failed(error.to_string()))?,
    ))
}

/// Refuses what is not text. A picture gets here only where the file is too large for one.
fn refuse(kind: Kind, input: &Input, size: u64) -> Result<(), ToolError> {
    kind.refusal(&input.file_path, size)
        .map_or(Ok(()), |sentence| Err(ToolError::failed(sentence)))
}
