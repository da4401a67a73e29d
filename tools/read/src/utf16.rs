//! UTF-16 with a byte order mark, decoded in pieces to UTF-8.
//!
//! Guarantees that the result does not depend on where the pieces were cut. An unpaired surrogate and an odd last byte
//! become U+FFFD.

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// `FF FE`
    Little,
    /// `FE FF`
    Big,
}

impl ByteOrder {
    /// The order that a file's byte order mark states. The mark of little-endian UTF-32 is none.
    #[must_use]
    pub fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0xFF, 0xFE, 0, 0, ..] => None,
            [0xFF, 0xFE, ..] => Some(ByteOrder::Little),
            [0xFE, 0xFF, ..] => Some(ByteOrder::Big),
            _ => None,
        }
    }
}

/// Decodes the pieces of one file, its mark included.
#[derive(Debug)]
pub struct Decoder {
    order: ByteOrder,
    at_start: bool,
    /// An odd byte at the end of the last piece.
    odd: Option<u8>,
    /// A high surrogate at the end of the last piece.
    high: Option<u16>,
}

impl Decoder {
    /// A decoder at the start of a file.
    #[must_use]
    pub fn new(order: ByteOrder) -> Self {
        Self {
            order,
            at_start: true,
            odd: None,
            high: None,
        }
    }

    /// The text of the next piece.
    pub fn decode(&mut self, piece: &[u8]) -> String {
        let mut bytes = self.odd.take().into_iter().chain(piece.iter().copied());
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        units.reserve(piece.len() / 2 + 1);
        while let Some(first) = bytes.next() {
            let Some(second) = bytes.next() else {
                self.odd = Some(first);
                break;
            };
            units.push(match self.order {
                ByteOrder::Little => u16::from_le_bytes([first, second]),
                ByteOrder::Big => u16::from_be_bytes([first, second]),
            });
        }
        self.high = units.pop_if(|unit| (0xD800..0xDC00).contains(unit));
        let mark = usize::from(self.at_start && units.first() == Some(&0xFEFF));
        self.at_start &= units.is_empty();
        text(units.get(mark..).unwrap_or_default())
    }

    /// What an incomplete character at the end of the file stands for.
    #[must_use]
    pub fn finish(self) -> &'static str {
        if self.odd.is_some() || self.high.is_some() {
            "\u{FFFD}"
        } else {
            ""
        }
    }
}

fn text(units: &[u16]) -> String {
    char::decode_utf16(units.iter().copied())
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8], order: ByteOrder) -> String {
        let decoded = |size: usize| {
            let mut decoder = Decoder::new(order);
            let mut text: String = bytes
                .chunks(size)
                .map(|piece| decoder.decode(piece))
                .collect();
            text.push_str(decoder.finish());
            text
        };
        let whole = decoded(bytes.len().max(1));
        for size in [1, 2, 3, 5] {
            assert_eq!(decoded(size), whole, "pieces of {size} bytes");
        }
        whole
    }

    #[test]
    fn both_orders() {
        let source = "\u{FEFF}grün 😀\r\n";
        let little: Vec<u8> = source.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = source.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&little, ByteOrder::Little), "grün 😀\r\n");
        assert_eq!(decode(&big, ByteOrder::Big), "grün 😀\r\n");
    }

    #[test]
    fn what_does_not_decode_is_replaced() {
        assert_eq!(
            decode(b"\xFF\xFEa\0\x3D\xD8b\0", ByteOrder::Little),
            "a\u{FFFD}b"
        );
        assert_eq!(
            decode(b"\xFF\xFEa\0\x3D\xD8", ByteOrder::Little),
            "a\u{FFFD}"
        );
        assert_eq!(decode(b"\xFF\xFEa\0b", ByteOrder::Little), "a\u{FFFD}");
    }
}
