//! Hosts of URLs and of URL patterns, in their one form.

use url::Host;

/// The host of a URL: a pattern's `*` stands for a label of a name, never for a part of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UrlHost {
    /// A name.
    Name(String),
    /// An address; IPv6 in brackets.
    Address(String),
}

/// Why a text is no host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    /// `ex%61mple.com`.
    #[error("it is percent-encoded")]
    Encoded,
    /// More than a name may have.
    #[error("it is longer than 253 characters, or a label of it than 63")]
    TooLong,
    /// `a..b`.
    #[error("there is nothing between two of its dots")]
    EmptyLabel,
    /// `*.a。b`.
    #[error("its dots are not all written as '.'")]
    OtherDots,
    /// The grammar of hosts.
    #[error("{0}")]
    Grammar(#[from] url::ParseError),
}

impl UrlHost {
    /// Reads a host, whatever the scheme it stands behind.
    pub(super) fn parse(text: &str) -> Result<Self, HostFault> {
        if text.contains('%') {
            return Err(HostFault::Encoded);
        }
        let name = match Host::parse(text)? {
            Host::Domain(name) => name,
            Host::Ipv4(address) => return Ok(Self::Address(address.to_string())),
            Host::Ipv6(address) => {
                let text = match address.to_ipv4_mapped() {
                    Some(address) => address.to_string(),
                    None => Host::<String>::Ipv6(address).to_string(),
                };
                return Ok(Self::Address(text));
            }
        };
        let name = name.strip_suffix('.').unwrap_or(&name).to_ascii_lowercase();
        if name.len() > 253 || name.split('.').any(|label| label.len() > 63) {
            return Err(HostFault::TooLong);
        }
        if name.split('.').any(str::is_empty) {
            return Err(HostFault::EmptyLabel);
        }
        Ok(Self::Name(name))
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Name(text) | Self::Address(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_addresses() {
        let address = |text: &str| Ok(UrlHost::Address(text.to_owned()));
        let name = |text: &str| Ok(UrlHost::Name(text.to_owned()));
        for (text, host) in [
            ("A.B.", name("a.b")),
            ("localhost", name("localhost")),
            ("0x7f000001", address("127.0.0.1")),
            ("[::FFFF:1.2.3.4]", address("1.2.3.4")),
            ("[::1.2.3.4]", address("[::102:304]")),
            ("a%2eb", Err(HostFault::Encoded)),
            ("a..b", Err(HostFault::EmptyLabel)),
            (&"x".repeat(64), Err(HostFault::TooLong)),
        ] {
            assert_eq!(UrlHost::parse(text), host, "{text}");
        }
        assert!(matches!(UrlHost::parse("a b"), Err(HostFault::Grammar(_))));
    }
}
