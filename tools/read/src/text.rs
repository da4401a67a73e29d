//! A text file in pieces, decoded and paged.
//!
//! Guarantees that a byte order mark is never shown and that text in UTF-16 reads like any other. Never opens anything.

use crate::kind::Kind;
use crate::page::{Page, PastEnd};
use crate::utf16::Decoder;

/// The page of a text file, as far as the file was fed.
#[derive(Debug)]
pub struct Text {
    page: Page,
    decoder: Option<Decoder>,
    at_start: bool,
}

impl Text {
    /// At most `limit` lines from line `offset` on, of a file of this kind.
    #[must_use]
    pub fn new(kind: Kind, offset: u32, limit: u32) -> Self {
        let decoder = match kind {
            Kind::Utf16(order) => Some(Decoder::new(order)),
            _ => None,
        };
        Self {
            page: Page::new(offset, limit),
            decoder,
            at_start: true,
        }
    }

    /// The next bytes of the file. The first piece holds three of them or the whole file.
    pub fn feed(&mut self, piece: &[u8]) {
        let at_start = std::mem::take(&mut self.at_start);
        match &mut self.decoder {
            Some(decoder) => self.page.feed(decoder.decode(piece).as_bytes()),
            None if at_start => self
                .page
                .feed(piece.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(piece)),
            None => self.page.feed(piece),
        }
    }

    /// The reply. `complete` says that the whole file was fed.
    ///
    /// # Errors
    ///
    /// [`PastEnd`] if the file has lines, but fewer than the offset.
    pub fn finish(mut self, complete: bool) -> Result<String, PastEnd> {
        let Some(decoder) = self.decoder else {
            return self.page.finish(complete);
        };
        self.page.feed(decoder.finish().as_bytes());
        Ok(format!(
            "{}\n[Decoded from UTF-16.]",
            self.page.finish(complete)?
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::utf16::ByteOrder;

    #[test]
    fn a_byte_order_mark_is_not_shown() {
        let mut text = Text::new(Kind::Text, 1, 2_000);
        text.feed(b"\xEF\xBB\xBFx=1\n");
        text.feed("\u{FEFF}y\n".as_bytes());
        assert_eq!(text.finish(true).unwrap(), "     1\tx=1\n     2\t\u{FEFF}y");
    }

    #[test]
    fn utf16_is_decoded_with_a_note() {
        let mut text = Text::new(Kind::Utf16(ByteOrder::Little), 1, 2_000);
        text.feed(b"\xFF\xFEa\0\r");
        text.feed(b"\0\n\0b\0");
        assert_eq!(
            text.finish(true).unwrap(),
            "     1\ta\n     2\tb\n[Decoded from UTF-16.]"
        );
    }
}
