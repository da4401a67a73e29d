//! URL patterns: the grammar of `WebFetch(…)`, and of what may be dialled.
//!
//! `scheme://host:port/path`, as in `https://*.example.com/docs/**`.
//!
//! - The scheme is written out; a rule for two schemes is two rules.
//! - A `*` in the host is exactly one label of a name, whole: `*.example.com` is `a.example.com`, and neither
//!   `example.com` nor `a.b.example.com`. It is no part of an address. A name in another script and its `xn--` form are
//!   one.
//! - No port is the usual port of the scheme, `:*` is any.
//! - No path is every path; `/` alone is that path. The path is a glob as in path patterns: `*` does not cross `/`, `**`
//!   does, `{a,b}` and `[ab]` choose, `\` takes the next character literally. `/a/**` is what is below `/a/`, not `/a`.
//!   Letter case counts, and it makes no difference whether a character is written with a percent sign.
//! - Queries and fragments are no part of it.

use super::PatternError;
use super::url_glob;
use super::url_host::{HostFault, UrlHost};
use super::url_subject::is_scheme;
use std::fmt;

/// A pattern that URLs are compared with, by a [`UrlIndex`](super::UrlIndex).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    text: String,
    pub(super) scheme: String,
    pub(super) host: String,
    /// Which labels of the host are a `*`, from 0.
    pub(super) stars: Vec<usize>,
    pub(super) port: PortPattern,
    pub(super) path: String,
    /// The path as it is compared with what a lenient server sees.
    pub(super) lenient: String,
}

/// The ports of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PortPattern {
    /// Every port.
    Any,
    /// This port; none for a scheme without a usual port.
    Only(Option<u16>),
}

/// Why a text is no URL pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern '{}' {kind}", .pattern.escape_debug())]
pub struct UrlPatternError {
    /// As written.
    pub pattern: String,
    /// What is wrong.
    pub kind: UrlPatternFault,
}

/// What is wrong with a URL pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlPatternFault {
    /// A blank or a control character.
    #[error("has a blank or a control character in it: write a blank of a path as %20")]
    Blank,
    /// `domain:example.com`.
    #[error("is of another format: write 'https://{0}/**'")]
    Domain(String),
    /// `example.com`.
    #[error("does not begin with a scheme and '://', as in https://example.com/**")]
    NoScheme,
    /// `*://example.com`.
    #[error("has a '*' as its scheme: write one pattern for https and one for http")]
    AnyScheme,
    /// `file://`.
    #[error("is about files: they are judged as paths, by the rules of tools for files")]
    File,
    /// `?` or `#`.
    #[error(
        "has a '?' or '#': queries and fragments play no part in rules, and for one unknown character there is '*'"
    )]
    Query,
    /// `https://user@host`.
    #[error("has an '@' before its path: URLs with a user are refused whatever the rules say")]
    Userinfo,
    /// `https:///x`.
    #[error("has no host between '://' and the path: for hosts of one label write '*'")]
    NoHost,
    /// `**` in the host.
    #[error(
        "has '**' in its host: there, '*' is exactly one label, as in *.example.com and *.*.example.com"
    )]
    ManyLabels,
    /// `a*.example.com`.
    #[error(
        "has a '*' beside other characters in a label of its host: it only stands for a whole label"
    )]
    PartOfLabel,
    /// `127.0.0.*`.
    #[error("has a '*' in an address: write addresses out")]
    StarInAddress,
    /// The host.
    #[error("has a host that is neither a name nor an address: {0}")]
    Host(#[from] HostFault),
    /// The port.
    #[error("has the port '{0}': a port is 1 to 65535, or '*' for all")]
    Port(String),
    /// `/100%`.
    #[error("has a percent sign in its path that begins no '%20' or the like: write '%25'")]
    Percent,
    /// `/a/../b`, `/a//b`.
    #[error(
        "has a segment in its path that is empty, '.' or '..': no URL is compared with such a path"
    )]
    Segment,
    /// `[a/b]`.
    #[error(
        "has a '[…]' with something other than letters, digits, '-', '_', '.', '~' and '!': write '{{a,b}}'"
    )]
    Class,
    /// The glob.
    #[error("has a path that cannot be used: {0}")]
    Path(PatternError),
}

impl UrlPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`UrlPatternError`].
    pub fn parse(text: &str) -> Result<Self, UrlPatternError> {
        parse(text).map_err(|kind| UrlPatternError {
            pattern: text.to_owned(),
            kind,
        })
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for UrlPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn parse(text: &str) -> Result<UrlPattern, UrlPatternFault> {
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(UrlPatternFault::Blank);
    }
    if let Some(host) = text.strip_prefix("domain:") {
        return Err(UrlPatternFault::Domain(host.to_owned()));
    }
    let (scheme, rest) = text.split_once("://").ok_or(UrlPatternFault::NoScheme)?;
    if scheme.contains('*') {
        return Err(UrlPatternFault::AnyScheme);
    }
    if !is_scheme(scheme) {
        return Err(UrlPatternFault::NoScheme);
    }
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "file" {
        return Err(UrlPatternFault::File);
    }
    if rest.contains(['?', '#']) {
        return Err(UrlPatternFault::Query);
    }
    let authority = rest.split('/').next().unwrap_or_default();
    let path = match rest.strip_prefix(authority).unwrap_or_default() {
        "" => "/**",
        path => path,
    };
    if authority.contains('@') {
        return Err(UrlPatternFault::Userinfo);
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => (host, Some(port)),
        Some(_) | None => (authority, None),
    };
    let port = parse_port(&scheme, port)?;
    let (host, stars) = parse_host(host)?;
    let path = url_glob::canonical(path)?;
    let lenient = url_glob::lenient(&path)?;
    Ok(UrlPattern {
        text: text.to_owned(),
        scheme,
        host,
        stars,
        port,
        path,
        lenient,
    })
}

fn parse_port(scheme: &str, port: Option<&str>) -> Result<PortPattern, UrlPatternFault> {
    let wrong = |port: &str| UrlPatternFault::Port(port.to_owned());
    match port {
        None => Ok(PortPattern::Only(usual_port(scheme))),
        Some("*") => Ok(PortPattern::Any),
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => match port.parse() {
            Ok(0) | Err(_) => Err(wrong(port)),
            Ok(number) => Ok(PortPattern::Only(Some(number))),
        },
        Some(port) => Err(wrong(port)),
    }
}

/// The port that a URL of this scheme has where none is written: the parser of URLs is asked, so that both agree.
fn usual_port(scheme: &str) -> Option<u16> {
    url::Url::parse(&format!("{scheme}://x"))
        .ok()
        .and_then(|url| url.port_or_known_default())
}

/// The host in its one form, and which of its labels are a `*`.
fn parse_host(text: &str) -> Result<(String, Vec<usize>), UrlPatternFault> {
    if text.is_empty() {
        return Err(UrlPatternFault::NoHost);
    }
    if !text.contains('*') {
        return Ok((UrlHost::parse(text)?.as_str().to_owned(), Vec::new()));
    }
    if text.contains("**") {
        return Err(UrlPatternFault::ManyLabels);
    }
    let text = text.strip_suffix('.').unwrap_or(text);
    let labels: Vec<&str> = text.split('.').collect();
    if labels
        .iter()
        .any(|label| label.contains('*') && *label != "*")
    {
        return Err(UrlPatternFault::PartOfLabel);
    }
    let is_number = |label: &&&str| {
        let digits = label.bytes().all(|byte| byte.is_ascii_digit());
        digits || label.starts_with("0x") || label.starts_with("0X")
    };
    let written: Vec<&&str> = labels.iter().filter(|label| **label != "*").collect();
    if !written.is_empty() && written.iter().all(is_number) {
        return Err(UrlPatternFault::StarInAddress);
    }
    // A label that every name may have stands in for the star while the rest is brought into its form.
    let host = UrlHost::parse(&text.replace('*', "x"))?;
    let UrlHost::Name(name) = host else {
        return Err(UrlPatternFault::StarInAddress);
    };
    let named: Vec<&str> = name.split('.').collect();
    if named.len() != labels.len() {
        return Err(HostFault::OtherDots.into());
    }
    let starred: Vec<&str> = labels
        .iter()
        .zip(named)
        .map(|(label, name)| if *label == "*" { "*" } else { name })
        .collect();
    let stars = (0..).zip(&starred).filter(|(_, label)| **label == "*");
    let stars = stars.map(|(position, _)| position).collect();
    Ok((starred.join("."), stars))
}

#[cfg(test)]
mod tests {
    use super::super::{UrlIndex, UrlReadings, UrlSubject};
    use super::*;

    fn matches(pattern: &str, url: &str) -> bool {
        let pattern = UrlPattern::parse(pattern).unwrap();
        let subject = UrlSubject::parse(url).unwrap();
        let index = UrlIndex::new([&pattern], UrlReadings::Every).unwrap();
        !index.matching(&subject).is_empty()
    }

    #[test]
    fn names_schemes_and_ports_are_compared() {
        for (pattern, url, expected) in [
            ("https://example.com", "https://example.com/", true),
            ("https://example.com", "https://EXAMPLE.com./a/b?q", true),
            ("HTTPS://Example.COM.", "https://example.com/a", true),
            ("https://example.com", "http://example.com/", false),
            ("https://example.com", "https://example.com:8443/", false),
            ("https://example.com", "https://example.com:443/", true),
            ("https://example.com:443", "https://example.com/", true),
            (
                "https://example.com:8443/api/*",
                "https://example.com:8443/api/x",
                true,
            ),
            ("https://example.com:*", "https://example.com:1/", true),
            ("http://example.com:443", "http://example.com:443/", true),
            ("https://ok.test", "https://notok.test/", false),
            ("https://ok.test", "https://ok.test.evil.example/", false),
            ("https://ok.test", "https://a.ok.test/", false),
        ] {
            assert_eq!(matches(pattern, url), expected, "{pattern} {url}");
        }
    }

    #[test]
    fn a_star_is_one_label() {
        for (pattern, url, expected) in [
            (
                "https://*.example.com/**",
                "https://a.example.com/x/y",
                true,
            ),
            ("https://*.example.com/**", "https://example.com/", false),
            (
                "https://*.example.com/**",
                "https://a.b.example.com/",
                false,
            ),
            ("https://*.*.example.com", "https://a.b.example.com/", true),
            (
                "https://s3.*.example.com",
                "https://s3.eu.example.com/",
                true,
            ),
            (
                "https://s3.*.example.com",
                "https://s4.eu.example.com/",
                false,
            ),
            ("https://*.example.com", "https://aexample.com/", false),
            ("https://*/", "https://localhost/", true),
            ("https://*/", "https://localhost/x", false),
            ("https://*", "https://a.b/", false),
            ("http://*.*.*.*", "http://127.0.0.1/", false),
            ("http://*", "http://[::1]/", false),
            ("http://*.*.*.*", "http://a.b.c.d/", true),
        ] {
            assert_eq!(matches(pattern, url), expected, "{pattern} {url}");
        }
    }

    #[test]
    fn hosts_are_compared_in_their_one_form() {
        for (pattern, url, expected) in [
            ("http://127.0.0.1", "http://2130706433/", true),
            ("http://0x7f.1", "http://127.0.0.1/", true),
            ("http://127.0.0.1", "http://[::ffff:127.0.0.1]/", true),
            ("http://[::FFFF:7f00:1]", "http://127.0.0.1/", true),
            ("http://[0::1]:81/**", "http://[::1]:81/x", true),
            ("http://127.0.0.1", "http://localhost/", false),
            (
                "https://bücher.example",
                "https://xn--bcher-kva.example/",
                true,
            ),
            (
                "https://*.xn--bcher-kva.example",
                "https://a.BÜCHER.example/",
                true,
            ),
            ("https://ok.test", "https://o\u{43a}.test/", false),
            ("ssh://example.com", "ssh://example.com/r", true),
            ("ssh://example.com", "ssh://example.com:22/r", false),
            ("ssh://example.com:*", "ssh://example.com:22/r", true),
            ("ssh://example.com:*", "ssh://example.com/r", true),
            ("wss://example.com", "wss://example.com:443/", true),
        ] {
            assert_eq!(matches(pattern, url), expected, "{pattern} {url}");
        }
    }

    fn all_refused(rows: &[(&[&str], &str)]) {
        for (patterns, words) in rows {
            for pattern in *patterns {
                match UrlPattern::parse(pattern) {
                    Ok(parsed) => panic!("{pattern:?} is {parsed:?}"),
                    Err(error) => assert!(error.to_string().contains(words), "{error}"),
                }
            }
        }
    }

    #[test]
    fn every_way_to_be_wrong_before_the_path_has_its_words() {
        all_refused(&[
            (
                &["", "a.b", "//a.b", "https:a.b", "://a.b", "**", "1s://a.b"][..],
                "does not begin with a scheme",
            ),
            (&["*://a.b", "http*://a.b"], "has a '*' as its scheme"),
            (&["file:///etc", "FILE://a/b"], "is about files"),
            (&["domain:a.b"], "write 'https://a.b/**'"),
            (
                &[
                    " https://a.b",
                    "https://a.b/x y",
                    "https://a.b\n",
                    "https://a\tb",
                ],
                "has a blank or a control character",
            ),
            (&["https://a.b/?q=*", "https://a.b#x"], "has a '?' or '#'"),
            (
                &["https://u@a.b", "https://@a.b", "https://u:p@a.b/"],
                "has an '@'",
            ),
            (&["https://", "https:///x", "https://:80"], "has no host"),
            (&["https://**.a.b", "https://**/"], "has '**' in its host"),
            (
                &["https://a*.b", "https://*a.b", "https://[::*]"],
                "beside other characters in a label",
            ),
            (
                &["https://127.0.0.*", "https://*.0.0.1", "https://0x7f.*"],
                "has a '*' in an address",
            ),
            (
                &[
                    "https://a..b",
                    "https://a%2eb",
                    "https://a\\b",
                    "https://*.a\u{3002}b",
                ],
                "neither a name nor an address",
            ),
            (
                &[
                    "https://a.b:0",
                    "https://a.b:65536",
                    "https://a.b:",
                    "https://a.b:+80",
                ],
                "a port is 1 to 65535",
            ),
        ]);
    }

    #[test]
    fn every_way_to_be_wrong_in_the_path_has_its_words() {
        all_refused(&[
            (
                &["https://a.b/100%", "https://a.b/%4"],
                "has a percent sign",
            ),
            (
                &[
                    "https://a.b/x/../y",
                    "https://a.b/x//y",
                    "https://a.b/x%2F..%2Fy",
                ],
                "has a segment in its path",
            ),
            (&["https://a.b/[a/b]", "https://a.b/[^a]"], "has a '[…]'"),
            (&["https://a.b/x/", "https://a.b/x%2f"], "ends in '/'"),
            (
                &["https://a.b/[a", "https://a.b/{a", "https://a.b/a\\"],
                "is not a glob",
            ),
        ]);
    }
}
