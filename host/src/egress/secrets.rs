//! Secrets: named values that the host puts into requests for exactly one place, and takes out of what comes back.
//!
//! Guarantees that a value goes nowhere but to its own scheme, host and port, and that no guest and no record sees it in
//! the forms in which programs write it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use http::{HeaderMap, HeaderName, HeaderValue};
use tokio::sync::OnceCell;

use super::error::EgressError;
use super::scrub::Scrubber;
use crate::policy::UrlSubject;

/// The longest value, bytes.
const MAX_VALUE: usize = 8 << 10;
/// The shortest: what is shorter would be taken out of ordinary texts.
const MIN_VALUE: usize = 6;

/// Gives the value of a secret, when it is first needed.
#[async_trait]
pub trait SecretSource: Send + Sync {
    /// The value.
    ///
    /// # Errors
    /// There is none: why, in words that hold nothing of it.
    async fn value(&self) -> Result<String, String>;
}

/// A value that is there already.
pub struct FixedSecret(pub String);

#[async_trait]
impl SecretSource for FixedSecret {
    async fn value(&self) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

impl fmt::Debug for FixedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FixedSecret")
    }
}

/// A secret: where it goes, and what gives its value.
pub struct Secret {
    place: Place,
    header: HeaderName,
    prefix: String,
    source: Box<dyn SecretSource>,
    value: OnceCell<Value>,
}

/// Scheme, host and port.
#[derive(Debug, PartialEq, Eq)]
struct Place(String, String, Option<u16>);

struct Value {
    field: HeaderValue,
    scrubber: Arc<Scrubber>,
}

/// Why a secret cannot be used: it stops the start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The place.
    #[error(
        "'url' is not scheme, host and port of one place: write it as in https://api.example.com"
    )]
    Place,
    /// Plain HTTP, which everybody on the way reads.
    #[error(
        "'url' is for http, where everybody on the way reads the secret: only https, and http to this machine, may be"
    )]
    Plain,
    /// The field.
    #[error("'{}' is no header field that a secret can stand in", .0.escape_debug())]
    Header(String),
    /// The prefix.
    #[error("'prefix' holds what cannot stand in a header")]
    Prefix,
}

/// Fields that are the connector's own business, or that change what a body is.
const NO_SECRET: [&str; 11] = [
    "host",
    "connection",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "accept-encoding",
    "expect",
];

impl Secret {
    /// A secret for one place, whose value stands in one header field behind a prefix.
    ///
    /// # Errors
    /// [`SecretError`].
    pub fn new(
        url: &str,
        header: &str,
        prefix: &str,
        source: impl SecretSource + 'static,
    ) -> Result<Self, SecretError> {
        let url = UrlSubject::parse(url).map_err(|_error| SecretError::Place)?;
        if url.path() != "/" || url.url().query().is_some() {
            return Err(SecretError::Place);
        }
        match url.scheme() {
            "https" => {}
            "http" if of_this_machine(url.host()) => {}
            "http" => return Err(SecretError::Plain),
            _ => return Err(SecretError::Place),
        }
        let name: HeaderName = header
            .parse()
            .map_err(|_error| SecretError::Header(header.to_owned()))?;
        if NO_SECRET.contains(&name.as_str()) || name.as_str().starts_with("proxy-") {
            return Err(SecretError::Header(header.to_owned()));
        }
        HeaderValue::from_str(prefix).map_err(|_error| SecretError::Prefix)?;
        Ok(Self {
            place: place(&url),
            header: name,
            prefix: prefix.to_owned(),
            source: Box::new(source),
            value: OnceCell::new(),
        })
    }

    async fn get(&self, name: &str) -> Result<&Value, EgressError> {
        let failed = |what: String| EgressError::Secret {
            name: name.to_owned(),
            what,
        };
        let read = || async {
            let value = self.source.value().await.map_err(failed)?;
            if !(MIN_VALUE..=MAX_VALUE).contains(&value.len()) {
                let what =
                    format!("it is shorter than {MIN_VALUE} or longer than {MAX_VALUE} bytes");
                return Err(failed(what));
            }
            let field = HeaderValue::from_str(&format!("{}{value}", self.prefix));
            let mut field = field
                .map_err(|_error| failed("it holds what cannot stand in a header".to_owned()))?;
            field.set_sensitive(true);
            let scrubber = Scrubber::new(&value)
                .ok_or_else(|| failed("it cannot be looked for".to_owned()))?;
            Ok(Value {
                field,
                scrubber: Arc::new(scrubber),
            })
        };
        self.value.get_or_try_init(read).await
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret")
            .field("place", &self.place)
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

fn of_this_machine(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    let address = bare.parse::<std::net::IpAddr>();
    address.is_ok_and(|address| address.is_loopback())
        || host == "localhost"
        || host.ends_with(".localhost")
}

fn place(url: &UrlSubject) -> Place {
    Place(url.scheme().to_owned(), url.host().to_owned(), url.port())
}

/// The secrets of a host.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Arc<BTreeMap<String, Secret>>);

impl Secrets {
    /// These, by name.
    pub fn new(secrets: BTreeMap<String, Secret>) -> Self {
        Self(Arc::new(secrets))
    }

    /// Whether there is one of this name.
    pub fn exists(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Puts those of these names that are for this place into the fields of a request. Gives their names.
    pub(super) async fn put_in(
        &self,
        names: &[String],
        url: &UrlSubject,
        headers: &mut HeaderMap,
    ) -> Result<Vec<String>, EgressError> {
        let mut put = Vec::new();
        for name in names {
            let Some(secret) = self.0.get(name).filter(|secret| secret.place == place(url)) else {
                continue;
            };
            let value = secret.get(name).await?;
            headers.insert(&secret.header, value.field.clone());
            put.push(name.clone());
        }
        Ok(put)
    }

    /// What takes out all values that have been needed so far.
    pub fn scrubbers(&self) -> Vec<Arc<Scrubber>> {
        let values = self.0.values().filter_map(|secret| secret.value.get());
        values.map(|value| Arc::clone(&value.scrubber)).collect()
    }

    /// A text without the values that have been needed so far.
    pub fn scrubbed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for scrubber in self.scrubbers() {
            text = scrubber.text(&text);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(url: &str, header: &str, prefix: &str) -> Result<Secret, SecretError> {
        Secret::new(url, header, prefix, FixedSecret("VALUE-OF-IT".to_owned()))
    }

    #[test]
    fn a_secret_is_for_one_place_and_one_field() {
        for url in [
            "https://a.b",
            "https://a.b:8443/",
            "http://127.0.0.1:81",
            "http://localhost",
        ] {
            assert!(secret(url, "authorization", "Bearer ").is_ok(), "{url}");
        }
        for (url, header, prefix, error) in [
            ("https://a.b/path", "x", "", SecretError::Place),
            ("https://a.b/?q", "x", "", SecretError::Place),
            ("https://u@a.b", "x", "", SecretError::Place),
            ("a.b", "x", "", SecretError::Place),
            ("ftp://a.b", "x", "", SecretError::Place),
            ("http://a.b", "x", "", SecretError::Plain),
            (
                "https://a.b",
                "host",
                "",
                SecretError::Header("host".to_owned()),
            ),
            (
                "https://a.b",
                "x y",
                "",
                SecretError::Header("x y".to_owned()),
            ),
            ("https://a.b", "x", "a\nb", SecretError::Prefix),
        ] {
            assert_eq!(
                secret(url, header, prefix).unwrap_err(),
                error,
                "{url} {header}"
            );
        }
    }

    #[tokio::test]
    async fn it_goes_to_its_place_and_nowhere_else() {
        let one = secret("https://api.test", "authorization", "Bearer ").unwrap();
        let secrets = Secrets::new([("one".to_owned(), one)].into());
        let names = ["one".to_owned(), "unknown".to_owned()];
        for (url, put) in [
            ("https://api.test/a/b?c", true),
            ("https://API.test.:443/", true),
            ("http://api.test/", false),
            ("https://api.test:8443/", false),
            ("https://evil.api.test/", false),
            ("https://api.test.evil.test/", false),
        ] {
            let url = UrlSubject::parse(url).unwrap();
            let mut headers = HeaderMap::new();
            headers.insert("authorization", HeaderValue::from_static("Bearer guess"));
            let names = secrets.put_in(&names, &url, &mut headers).await.unwrap();
            assert_eq!(!names.is_empty(), put, "{url}");
            let shown = headers["authorization"].to_str().unwrap() == "Bearer VALUE-OF-IT";
            assert_eq!(shown, put, "{url}");
        }
        assert_eq!(secrets.scrubbed("a VALUE-OF-IT b"), "a [secret] b");
        assert!(!format!("{secrets:?}").contains("VALUE"));
    }
}
