//! Bytes to text: the byte order mark decides, then the header, then what the page says of itself, then the bytes.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::media::{Kind, MediaType};

/// Bytes in which a page may say its encoding, as browsers look for it.
const HEAD: usize = 1_024;

/// The text of a body, and the name of its encoding. What cannot be read becomes U+FFFD.
#[must_use]
pub fn decode(media: &MediaType, data: &[u8]) -> (String, &'static str) {
    let (encoding, skip) = encoding(media, data);
    let rest = data.get(skip..).unwrap_or_default();
    let (text, _) = encoding.decode_without_bom_handling(rest);
    (text.into_owned(), encoding.name())
}

fn encoding(media: &MediaType, data: &[u8]) -> (&'static Encoding, usize) {
    if let Some((encoding, length)) = Encoding::for_bom(data) {
        return (encoding, length);
    }
    let named = media.charset.as_deref();
    let named = named.and_then(|name| Encoding::for_label(name.as_bytes()));
    let said = named.or_else(|| match media.kind {
        Kind::Html => said_in_page(data),
        Kind::Text => said_in_xml(data),
        Kind::Picture(_) | Kind::Other => None,
    });
    (said.unwrap_or_else(|| guessed(data)), 0)
}

/// UTF-8 where it is that, or was cut in the middle of a character; otherwise what the web was before.
fn guessed(data: &[u8]) -> &'static Encoding {
    match std::str::from_utf8(data) {
        Ok(_) => UTF_8,
        Err(error) if error.error_len().is_none() => UTF_8,
        Err(_) => WINDOWS_1252,
    }
}

fn head(data: &[u8]) -> String {
    let head = data.get(..HEAD).unwrap_or(data);
    head.iter()
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect()
}

/// `<meta charset=…>`, or the `charset=` of an older `<meta http-equiv=…>`; not one in a comment.
fn said_in_page(data: &[u8]) -> Option<&'static Encoding> {
    let head = head(data);
    let mut rest = head.as_str();
    while let Some(at) = rest.find('<') {
        rest = rest.get(at..)?;
        if rest.starts_with("<!--") {
            rest = rest.get(rest.find("-->")?..)?;
        } else if rest.starts_with("<meta") {
            let tag = rest.get(..rest.find('>')?)?;
            if let Some(encoding) = tag.find("charset").and_then(|at| label(tag.get(at + 7..)?)) {
                return Some(ascii_like(encoding));
            }
            rest = rest.get(tag.len()..)?;
        } else {
            rest = rest.get(1..)?;
        }
    }
    None
}

/// `<?xml … encoding="…"?>`.
fn said_in_xml(data: &[u8]) -> Option<&'static Encoding> {
    let head = head(data);
    let declaration = head.strip_prefix("<?xml")?;
    let declaration = declaration.get(..declaration.find("?>")?)?;
    let at = declaration.find("encoding")?;
    label(declaration.get(at + 8..)?).map(ascii_like)
}

/// What was readable as ASCII up to here is not UTF-16, whatever it says.
fn ascii_like(encoding: &'static Encoding) -> &'static Encoding {
    match encoding == UTF_16LE || encoding == UTF_16BE {
        true => UTF_8,
        false => encoding,
    }
}

/// The encoding behind an equals sign, in quotes or without.
fn label(text: &str) -> Option<&'static Encoding> {
    let text = text.trim_start().strip_prefix('=')?.trim_start();
    let text = text.trim_start_matches(['"', '\'']);
    let end = text
        .find(['"', '\'', ' ', ';', '/', '>'])
        .unwrap_or(text.len());
    Encoding::for_label(text.get(..end)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(header: &str, data: &[u8]) -> (String, &'static str) {
        decode(&MediaType::of(Some(header), data), data)
    }

    #[test]
    fn mark_header_page_and_bytes_decide_in_this_order() {
        let latin = b"<meta charset=iso-8859-1>caf\xe9";
        let utf8 = "<meta charset=windows-1252>café".as_bytes();
        let marked = [
            b"\xef\xbb\xbf".as_slice(),
            "<meta charset=latin1>café".as_bytes(),
        ]
        .concat();
        for (header, data, text, name) in [
            ("text/html", latin.as_slice(), "café", "windows-1252"),
            ("text/html; charset=utf-8", utf8, "café", "UTF-8"),
            (
                "text/html; charset=latin1",
                marked.as_slice(),
                "café",
                "UTF-8",
            ),
            ("text/plain", "café".as_bytes(), "café", "UTF-8"),
            ("text/plain", b"caf\xe9 bar", "café bar", "windows-1252"),
            ("text/plain", b"caf\xc3", "caf\u{fffd}", "UTF-8"),
            (
                "text/plain; charset=koi8-r",
                b"\xf4\xc5\xd3\xd4",
                "Тест",
                "KOI8-R",
            ),
            (
                "text/plain; charset=shift_jis",
                b"\x83e\x83X\x83g",
                "テスト",
                "Shift_JIS",
            ),
            (
                "text/plain; charset=nonsense",
                b"caf\xc3\xa9",
                "café",
                "UTF-8",
            ),
            ("text/plain", b"\xff\xfea\0b\0", "ab", "UTF-16LE"),
            (
                "text/xml",
                b"<?xml version='1.0' encoding='iso-8859-2'?>\xb3",
                "ł",
                "ISO-8859-2",
            ),
        ] {
            let (found, encoding) = decoded(header, data);
            assert!(found.ends_with(text), "{header}: {found}");
            assert_eq!(encoding, name, "{header}");
        }
    }

    #[test]
    fn a_page_may_say_its_encoding_in_several_ways() {
        for (head, name) in [
            ("<META CHARSET='koi8-r'>", "KOI8-R"),
            ("<meta charset = \"koi8-r\" />", "KOI8-R"),
            (
                "<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>",
                "KOI8-R",
            ),
            (
                "<!-- <meta charset=koi8-r> --><meta charset=latin1>",
                "windows-1252",
            ),
            ("<meta charset=utf-16>", "UTF-8"),
            ("<meta name=x><meta charset=koi8-r>", "KOI8-R"),
            ("<!-- <meta charset=koi8-r>", "UTF-8"),
            ("<meta charset", "UTF-8"),
            ("<metadata charset=koi8-r>", "KOI8-R"),
        ] {
            assert_eq!(decoded("text/html", head.as_bytes()).1, name, "{head}");
        }
        let late = format!("{}<meta charset=koi8-r>", " ".repeat(HEAD));
        assert_eq!(decoded("text/html", late.as_bytes()).1, "UTF-8");
    }
}
