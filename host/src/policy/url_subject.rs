//! URLs that are judged, in the one form in which they are compared and dialled.

use std::fmt;

use url::Url;

use super::url_host::{HostFault, UrlHost};
use super::url_path::{self, PathRefusal};

/// The longest URL that is judged, bytes.
const MAX_URL: usize = 8_192;

/// A URL that can be judged. What is compared, by host, port and path, is what is dialled: a URL that several programs
/// read differently is refused.
///
/// The scheme is any that has a host behind `://`, in lower case. The host is ASCII in lower case (IDN as `xn--…`),
/// without a trailing dot; an address has its one usual form, whatever it was written as (`0x7f.1`, `2130706433`), and an
/// IPv6 address that stands for an IPv4 one is that one. The port is the scheme's own where none is written. `.` and `..`
/// are folded out of the path. Query and fragment are not compared, and are in no message.
#[derive(Clone, PartialEq, Eq)]
pub struct UrlSubject {
    url: Url,
    host: UrlHost,
    port: Option<u16>,
    path: String,
    lenient: String,
}

/// Why a text is no URL that can be judged. Messages hold nothing of the text, which may carry secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlRefusal {
    /// Longer than is judged.
    #[error("the URL is longer than {MAX_URL} bytes: shorten it")]
    TooLong,
    /// Blanks around it, or control characters in it: a parser may leave them out silently.
    #[error(
        "the URL has a blank at its beginning or end, or a control character in it: leave it out"
    )]
    Blank,
    /// `//host/`, `data:x`, `https:host`.
    #[error(
        "the URL does not begin with a scheme and '://': write it whole, as in https://example.com/"
    )]
    NoScheme,
    /// `file://`.
    #[error("a 'file' URL names a file and no host: use a tool that reads files")]
    File,
    /// `https:///x`.
    #[error(
        "the URL has no host between '://' and the path: write it whole, as in https://example.com/"
    )]
    NoHost,
    /// `https://good.example@evil.example/`.
    #[error("the URL has a name or password before an '@': leave it out")]
    Userinfo,
    /// Some programs take it for a slash.
    #[error("the URL has a '\\' before its query: write '/', or %5C where it is part of a name")]
    Backslash,
    /// `https://ex%61mple.com`, `https://a..b`.
    #[error("the host of the URL is neither a name nor an address: {0}")]
    Host(#[from] HostFault),
    /// The grammar of URLs.
    #[error("the URL cannot be read: {0}")]
    Grammar(#[from] url::ParseError),
    /// The path.
    #[error("the path of the URL {0}")]
    Path(#[from] PathRefusal),
}

impl UrlSubject {
    /// Reads a URL.
    ///
    /// # Errors
    /// [`UrlRefusal`]: a call with such a subject is denied.
    pub fn parse(text: &str) -> Result<Self, UrlRefusal> {
        let written = check(text)?;
        let host = UrlHost::parse(written)?;
        let mut url = Url::parse(text)?;
        if url.host_str() != Some(host.as_str()) {
            url.set_host(Some(host.as_str()))?;
        }
        url.set_fragment(None);
        Ok(Self {
            port: url.port_or_known_default(),
            path: rooted(url_path::canonical(url.path())),
            lenient: rooted(url_path::lenient(url.path())?),
            host,
            url,
        })
    }

    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        self.url.scheme()
    }

    /// The host; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        self.host.as_str()
    }

    /// The port; none where none is written and the scheme has no usual one.
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// The path in its one spelling; it begins with `/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is to be dialled, with its query, without its fragment. Not for messages: a query may hold secrets.
    pub fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn url_host(&self) -> &UrlHost {
        &self.host
    }

    /// The path as a lenient server may see it.
    pub(super) fn lenient_path(&self) -> &str {
        &self.lenient
    }
}

impl fmt::Display for UrlSubject {
    /// Without the query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.host())?;
        if let Some(port) = self.url.port() {
            write!(f, ":{port}")?;
        }
        f.write_str(&self.path)
    }
}

impl fmt::Debug for UrlSubject {
    /// Without the query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UrlSubject({self})")
    }
}

/// Refuses what a parser would quietly repair, and gives the host as it is written.
fn check(text: &str) -> Result<&str, UrlRefusal> {
    if text.len() > MAX_URL {
        return Err(UrlRefusal::TooLong);
    }
    if text.trim() != text || text.chars().any(char::is_control) {
        return Err(UrlRefusal::Blank);
    }
    let (scheme, rest) = text.split_once("://").ok_or(UrlRefusal::NoScheme)?;
    if !is_scheme(scheme) {
        return Err(UrlRefusal::NoScheme);
    }
    if scheme.eq_ignore_ascii_case("file") {
        return Err(UrlRefusal::File);
    }
    let before_query = rest.split(['?', '#']).next().unwrap_or_default();
    if before_query.contains('\\') {
        return Err(UrlRefusal::Backslash);
    }
    let authority = before_query.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return Err(UrlRefusal::Userinfo);
    }
    let host = match authority.rsplit_once(':') {
        Some((host, _)) if !authority.ends_with(']') => host,
        Some(_) | None => authority,
    };
    if host.is_empty() {
        return Err(UrlRefusal::NoHost);
    }
    Ok(host)
}

/// Whether this is a scheme: a letter, then letters, digits, `+`, `-` or `.`.
pub(super) fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn rooted(path: String) -> String {
    if path.is_empty() {
        "/".to_owned()
    } else {
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Refused = fn(&UrlRefusal) -> bool;

    fn all_refused(texts: &[(&str, Refused)]) {
        for (text, kind) in texts {
            match UrlSubject::parse(text) {
                Ok(subject) => panic!("{text:?} is {subject}"),
                Err(refusal) => assert!(kind(&refusal), "{text:?}: {refusal:?}"),
            }
        }
    }

    #[test]
    fn every_way_to_write_a_url_is_one_form() {
        for (text, form) in [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://EXAMPLE.com:443/a", "https://example.com/a"),
            ("http://example.com:80", "http://example.com/"),
            ("http://example.com:/", "http://example.com/"),
            ("http://example.com:0443/", "http://example.com:443/"),
            ("http://example.com./x", "http://example.com/x"),
            ("http://localhost.:8080", "http://localhost:8080/"),
            (
                "http://bücher.example/ü",
                "http://xn--bcher-kva.example/%C3%BC",
            ),
            ("http://ok\u{3002}test/", "http://ok.test/"),
            ("http://o\u{43a}.test/", "http://xn--o-ttb.test/"),
            ("http://2130706433/", "http://127.0.0.1/"),
            ("http://0177.0.0.1/", "http://127.0.0.1/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://127.1", "http://127.0.0.1/"),
            ("http://127.0.0.1./", "http://127.0.0.1/"),
            ("http://[::FFFF:127.0.0.1]/", "http://127.0.0.1/"),
            ("http://[::ffff:a9fe:a9fe]:80/", "http://169.254.169.254/"),
            ("http://[0:0::1]:81/", "http://[::1]:81/"),
            ("https://a.b/x/../y/./%2e%2e/z", "https://a.b/z"),
            ("https://a.b/%61dmin", "https://a.b/admin"),
            ("https://a.b/x y", "https://a.b/x%20y"),
            ("https://a.b/x?q=https://u:p@c/#f", "https://a.b/x"),
            ("https://a.b?@evil.example/", "https://a.b/"),
            ("https://a.b#@evil.example/", "https://a.b/"),
            ("wss://A.b/s", "wss://a.b/s"),
            ("ssh://EXAMPLE.com/r.git", "ssh://example.com/r.git"),
            ("ssh://bücher.example", "ssh://xn--bcher-kva.example/"),
            ("redis://0x7f.1:6379", "redis://127.0.0.1:6379/"),
            ("redis://[::ffff:127.0.0.1]:6379", "redis://127.0.0.1:6379/"),
        ] {
            let subject = UrlSubject::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(subject.to_string(), form, "{text}");
            let dialled = subject.url();
            assert_eq!(dialled.host_str(), Some(subject.host()), "{text}");
            assert_eq!(dialled.port_or_known_default(), subject.port(), "{text}");
            let again = UrlSubject::parse(dialled.as_str()).unwrap();
            assert_eq!(again, subject, "{text}");
        }
    }

    #[test]
    fn what_programs_read_differently_is_refused() {
        let userinfo: Refused = |r| matches!(r, UrlRefusal::Userinfo);
        let blank: Refused = |r| matches!(r, UrlRefusal::Blank);
        let scheme: Refused = |r| matches!(r, UrlRefusal::NoScheme);
        let backslash: Refused = |r| matches!(r, UrlRefusal::Backslash);
        let any: Refused = |_| true;
        all_refused(&[
            ("https://good.example@evil.example/", userinfo),
            ("https://good.example:443@evil.example/", userinfo),
            ("https://@evil.example/", userinfo),
            ("http://ok.test\u{ff0f}x@evil.test/", userinfo),
            ("https://user:pa/ss@evil.example/", any),
            ("https://good.example\\@evil.example/", backslash),
            ("https:\\\\evil.example", scheme),
            ("https://evil.example\\.good.example/", backslash),
            ("https://a.b/x\\..\\y", backslash),
            ("ht\ttps://evil.example", blank),
            ("https://evil\n.example/", blank),
            ("https://evil.example/\r\nHost:x", blank),
            (" https://a.b/", blank),
            ("https://a.b/ ", blank),
            ("https://a.b/\u{a0}", blank),
            ("\u{0}https://a.b/", blank),
            ("https:a.b", scheme),
            ("https:/a.b/", scheme),
            ("//ok.test/", scheme),
            ("ok.test/x", scheme),
            ("", scheme),
            ("javascript:1", scheme),
            ("javascript:x://y", scheme),
            ("data:text/html,https://a.b", scheme),
            ("mailto:a@b.c", scheme),
            ("blob:https://a.b/x", scheme),
            ("1http://a.b/", scheme),
        ]);
    }

    #[test]
    fn a_url_without_a_sound_host_and_path_is_refused() {
        let host: Refused = |r| matches!(r, UrlRefusal::Host(_));
        let no_host: Refused = |r| matches!(r, UrlRefusal::NoHost);
        let path: Refused = |r| matches!(r, UrlRefusal::Path(_));
        let any: Refused = |_| true;
        all_refused(&[
            ("file:///etc/passwd", |r| matches!(r, UrlRefusal::File)),
            ("FILE://host/share", |r| matches!(r, UrlRefusal::File)),
            ("http:///x", no_host),
            ("http:////evil.example", no_host),
            ("http://:80/", no_host),
            ("http://?q", no_host),
            ("http://exa mple.test/", any),
            ("http://ok.test:99999/", any),
            ("http://ok.test:8a/", any),
            ("https://ex%61mple.com/", host),
            ("https://evil.example%2f.good.example/", host),
            ("https://evil.example%00.good.example/", any),
            ("https://a..b/", any),
            ("https://a.b../", host),
            ("https://./", host),
            ("https://[::1/", any),
            ("https://[::1%25eth0]/", any),
            ("http://1.2.3.4.5/", any),
            ("http://256.256.256.256/", any),
            ("https://a.b/x/..%2fy", path),
            ("https://a.b/x%2f..%2f..%2fy", path),
            ("https://a.b/x/%252e%252e/y", path),
            ("https://a.b/x/..;/y", path),
            ("https://a.b/%0d%0aHost:x", path),
            ("https://a.b/x%00.png", path),
        ]);
        let long = format!("https://a.b/{}", "x".repeat(MAX_URL));
        assert_eq!(UrlSubject::parse(&long), Err(UrlRefusal::TooLong));
    }

    #[test]
    fn no_message_holds_a_query_or_a_password() {
        for text in [
            "https://u:s3cret@a.b/",
            "https://a.b:99999/?k=s3cret",
            "s3cret",
            "https://a..b/?k=s3cret",
            "https://a.b/..%2f?k=s3cret",
        ] {
            let message = UrlSubject::parse(text).unwrap_err().to_string();
            assert!(!message.contains("s3cret"), "{message}");
        }
        let subject = UrlSubject::parse("https://a.b/x?k=s3cret#s3cret").unwrap();
        assert!(!format!("{subject} {subject:?}").contains("s3cret"));
        assert_eq!(subject.url().as_str(), "https://a.b/x?k=s3cret");
    }
}
