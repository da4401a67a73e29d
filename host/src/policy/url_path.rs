//! Spellings of a URL's path: the one that is compared, and the one that a lenient server may see.

/// How often a path may be decoded before it says what it means: more is a disguise.
const MAX_DECODINGS: usize = 4;

/// Why the path of a URL is not judged: different servers would read different places in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    /// `..%2f`, `%252e`, `..;`.
    #[error("hides a '.' or '..' segment behind encoding: write the path without it")]
    HiddenDots,
    /// `%00`, `%0d%0a`.
    #[error("has an encoded control character: leave it out")]
    Control,
    /// Encoded again and again.
    #[error("is encoded more than {MAX_DECODINGS} times over: encode it once")]
    TooDeep,
}

/// The one spelling of a path: characters that need no percent sign have none, all others have one, in upper case. An
/// encoded slash stays encoded, so that it is no separator.
pub(super) fn canonical(path: &str) -> String {
    let mut spelled = String::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'/' {
            spelled.push('/');
        } else if let Some((byte, after)) = escape(*byte, after) {
            push(&mut spelled, byte);
            rest = after;
        } else {
            push(&mut spelled, *byte);
        }
    }
    spelled
}

/// The path as a server may see it that decodes all of it, takes a backslash for a slash and several slashes for one.
pub(super) fn lenient(path: &str) -> Result<String, PathRefusal> {
    let mut bytes = path.as_bytes().to_vec();
    let mut decodings = 0;
    while let Some(decoded) = decode_once(&bytes) {
        bytes = decoded;
        decodings += 1;
        if decodings > MAX_DECODINGS {
            return Err(PathRefusal::TooDeep);
        }
    }
    if bytes.iter().any(u8::is_ascii_control) {
        return Err(PathRefusal::Control);
    }
    let mut spelled = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'/' | b'\\' if spelled.ends_with('/') => {}
            b'/' | b'\\' => spelled.push('/'),
            other => push(&mut spelled, other),
        }
    }
    if has_dots(&spelled) {
        return Err(PathRefusal::HiddenDots);
    }
    Ok(spelled)
}

/// Whether a segment is `.` or `..`, as some servers read it too where parameters follow (`..;x`).
pub(super) fn has_dots(path: &str) -> bool {
    path.split('/').any(|segment| {
        let name = segment.split(';').next().unwrap_or_default();
        name == "." || name == ".."
    })
}

/// Adds one byte of a segment in its one spelling.
pub(super) fn push(spelled: &mut String, byte: u8) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    if is_plain(byte) {
        spelled.push(char::from(byte));
    } else {
        spelled.push('%');
        for digit in [byte >> 4, byte & 15] {
            spelled.extend(HEX.get(usize::from(digit)));
        }
    }
}

/// Whether a byte stands for itself in a segment (RFC 3986, `pchar`).
pub(super) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte)
}

/// The byte that begins here with `%`, and what follows it.
pub(super) fn escape(byte: u8, after: &[u8]) -> Option<(u8, &[u8])> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (b'%', [high, low, rest @ ..]) = (byte, after) else {
        return None;
    };
    let value = digit(high)? * 16 + digit(low)?;
    Some((u8::try_from(value).ok()?, rest))
}

/// The bytes with every escape taken out, if there is one.
fn decode_once(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        let (byte, after) = escape(*byte, after).unwrap_or((*byte, after));
        decoded.push(byte);
        rest = after;
    }
    (decoded.len() < bytes.len()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for (path, spelled) in [
            ("/%61dmin/%7Eu", "/admin/~u"),
            ("/a%2fb", "/a%2Fb"),
            ("/a b|c", "/a%20b%7Cc"),
            ("/100%", "/100%25"),
            ("/%zz", "/%25zz"),
            ("/%28x%29", "/(x)"),
            ("/%c3%bc", "/%C3%BC"),
            ("/%252f", "/%252f"),
        ] {
            assert_eq!(canonical(path), spelled, "{path}");
        }
    }

    #[test]
    fn a_lenient_server_sees_more_slashes() {
        for (path, seen) in [
            ("/a%2fb", "/a/b"),
            ("/a%252Fb", "/a/b"),
            ("/a%5cb", "/a/b"),
            ("//a///b/", "/a/b/"),
            ("/a%2f/b", "/a/b"),
            ("/%25%34%31", "/A"),
            ("/100%", "/100%25"),
        ] {
            assert_eq!(lenient(path).as_deref(), Ok(seen), "{path}");
        }
        for (path, refusal) in [
            ("/a/..%2fb", PathRefusal::HiddenDots),
            ("/a%2f..%2fb", PathRefusal::HiddenDots),
            ("/a/%252e%252e/b", PathRefusal::HiddenDots),
            ("/a/..;/b", PathRefusal::HiddenDots),
            ("/a%5c..%5cb", PathRefusal::HiddenDots),
            ("/a%00", PathRefusal::Control),
            ("/a%250d%250ab", PathRefusal::Control),
            ("/%2525252525252525", PathRefusal::TooDeep),
        ] {
            assert_eq!(lenient(path), Err(refusal), "{path}");
        }
    }
}
