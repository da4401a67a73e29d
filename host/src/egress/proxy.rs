//! The operator's proxy. Where one is configured there is no other way out: what it does not connect is a failure.

use std::fmt;
use std::net::SocketAddr;

use base64::Engine as _;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header};
use http_body_util::Empty;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use url::Url;

use super::dial::{Socket, Tasks};
use super::error::{EgressError, short};

/// The largest head of a proxy's answer, bytes.
const MAX_HEAD: usize = 16 << 10;

/// An HTTP proxy that makes tunnels by `CONNECT`.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    host: String,
    port: u16,
    credentials: Option<HeaderValue>,
}

/// Why a text names no proxy. Holds nothing of it, which may carry a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// The grammar.
    #[error("is no URL: write it as in http://proxy.example.com:3128")]
    NoUrl,
    /// `https://`, `socks5://`.
    #[error("is of a kind that is not spoken here: write it as in http://proxy.example.com:3128")]
    Scheme,
    /// A path or a query.
    #[error("has something behind host and port: leave it out")]
    More,
}

impl Proxy {
    /// Reads `http://host:port`, with `user:password@` before the host or without.
    ///
    /// # Errors
    /// [`ProxyError`].
    pub fn parse(text: &str) -> Result<Self, ProxyError> {
        let url = Url::parse(text).map_err(|_error| ProxyError::NoUrl)?;
        if url.scheme() != "http" {
            return Err(ProxyError::Scheme);
        }
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(ProxyError::More);
        }
        let host = url.host_str().ok_or(ProxyError::NoUrl)?;
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: url.port_or_known_default().unwrap_or(80),
            credentials: credentials(&url)?,
        })
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn failed(&self, what: &str) -> EgressError {
        EgressError::Proxy {
            proxy: self.to_string(),
            what: short(what),
        }
    }

    /// A tunnel to exactly this address.
    pub(super) async fn tunnel(
        &self,
        socket: TcpStream,
        target: SocketAddr,
        tasks: &Tasks,
    ) -> Result<Box<dyn Socket>, EgressError> {
        let failed = |error: hyper::Error| self.failed(&error.to_string());
        let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
            .max_header_size(MAX_HEAD)
            .handshake::<_, Empty<Bytes>>(TokioIo::new(socket))
            .await
            .map_err(failed)?;
        tasks.spawn(async move {
            // What breaks here breaks the tunnel, which its reader sees.
            drop(connection.with_upgrades().await);
        });
        let mut request = Request::builder()
            .method(Method::CONNECT)
            .uri(target.to_string())
            .header(header::HOST, target.to_string());
        if let Some(credentials) = &self.credentials {
            request = request.header(header::PROXY_AUTHORIZATION, credentials);
        }
        let request = request
            .body(Empty::new())
            .map_err(|error| self.failed(&error.to_string()))?;
        let response = sender.send_request(request).await.map_err(failed)?;
        if response.status() != StatusCode::OK {
            return Err(self.failed(&format!("it answers {}", response.status())));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(failed)?;
        Ok(Box::new(TokioIo::new(upgraded)))
    }
}

fn credentials(url: &Url) -> Result<Option<HeaderValue>, ProxyError> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let decoded = |text: &str| {
        let decoded = form(text);
        decoded.ok_or(ProxyError::NoUrl)
    };
    let pair = format!(
        "{}:{}",
        decoded(url.username())?,
        decoded(url.password().unwrap_or_default())?
    );
    let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
    let mut value =
        HeaderValue::from_str(&format!("Basic {encoded}")).map_err(|_error| ProxyError::NoUrl)?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// A percent-encoded text, decoded.
fn form(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for Proxy {
    /// Without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "http://[{}]:{}", self.host, self.port),
            false => write!(f, "http://{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Debug for Proxy {
    /// Without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_a_host_and_a_port_and_shows_no_password() {
        let proxy = Proxy::parse("http://user:p%40ss@proxy.test:3128/").unwrap();
        assert_eq!(
            format!("{proxy} {proxy:?}")
                .matches("http://proxy.test:3128")
                .count(),
            2
        );
        assert_eq!(proxy.credentials.unwrap(), "Basic dXNlcjpwQHNz");
        assert_eq!(
            Proxy::parse("http://[::1]:1").unwrap().to_string(),
            "http://[::1]:1"
        );
        for (text, error) in [
            ("proxy.test:3128", ProxyError::Scheme),
            ("https://proxy.test", ProxyError::Scheme),
            ("socks5://proxy.test", ProxyError::Scheme),
            ("", ProxyError::NoUrl),
            ("http://proxy.test/x", ProxyError::More),
        ] {
            assert_eq!(Proxy::parse(text).unwrap_err(), error, "{text}");
        }
    }
}
