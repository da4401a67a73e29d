//! Whether the bytes of a picture are a whole picture.
//!
//! Guarantees that a file which only begins like a picture is not handed over as one. Decodes no pixels.

use toolgate_reply::counted;

use crate::kind::Format;

/// Most bytes of a picture that is shown.
pub const MAX_BYTES: usize = 5 << 20;

/// The size of a picture in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pixels {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// Why a picture is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It has more than [`MAX_BYTES`].
    TooLarge {
        /// What it is.
        format: Format,
        /// Its bytes.
        size: u64,
    },
    /// It begins like a picture and is not one as a whole.
    Broken {
        /// What it begins like.
        format: Format,
        /// Its bytes.
        size: u64,
    },
}

impl Refusal {
    /// The sentence for this file.
    #[must_use]
    pub fn about(self, path: &str) -> String {
        match self {
            Refusal::TooLarge { format, size } => {
                let size = counted(size, "byte", "bytes");
                format!(
                    "{path} is an {} file of {size}. Pictures over 5 MiB are not shown.",
                    format.mime()
                )
            }
            Refusal::Broken { format, size } => {
                let (mime, size) = (format.mime(), counted(size, "byte", "bytes"));
                format!(
                    "{path} begins like an {mime} file, but is not a whole one ({size}): damaged, cut short or fake."
                )
            }
        }
    }
}

/// The picture's size, if its header is decodable and its structure is complete.
///
/// # Errors
///
/// A [`Refusal`] otherwise.
pub fn inspect(format: Format, data: &[u8]) -> Result<Pixels, Refusal> {
    let size = data.len() as u64;
    if data.len() > MAX_BYTES {
        return Err(Refusal::TooLarge { format, size });
    }
    let complete = match format {
        Format::Png => png_is_complete(data),
        // The end of the picture is a marker, and cameras append more behind it.
        Format::Jpeg => memchr::memmem::rfind(data, &[0xFF, 0xD9]).is_some(),
        Format::Gif => memchr::memrchr(0x3B, data).is_some_and(|end| end > 13),
        Format::Webp => webp_is_complete(data),
    };
    match imagesize::blob_size(data) {
        Ok(pixels) if complete && pixels.width > 0 && pixels.height > 0 => Ok(Pixels {
            width: pixels.width,
            height: pixels.height,
        }),
        _ => Err(Refusal::Broken { format, size }),
    }
}

/// Walks the chunks: the signature, IHDR first, at least one IDAT, and IEND.
fn png_is_complete(data: &[u8]) -> bool {
    let Some(mut rest) = data.strip_prefix(b"\x89PNG\r\n\x1A\n") else {
        return false;
    };
    let mut first = true;
    let mut has_pixels = false;
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let Some((name, after)) = after.split_first_chunk::<4>() else {
            return false;
        };
        if first && (name != b"IHDR" || length != &[0, 0, 0, 13]) {
            return false;
        }
        if name == b"IEND" {
            return has_pixels && after.len() >= 4;
        }
        first = false;
        has_pixels |= name == b"IDAT";
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        // Behind the content stands a checksum of four bytes.
        let Some(next) = length.checked_add(4).and_then(|end| after.get(end..)) else {
            return false;
        };
        rest = next;
    }
    false
}

/// The container states its length: it must not claim more than there is.
fn webp_is_complete(data: &[u8]) -> bool {
    let stated = data
        .get(4..8)
        .and_then(|length| length.first_chunk::<4>())
        .map(|length| u32::from_le_bytes(*length));
    stated.is_some_and(|length| u64::from(length) + 8 <= data.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x02\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\nIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";
    const GIF: &[u8] =
        b"GIF89a\x03\0\x04\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

    #[test]
    fn a_whole_png() {
        assert_eq!(
            inspect(Format::Png, PNG).ok(),
            Some(Pixels {
                width: 1,
                height: 2
            })
        );
        assert_eq!(
            inspect(Format::Png, &[PNG, b"trailing"].concat()).ok(),
            Some(Pixels {
                width: 1,
                height: 2
            })
        );
    }

    #[test]
    fn a_png_header_followed_by_text() {
        assert_eq!(
            inspect(Format::Png, b"\x89PNG\r\n\x1a\nthis is only text").ok(),
            None
        );
        assert_eq!(
            inspect(
                Format::Png,
                &[PNG.get(..33).unwrap(), b"and then only text, a lot of it"].concat()
            )
            .ok(),
            None
        );
        assert_eq!(inspect(Format::Png, PNG.get(..50).unwrap()).ok(), None);
        assert_eq!(inspect(Format::Png, b"\x89PNG").ok(), None);
    }

    #[test]
    fn a_whole_gif() {
        assert_eq!(
            inspect(Format::Gif, GIF).ok(),
            Some(Pixels {
                width: 3,
                height: 4
            })
        );
        assert_eq!(inspect(Format::Gif, b"GIF89a and text").ok(), None);
    }

    #[test]
    fn a_whole_jpeg() {
        let head = b"\xFF\xD8\xFF\xE0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xFF\xC0\0\x11\x08\0\x05\0\x06\x03\x01\x11\0\x02\x11\0\x03\x11\0";
        assert_eq!(
            inspect(Format::Jpeg, &[&head[..], b"\xFF\xD9"].concat()).ok(),
            Some(Pixels {
                width: 6,
                height: 5
            })
        );
        assert_eq!(inspect(Format::Jpeg, head).ok(), None);
        assert_eq!(
            inspect(Format::Jpeg, b"\xFF\xD8\xFFtext and no more").ok(),
            None
        );
    }

    #[test]
    fn a_whole_webp() {
        let lossless = b"RIFF\x11\0\0\0WEBPVP8L\x05\0\0\0/\0\0\0\0\0";
        let lossless_size = lossless.len() - 8;
        let mut data = lossless.to_vec();
        data[4] = u8::try_from(lossless_size).unwrap();
        assert!(webp_is_complete(&data));
        data[4] += 1;
        assert!(!webp_is_complete(&data));
        assert_eq!(inspect(Format::Webp, b"RIFF\x04\0\0\0WEBP").ok(), None);
    }

    #[test]
    fn the_refusal_says_why() {
        let refusal = inspect(Format::Png, &[0; MAX_BYTES + 1]).unwrap_err();
        assert_eq!(
            refusal.about("/ws/a.png"),
            "/ws/a.png is an image/png file of 5,242,881 bytes. Pictures over 5 MiB are not shown."
        );
        let refusal = inspect(Format::Png, b"\x89PNG and text").unwrap_err();
        assert!(
            refusal
                .about("/ws/a.png")
                .starts_with("/ws/a.png begins like an image/png file, but is not a whole")
        );
    }
}
