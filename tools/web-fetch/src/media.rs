//! What a body is: by what the server says, and by its first bytes where it says nothing.

/// What a request says it can read.
pub const ACCEPT: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/*;q=0.8, application/json;q=0.8, \
                          image/png;q=0.5, image/jpeg;q=0.5, image/webp;q=0.5, image/gif;q=0.5, */*;q=0.1";

/// How a body can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page, which becomes Markdown.
    Html,
    /// Text as it is.
    Text,
    /// A picture of this type.
    Picture(&'static str),
    /// Nothing that can be shown.
    Other,
}

/// The type of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// Such as `text/html`, in lower case, without parameters; empty where the server said none.
    pub name: String,
    /// The parameter `charset`.
    pub charset: Option<String>,
    /// What it means.
    pub kind: Kind,
}

/// The longest type that is repeated, characters.
const MAX_NAME: usize = 100;

/// The pictures that a model sees, by how they begin. A WebP file has its mark behind four bytes of length.
const PICTURES: [(&str, &[u8]); 4] = [
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF8"),
    ("image/webp", b"RIFF"),
];

/// Types that are text under another name.
const TEXT_NAMES: [&str; 12] = [
    "application/json",
    "application/xml",
    "application/javascript",
    "application/ecmascript",
    "application/x-javascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-sh",
    "application/sql",
    "application/x-ndjson",
    "application/graphql",
];

impl MediaType {
    /// The type of a body: by its header, or by its bytes where that is missing or says nothing.
    #[must_use]
    pub fn of(header: Option<&str>, data: &[u8]) -> Self {
        let header = header.unwrap_or_default();
        let (name, parameters) = header.split_once(';').unwrap_or((header, ""));
        let name: String = name
            .trim()
            .to_ascii_lowercase()
            .chars()
            .take(MAX_NAME)
            .collect();
        let is_type = |c: char| c.is_ascii_alphanumeric() || "/+-._*".contains(c);
        let name = match name.chars().all(is_type) {
            true => name,
            false => String::new(),
        };
        Self {
            kind: kind(&name, data),
            charset: charset(parameters),
            name,
        }
    }
}

fn charset(parameters: &str) -> Option<String> {
    parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        let named = name.trim().eq_ignore_ascii_case("charset") && !value.is_empty();
        named.then(|| value.to_owned())
    })
}

fn kind(name: &str, data: &[u8]) -> Kind {
    match name {
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "" | "application/octet-stream" | "application/unknown" | "unknown/unknown" | "*/*" => {
            sniffed(data)
        }
        "image/svg+xml" => Kind::Text,
        // What the bytes are, whatever the server calls them.
        _ if name.starts_with("image/") => picture(data).map_or(Kind::Other, Kind::Picture),
        _ if name.starts_with("text/") || TEXT_NAMES.contains(&name) => Kind::Text,
        _ if name.ends_with("+json") || name.ends_with("+xml") || name.ends_with("+yaml") => {
            Kind::Text
        }
        _ => Kind::Other,
    }
}

fn picture(data: &[u8]) -> Option<&'static str> {
    let (name, _) = PICTURES.iter().find(|(_, begin)| data.starts_with(begin))?;
    let webp = *name == "image/webp";
    (!webp || data.get(8..12) == Some(b"WEBP")).then_some(*name)
}

fn sniffed(data: &[u8]) -> Kind {
    if let Some(name) = picture(data) {
        return Kind::Picture(name);
    }
    let begin = data.get(..512).unwrap_or(data);
    let utf16 = begin.starts_with(b"\xff\xfe") || begin.starts_with(b"\xfe\xff");
    if begin.contains(&0) && !utf16 {
        return Kind::Other;
    }
    let begin = String::from_utf8_lossy(begin).to_ascii_lowercase();
    let begin = begin.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if begin.starts_with("<!doctype html") || begin.starts_with("<html") {
        return Kind::Html;
    }
    let binary = ["%pdf-", "pk\u{3}\u{4}", "\u{1f}"];
    match binary.iter().any(|mark| begin.starts_with(mark)) {
        true => Kind::Other,
        false => Kind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(header: Option<&str>, data: &[u8]) -> Kind {
        MediaType::of(header, data).kind
    }

    #[test]
    fn the_header_decides_where_it_says_something() {
        for (header, kind) in [
            ("text/html; charset=utf-8", Kind::Html),
            ("TEXT/HTML", Kind::Html),
            ("application/xhtml+xml", Kind::Html),
            ("text/plain", Kind::Text),
            ("text/markdown", Kind::Text),
            ("application/json", Kind::Text),
            ("application/ld+json", Kind::Text),
            ("application/rss+xml", Kind::Text),
            ("image/svg+xml", Kind::Text),
            ("application/pdf", Kind::Other),
            ("application/zip", Kind::Other),
            ("video/mp4", Kind::Other),
            ("image/png", Kind::Other),
        ] {
            assert_eq!(kind_of(Some(header), b"<html>"), kind, "{header}");
        }
    }

    #[test]
    fn bytes_decide_where_the_header_says_nothing() {
        for (data, kind) in [
            (&b"\xef\xbb\xbf <!DOCTYPE HTML>"[..], Kind::Html),
            (b"\n<html lang=en>", Kind::Html),
            (b"plain", Kind::Text),
            (b"", Kind::Text),
            (b"a\0b", Kind::Other),
            (b"%PDF-1.7", Kind::Other),
            (b"PK\x03\x04", Kind::Other),
            (b"\x89PNG\r\n\x1a\nx", Kind::Picture("image/png")),
            (b"RIFFxxxxWEBPx", Kind::Picture("image/webp")),
            (b"RIFFxxxxWAVEx", Kind::Text),
        ] {
            assert_eq!(kind_of(None, data), kind, "{data:?}");
            assert_eq!(
                kind_of(Some("application/octet-stream"), data),
                kind,
                "{data:?}"
            );
        }
    }

    #[test]
    fn a_picture_is_what_its_bytes_are() {
        assert_eq!(
            kind_of(Some("image/png"), b"\xff\xd8\xff\xe0"),
            Kind::Picture("image/jpeg")
        );
        assert_eq!(kind_of(Some("image/png"), b"<script>"), Kind::Other);
    }

    #[test]
    fn parameters_are_read_and_names_are_kept_harmless() {
        let of = |header: &str| MediaType::of(Some(header), b"");
        assert_eq!(
            of("text/html; a=b; Charset=\"ISO-8859-1\"")
                .charset
                .as_deref(),
            Some("ISO-8859-1")
        );
        assert_eq!(of("text/html; charset=").charset, None);
        assert_eq!(of("text/ht\u{1b}ml").name, "");
        assert_eq!(of(&"x".repeat(1_000)).name.len(), MAX_NAME);
    }
}
