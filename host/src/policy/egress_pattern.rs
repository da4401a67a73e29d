//! What an operator opens of the network: URL patterns with methods, and the addresses that they name.

use std::fmt;

use ipnet::IpNet;
use serde::{Serialize, Serializer};

use super::{PatternError, UrlIndex, UrlPattern, UrlPatternError, UrlReadings, UrlSubject};

/// The most methods of an entry, and the most addresses.
const MAX_PARTS: usize = 32;
/// The longest name of a method, bytes.
const MAX_METHOD: usize = 32;

/// One entry of an allow list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EgressAllow {
    /// Every `http` and `https` URL, with any method, at addresses of the public Internet.
    Public,
    /// What a pattern covers.
    Pattern(EgressPattern),
}

impl EgressAllow {
    /// Which URLs it is for, as a declaration names them: a pattern, or `public`.
    pub fn url(&self) -> &str {
        match self {
            Self::Public => "public",
            Self::Pattern(pattern) => pattern.url.text(),
        }
    }
}

impl fmt::Display for EgressAllow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("public"),
            Self::Pattern(pattern) => pattern.fmt(f),
        }
    }
}

impl Serialize for EgressAllow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A URL pattern of scheme `http` or `https`, with the methods it is for and the addresses that it opens.
///
/// An address as the host names that address; `localhost`, and a name that ends in `.localhost`, names the loopback
/// addresses. A name whose addresses are private, or of loopback, reaches them only if they are listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressPattern {
    pub(super) url: UrlPattern,
    /// In upper case; none: every method.
    methods: Vec<String>,
    named: Vec<IpNet>,
}

/// Why an entry opens nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EgressPatternError {
    /// The URL pattern.
    #[error(transparent)]
    Url(#[from] UrlPatternError),
    /// `ssh://`.
    #[error("the pattern '{}' is for another scheme: requests are 'http://' or 'https://'", .0.escape_debug())]
    Scheme(String),
    /// No method.
    #[error("'{}' is no method: write it as in \"GET\"", .0.escape_debug())]
    Method(String),
    /// Methods that make tunnels.
    #[error("the method {0} is never sent: leave it out")]
    NeverSent(String),
    /// Too many.
    #[error("there are more than {MAX_PARTS} methods or addresses in one entry: write several")]
    TooMany,
    /// No address.
    #[error("'{}' is no address and no range of addresses: write it as in \"10.1.0.0/16\"", .0.escape_debug())]
    Address(String),
}

impl EgressPattern {
    /// Reads a pattern that is for every method, and names what its host names.
    ///
    /// # Errors
    /// [`EgressPatternError`].
    pub fn parse(text: &str) -> Result<Self, EgressPatternError> {
        let url = UrlPattern::parse(text)?;
        if url.scheme != "http" && url.scheme != "https" {
            return Err(EgressPatternError::Scheme(text.to_owned()));
        }
        Ok(Self {
            named: named_by(&url.host),
            url,
            methods: Vec::new(),
        })
    }

    /// The same for these methods only.
    ///
    /// # Errors
    /// A text that is no method, or one that is never sent.
    pub fn with_methods<'a>(
        mut self,
        methods: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, EgressPatternError> {
        for method in methods {
            let known = !method.is_empty()
                && method.len() <= MAX_METHOD
                && method
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte == b'-');
            if !known {
                let shown = method.chars().take(MAX_METHOD).collect();
                return Err(EgressPatternError::Method(shown));
            }
            if never_sent(method) {
                return Err(EgressPatternError::NeverSent(method.to_owned()));
            }
            self.methods.push(method.to_owned());
        }
        match self.methods.len() {
            0..=MAX_PARTS => Ok(self),
            _ => Err(EgressPatternError::TooMany),
        }
    }

    /// The same, reaching these addresses or ranges too, where a name leads to them.
    ///
    /// # Errors
    /// A text that is no address.
    pub fn with_addresses<'a>(
        mut self,
        addresses: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, EgressPatternError> {
        for text in addresses {
            let net = text.parse::<IpNet>();
            let net = net.or_else(|_| text.parse().map(|address: std::net::IpAddr| address.into()));
            let wrong = |_: std::net::AddrParseError| {
                EgressPatternError::Address(text.chars().take(64).collect())
            };
            self.named.push(net.map_err(wrong)?);
        }
        match self.named.len() {
            0..=MAX_PARTS => Ok(self),
            _ => Err(EgressPatternError::TooMany),
        }
    }

    fn covers_method(&self, method: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|known| known == method)
    }
}

impl fmt::Display for EgressPattern {
    /// `GET,HEAD https://a.example/** (10.0.0.0/8)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.methods.is_empty() {
            write!(f, "{} ", self.methods.join(","))?;
        }
        f.write_str(self.url.text())?;
        if !self.named.is_empty() {
            let named: Vec<String> = self.named.iter().map(ToString::to_string).collect();
            write!(f, " ({})", named.join(", "))?;
        }
        Ok(())
    }
}

/// Methods that turn a connection into something else, or show what the host put in.
pub(super) fn never_sent(method: &str) -> bool {
    ["CONNECT", "TRACE", "TRACK"]
        .iter()
        .any(|never| method.eq_ignore_ascii_case(never))
}

/// The addresses that a host names by itself.
fn named_by(host: &str) -> Vec<IpNet> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<std::net::IpAddr>() {
        return vec![address.into()];
    }
    if host == "localhost" || host.ends_with(".localhost") {
        let texts = ["127.0.0.0/8", "::1/128"];
        return texts.iter().filter_map(|net| net.parse().ok()).collect();
    }
    Vec::new()
}

/// A list of entries, ready to be asked.
#[derive(Clone, Debug)]
pub struct EgressPatterns {
    public: bool,
    index: UrlIndex,
    patterns: Vec<EgressPattern>,
}

/// What a list says to a URL and a method.
pub(super) enum Opened {
    /// Open, and the addresses beside the public Internet.
    Yes(Vec<IpNet>),
    /// The URL is open, and not for this method.
    OtherMethods,
    /// Nothing covers the URL.
    No,
}

impl EgressPatterns {
    /// Makes the list ready.
    ///
    /// # Errors
    /// The paths of one place are too large to be compiled together.
    pub fn new(entries: impl IntoIterator<Item = EgressAllow>) -> Result<Self, PatternError> {
        let mut public = false;
        let mut patterns = Vec::new();
        for entry in entries {
            match entry {
                EgressAllow::Public => public = true,
                EgressAllow::Pattern(pattern) => patterns.push(pattern),
            }
        }
        let index = UrlIndex::new(
            patterns.iter().map(|pattern| &pattern.url),
            UrlReadings::Every,
        )?;
        Ok(Self {
            public,
            index,
            patterns,
        })
    }

    pub(super) fn judge(&self, url: &UrlSubject, method: &str) -> Opened {
        let matching: Vec<&EgressPattern> = self
            .index
            .matching(url)
            .into_iter()
            .filter_map(|at| self.patterns.get(at))
            .collect();
        let covering = matching
            .iter()
            .filter(|pattern| pattern.covers_method(method));
        let mut named = Vec::new();
        let mut open = self.public;
        for pattern in covering {
            open = true;
            named.extend_from_slice(&pattern.named);
        }
        match (open, matching.is_empty()) {
            (true, _) => Opened::Yes(named),
            (false, false) => Opened::OtherMethods,
            (false, true) => Opened::No,
        }
    }

    /// The entries, one text each.
    pub fn describe(&self) -> Vec<String> {
        let public = self.public.then(|| "the public Internet".to_owned());
        let patterns = self.patterns.iter().map(ToString::to_string);
        public.into_iter().chain(patterns).collect()
    }

    /// The very text of the list, for digests.
    pub(super) fn fingerprint(&self) -> String {
        format!("{} {:?}", self.public, self.patterns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_nothing_is_said() {
        for (text, words) in [
            ("example.com", "does not begin with a scheme"),
            (
                "ftp://example.com/**",
                "requests are 'http://' or 'https://'",
            ),
        ] {
            let error = EgressPattern::parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let pattern = || EgressPattern::parse("https://a.b").unwrap();
        for method in ["", "get", "GET,POST", "G T"] {
            assert!(pattern().with_methods([method]).is_err(), "{method}");
        }
        for method in ["CONNECT", "TRACE"] {
            let error = pattern().with_methods([method]).unwrap_err();
            assert_eq!(error, EgressPatternError::NeverSent(method.to_owned()));
        }
        for address in ["", "10.0.0", "10.0.0.0/33", "example.com"] {
            assert!(pattern().with_addresses([address]).is_err(), "{address}");
        }
    }

    #[test]
    fn methods_and_addresses_belong_to_their_own_entry() {
        let list = EgressPatterns::new([
            EgressAllow::Pattern(
                EgressPattern::parse("https://a.test/**")
                    .unwrap()
                    .with_methods(["GET"])
                    .unwrap(),
            ),
            EgressAllow::Pattern(
                EgressPattern::parse("https://a.test/in/**")
                    .unwrap()
                    .with_methods(["POST"])
                    .unwrap()
                    .with_addresses(["10.0.0.0/8"])
                    .unwrap(),
            ),
            EgressAllow::Pattern(EgressPattern::parse("http://127.0.0.1:81").unwrap()),
            EgressAllow::Pattern(EgressPattern::parse("http://localhost:82").unwrap()),
        ])
        .unwrap();
        let asked =
            |method: &str, url: &str| match list.judge(&UrlSubject::parse(url).unwrap(), method) {
                Opened::Yes(named) => format!("{named:?}"),
                Opened::OtherMethods => "methods".to_owned(),
                Opened::No => "no".to_owned(),
            };
        for (method, url, said) in [
            ("GET", "https://a.test/in/x", "[]"),
            ("POST", "https://a.test/in/x", "[10.0.0.0/8]"),
            ("POST", "https://a.test/x", "methods"),
            ("GET", "https://b.test/", "no"),
            ("GET", "http://127.0.0.1:81/", "[127.0.0.1/32]"),
            ("GET", "http://127.0.0.1/", "no"),
            ("GET", "http://localhost:82/", "[127.0.0.0/8, ::1/128]"),
        ] {
            assert_eq!(asked(method, url), said, "{method} {url}");
        }
    }
}
