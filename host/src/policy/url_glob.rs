//! Globs of the paths of URLs, brought into the spelling that paths of URLs are compared in.

use std::path::Path;
use std::str::Chars;

use super::url_path;
use super::url_pattern::UrlPatternFault;
use super::{PathPattern, PatternError};

/// The glob with every literal character in its one spelling.
pub(super) fn canonical(path: &str) -> Result<String, UrlPatternFault> {
    let mut glob = String::with_capacity(path.len());
    let mut chars = path.chars();
    while let Some(next) = chars.next() {
        match next {
            '/' | '*' | '{' | '}' | ',' => glob.push(next),
            '[' => class(&mut glob, &mut chars)?,
            // A backslash at the end is left for the glob to refuse.
            '\\' => match chars.next() {
                Some(literal) => push_literal(&mut glob, literal),
                None => glob.push('\\'),
            },
            '%' => {
                let rest = chars.as_str();
                let (byte, after) =
                    url_path::escape(b'%', rest.as_bytes()).ok_or(UrlPatternFault::Percent)?;
                chars = rest
                    .get(rest.len() - after.len()..)
                    .unwrap_or_default()
                    .chars();
                push_byte(&mut glob, byte);
            }
            literal => push_literal(&mut glob, literal),
        }
    }
    check(&glob)?;
    Ok(glob)
}

/// The same glob for what a lenient server sees, to whom an encoded slash is a slash.
pub(super) fn lenient(canonical: &str) -> Result<String, UrlPatternFault> {
    let glob = canonical.replace("%2F", "/").replace("%5C", "/");
    check(&glob)?;
    Ok(glob)
}

fn class(glob: &mut String, chars: &mut Chars<'_>) -> Result<(), UrlPatternFault> {
    glob.push('[');
    for next in chars {
        glob.push(next);
        match next {
            ']' => return Ok(()),
            '!' | '-' | '_' | '.' | '~' => {}
            letter if letter.is_ascii_alphanumeric() => {}
            _ => return Err(UrlPatternFault::Class),
        }
    }
    Ok(())
}

fn push_literal(glob: &mut String, literal: char) {
    if literal == '/' {
        glob.push('/');
        return;
    }
    for byte in literal.encode_utf8(&mut [0; 4]).bytes() {
        push_byte(glob, byte);
    }
}

fn push_byte(glob: &mut String, byte: u8) {
    if byte == b'*' || byte == b',' {
        glob.push('\\');
    }
    url_path::push(glob, byte);
}

fn check(path: &str) -> Result<(), UrlPatternFault> {
    if url_path::has_dots(path) || path.contains("//") {
        return Err(UrlPatternFault::Segment);
    }
    match compile(path, false) {
        Ok(_) => Ok(()),
        Err(error) => Err(UrlPatternFault::Path(error)),
    }
}

/// Compiles a glob that [`canonical`] or [`lenient`] gave.
pub(super) fn compile(glob: &str, ignore_case: bool) -> Result<PathPattern, PatternError> {
    PathPattern::compile(glob, Path::new("/"), None, ignore_case)
}

#[cfg(test)]
mod tests {
    use super::super::{UrlIndex, UrlPattern, UrlReadings, UrlSubject};

    fn matches(pattern: &str, url: &str) -> bool {
        let pattern = UrlPattern::parse(pattern).unwrap();
        let subject = UrlSubject::parse(url).unwrap();
        let index = UrlIndex::new([&pattern], UrlReadings::Every).unwrap();
        !index.matching(&subject).is_empty()
    }

    #[test]
    fn the_grammar_of_paths_holds() {
        for (pattern, path, expected) in [
            ("/**", "/", true),
            ("/**", "/a/b/", true),
            ("/", "/", true),
            ("/", "/?q=1", true),
            ("/", "/a", false),
            ("/api/*", "/api/x", true),
            ("/api/*", "/api/x/y", false),
            ("/api/**", "/api/x/y", true),
            ("/api/**", "/api/", true),
            ("/api/**", "/api", false),
            ("/api/**", "/apix", false),
            ("/api", "/api", true),
            ("/api", "/API", false),
            ("/api/**", "/api/../admin", false),
            ("/api/**", "/api/%2e%2e/admin", false),
            ("/api/*", "/api/x%2fy", false),
            ("/api/**", "/api/x%2fy", true),
            ("/api/*", "/api/x%5cy", false),
            ("/a%2Fb", "/a%2fb", true),
            ("/a%2Fb", "/a/b", false),
            ("/a/b", "/a%2fb", false),
            ("/admin/**", "/%61dmin/x", true),
            ("/%61dmin/**", "/admin/x", true),
            ("/ü", "/%c3%bc", true),
            ("/%C3%BC", "/ü", true),
            ("/a%20b", "/a b", true),
            ("/100%25", "/100%25", true),
            ("/100\\%", "/100%25", true),
            ("/f(1).csv", "/f(1).csv", true),
            ("/f(1).csv", "/f%281%29.csv", true),
            ("/f\\[1\\].csv", "/f[1].csv", true),
            ("/f%5B1%5D.csv", "/f[1].csv", true),
            ("/\\{a\\}", "/{a}", true),
            ("/\\*", "/*", true),
            ("/\\*", "/a", false),
            ("/%2A", "/*", true),
            ("/%2A", "/a", false),
            ("/{a,b/c}/x", "/b/c/x", true),
            ("/{a,b}/x", "/c/x", false),
            ("/v[12]/x", "/v2/x", true),
            ("/v[!12]/x", "/v2/x", false),
            ("/v[--9]x", "/v/x", false),
            ("/**/*.png", "/a/b/c.png", true),
            ("/a\\/b", "/a/b", true),
        ] {
            let pattern = format!("https://x{pattern}");
            let url = format!("https://x{path}");
            assert_eq!(matches(&pattern, &url), expected, "{pattern} {url}");
        }
    }
}
