//! `$'…'`: the escapes of ANSI-C quoting, as bash decodes them.

use std::str::Chars;

/// What of `$'…'` is not decoded here.
pub(super) const NOT_DECODED: &str = "an escape in $'…' whose meaning depends on the locale";
/// No closing quote.
pub(super) const UNTERMINATED: &str = "a quotation that does not end";

/// Decodes what follows `$'`, up to and with the closing quote.
///
/// # Errors
/// A phrase for people: no closing quote, or an escape that is no text of its own (NUL, `\c`, bytes that are not UTF-8, a
/// code point that only some locales can hold). The characters are read up to the closing quote all the same.
pub(super) fn decode(chars: &mut Chars<'_>) -> Result<String, &'static str> {
    let mut bytes = Vec::new();
    let mut doubt = false;
    loop {
        match chars.next() {
            None => return Err(UNTERMINATED),
            Some('\'') => break,
            Some('\\') => doubt |= escape(chars, &mut bytes).is_none(),
            Some(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    let text = String::from_utf8(bytes).ok();
    text.filter(|_| !doubt).ok_or(NOT_DECODED)
}

/// Decodes one escape; `None` if it is not understood.
fn escape(chars: &mut Chars<'_>, bytes: &mut Vec<u8>) -> Option<()> {
    let plain = |bytes: &mut Vec<u8>, byte: u8| {
        bytes.push(byte);
        Some(())
    };
    match chars.clone().next()? {
        'a' => plain(bytes, 7),
        'b' => plain(bytes, 8),
        'e' | 'E' => plain(bytes, 0x1b),
        'f' => plain(bytes, 0x0c),
        'n' => plain(bytes, b'\n'),
        'r' => plain(bytes, b'\r'),
        't' => plain(bytes, b'\t'),
        'v' => plain(bytes, 0x0b),
        c @ ('\\' | '\'' | '"' | '?') => plain(bytes, u8::try_from(c).ok()?),
        '0'..='7' => return byte(number(chars, 8, 3)?, bytes),
        'x' => {
            chars.next();
            return match number(chars, 16, 2) {
                Some(value) => byte(value, bytes),
                // `\x{…}` has a reading of its own.
                None if chars.clone().next() == Some('{') => None,
                None => {
                    bytes.extend_from_slice(b"\\x");
                    Some(())
                }
            };
        }
        c @ ('u' | 'U') => {
            chars.next();
            // Beyond ASCII it depends on the locale what bash makes of it.
            let value = number(chars, 16, if c == 'u' { 4 } else { 8 })?;
            return byte(value, bytes).filter(|()| value < 0x80);
        }
        'c' => None,
        c => {
            bytes.push(b'\\');
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            Some(())
        }
    }?;
    chars.next();
    Some(())
}

/// NUL ends a word in bash, and is not text.
fn byte(value: u32, bytes: &mut Vec<u8>) -> Option<()> {
    let value = u8::try_from(value).ok().filter(|value| *value != 0)?;
    bytes.push(value);
    Some(())
}

/// Up to `most` digits; `None` if there is none.
fn number(chars: &mut Chars<'_>, radix: u32, most: usize) -> Option<u32> {
    let mut value = None;
    for _ in 0..most {
        let Some(digit) = chars.clone().next().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        chars.next();
        value = Some(
            value
                .unwrap_or(0_u32)
                .wrapping_mul(radix)
                .wrapping_add(digit),
        );
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Result<String, &'static str> {
        let mut chars = text.chars();
        let decoded = decode(&mut chars);
        if decoded.is_ok() {
            assert_eq!(chars.as_str(), "|", "{text}");
        }
        decoded
    }

    #[test]
    fn escapes_are_decoded_as_bash_decodes_them() {
        for (text, expected) in [
            (r"\x72\x6d'|", "rm"),
            (r"\162\155'|", "rm"),
            (r"\u72\U0000006d'|", "rm"),
            (r"\1623'|", "r3"),
            (r"\x726'|", "r6"),
            (r"\q\x\'\\\?'|", "\\q\\x'\\?"),
            (r"\a\b\e\f\n\r\t\v'|", "\u{7}\u{8}\u{1b}\u{c}\n\r\t\u{b}"),
            (r"\xc3\xa9'|", "é"),
            ("é'|", "é"),
            ("'|", ""),
        ] {
            assert_eq!(decoded(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_text_is_not_guessed() {
        for text in [
            r"a\0b'|",
            r"\x00'|",
            r"\u0'|",
            r"\400'|",
            r"\cx'|",
            r"\xff'|",
            r"\xe9'|",
            r"\u00e9'|",
            r"\x{72}'|",
            r"\u'|",
        ] {
            assert_eq!(decoded(text), Err(NOT_DECODED), "{text}");
        }
        assert_eq!(decoded("abc"), Err(UNTERMINATED));
        assert_eq!(decoded("abc\\"), Err(UNTERMINATED));
        assert_eq!(decoded("abc\\'"), Err(UNTERMINATED));
    }
}
