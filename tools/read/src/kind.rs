//! What a file is, by its bytes and never by its name.
//!
//! Guarantees that bytes which are not text are never shown as text: a file is text in a known encoding, a picture
//! that a model can be shown, or refused with its type. Never opens anything.

use toolgate_reply::counted;

use crate::picture;
use crate::utf16::ByteOrder;

/// Bytes at the start of a file that are searched for a NUL, which no text holds.
pub const HEAD_BYTES: usize = 8 << 10;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No bytes.
    Empty,
    /// UTF-8, or an encoding whose text is bytes without NUL: shown lossily where it is not UTF-8.
    Text,
    /// UTF-16 with a byte order mark.
    Utf16(ByteOrder),
    /// By its first bytes a picture that can be shown.
    Picture(Format),
    /// A known kind that is neither, by its media type.
    Other(&'static str),
    /// Not text, and of no known kind.
    Binary,
}

/// The formats of pictures that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
    /// `image/gif`
    Gif,
    /// `image/webp`
    Webp,
}

impl Format {
    /// The media type.
    #[must_use]
    pub fn mime(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
            Format::Gif => "image/gif",
            Format::Webp => "image/webp",
        }
    }
}

impl Kind {
    /// The kind of the file that begins with `start`. More than [`HEAD_BYTES`] bytes change nothing.
    #[must_use]
    pub fn of(start: &[u8]) -> Self {
        let head = start.get(..HEAD_BYTES).unwrap_or(start);
        if head.is_empty() {
            return Kind::Empty;
        }
        if let Some(format) = picture_format(head) {
            return Kind::Picture(format);
        }
        if head.starts_with(b"%PDF-") {
            return Kind::Other("application/pdf");
        }
        if let Some(order) = ByteOrder::of(head) {
            return Kind::Utf16(order);
        }
        let has_nul = memchr::memchr(0, head).is_some();
        if !has_nul && is_utf8_so_far(head) {
            return Kind::Text;
        }
        match infer::get(head).filter(|kind| kind.matcher_type() != infer::MatcherType::Text) {
            Some(kind) => Kind::Other(media_type(kind.mime_type(), head)),
            None if has_nul => Kind::Binary,
            None => Kind::Text,
        }
    }

    /// Why a file of this kind and size in bytes is not shown as text; none for text.
    #[must_use]
    pub fn refusal(self, path: &str, size: u64) -> Option<String> {
        let what = match self {
            Kind::Empty | Kind::Text | Kind::Utf16(_) => return None,
            Kind::Picture(format) => {
                return Some(picture::Refusal::TooLarge { format, size }.about(path));
            }
            Kind::Other(mime) => format!("of type {mime}"),
            Kind::Binary => "a binary file".to_owned(),
        };
        let bytes = counted(size, "byte", "bytes");
        Some(format!(
            "{path} is {what} ({bytes}). Read shows text, PNG, JPEG, GIF and WebP."
        ))
    }
}

fn picture_format(head: &[u8]) -> Option<Format> {
    if head.starts_with(b"\x89PNG") {
        Some(Format::Png)
    } else if head.starts_with(b"\xFF\xD8\xFF") {
        Some(Format::Jpeg)
    } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
        Some(Format::Gif)
    } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        Some(Format::Webp)
    } else {
        None
    }
}

/// The media type with the brand that people know: `infer` calls the whole family `image/heif`.
fn media_type(mime: &'static str, head: &[u8]) -> &'static str {
    match head.get(8..12) {
        Some(b"heic" | b"heix") if mime == "image/heif" => "image/heic",
        _ => mime,
    }
}

/// Whether the bytes are UTF-8, a character cut at their end aside.
fn is_utf8_so_far(head: &[u8]) -> bool {
    std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        for text in [
            &b"fn main() {}"[..],
            b"BM is how a bitmap begins, and this note too",
            b"MZ",
            b"GIF is a format",
            b"ID3 tags explained",
            b"#!/bin/sh\n",
            b"<?xml version=\"1.0\"?><svg/>",
            b"# Caf\xE9 menu\nprice: 5\n",
            b"\xED\xA0\x80A",
            b"\xEF\xBB\xBFx=1\n",
        ] {
            assert_eq!(
                Kind::of(text),
                Kind::Text,
                "{}",
                String::from_utf8_lossy(text)
            );
        }
        let mut cut = vec![b'a'; HEAD_BYTES - 1];
        cut.extend_from_slice("ü and on".as_bytes());
        assert_eq!(Kind::of(&cut), Kind::Text);
    }

    #[test]
    fn encodings_with_a_mark() {
        assert_eq!(Kind::of(b"\xFF\xFEa\0"), Kind::Utf16(ByteOrder::Little));
        assert_eq!(Kind::of(b"\xFE\xFF\0a"), Kind::Utf16(ByteOrder::Big));
        assert_eq!(
            Kind::of(b"\xFF\xFE\0\0a\0\0\0"),
            Kind::Binary,
            "UTF-32 is not UTF-16"
        );
    }

    #[test]
    fn binaries_are_named() {
        assert_eq!(Kind::of(b"a\0b"), Kind::Binary);
        assert_eq!(
            Kind::of(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"),
            Kind::Other("image/heic")
        );
        assert_eq!(
            Kind::of(b"%PDF-1.7\nplain so far"),
            Kind::Other("application/pdf")
        );
        let elf = [&b"\x7FELF\x02\x01\x01"[..], &[0; 60]].concat();
        assert_eq!(Kind::of(&elf), Kind::Other("application/x-executable"));
        assert_eq!(
            Kind::of(b"\x1F\x8B\x08\x08abc\xFF\xFFxyz"),
            Kind::Other("application/gzip")
        );
        assert_eq!(Kind::of(b""), Kind::Empty);
    }

    #[test]
    fn pictures_by_their_first_bytes() {
        assert_eq!(
            Kind::of(b"\x89PNG\r\n\x1A\nhello"),
            Kind::Picture(Format::Png)
        );
        assert_eq!(Kind::of(b"\xFF\xD8\xFF\xE0"), Kind::Picture(Format::Jpeg));
        assert_eq!(Kind::of(b"GIF89a"), Kind::Picture(Format::Gif));
        assert_eq!(
            Kind::of(b"RIFF\x10\0\0\0WEBPVP8 "),
            Kind::Picture(Format::Webp)
        );
    }

    #[test]
    fn the_refusal_names_the_type_and_the_size() {
        let text = Kind::Other("image/heic")
            .refusal("/ws/a.heic", 1_234)
            .unwrap();
        assert_eq!(
            text,
            "/ws/a.heic is of type image/heic (1,234 bytes). Read shows text, PNG, JPEG, GIF and WebP."
        );
        assert!(
            Kind::Binary
                .refusal("/ws/a", 3)
                .unwrap()
                .contains("is a binary file (3 bytes)")
        );
        assert!(
            Kind::Picture(Format::Png)
                .refusal("/ws/a", 9 << 20)
                .unwrap()
                .contains("over 5 MiB")
        );
        assert_eq!(Kind::Text.refusal("/ws/a", 3), None);
    }
}
