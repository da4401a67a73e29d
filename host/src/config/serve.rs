//! The table `[serve]`: how tools are served to MCP clients.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::ConfigError;
use super::keep::keep;
use super::reading::Reading;
use super::settings::Config;
use super::source::Sourced;

/// The least and the most that a time may be, milliseconds.
const TIMES: std::ops::RangeInclusive<u64> = 100..=86_400_000;
/// The least and the most that a number of calls or sessions may be.
const COUNTS: std::ops::RangeInclusive<u64> = 1..=10_000;

/// Serving over MCP.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Serve {
    /// A file with the tokens that open the door over HTTP, one a line, which only its owner may read. Blank lines and lines
    /// that begin with '#' are none.
    #[schemars(with = "Option<PathBuf>")]
    token_file: Option<Spanned<PathBuf>>,
    /// The environment variable that holds such a token.
    #[schemars(with = "Option<String>")]
    token_env: Option<Spanned<String>>,
    /// Names ("host" or "host:port") under which the server may be addressed over HTTP, beside its own address.
    #[schemars(with = "Vec<String>")]
    allowed_hosts: Vec<Spanned<String>>,
    /// Origins ("https://app.example.com:443") of web pages that may call, beside those of loopback.
    #[schemars(with = "Vec<String>")]
    allowed_origins: Vec<Spanned<String>>,
    /// Milliseconds that the person at a client may take to answer, 100 to 86,400,000. Default 120,000.
    #[schemars(with = "Option<u64>")]
    approval_timeout_ms: Option<Spanned<u64>>,
    /// Milliseconds that a session over HTTP lives without a message, 100 to 86,400,000. Default 1,800,000.
    #[schemars(with = "Option<u64>")]
    session_idle_ms: Option<Spanned<u64>>,
    /// Calls that run at once, 1 to 10,000; more wait. Default 256.
    #[schemars(with = "Option<u64>")]
    max_calls: Option<Spanned<u64>>,
    /// Sessions over HTTP at once, 1 to 10,000. Default 100.
    #[schemars(with = "Option<u64>")]
    max_sessions: Option<Spanned<u64>>,
}

/// How tools are served to MCP clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServeSetting {
    /// A file with tokens, one a line.
    pub token_file: Option<Sourced<PathBuf>>,
    /// The environment variable that holds a token.
    pub token_env: Option<Sourced<String>>,
    /// Further names of the server.
    pub allowed_hosts: Vec<Sourced<String>>,
    /// Further origins of pages that may call.
    pub allowed_origins: Vec<Sourced<String>>,
    /// Milliseconds for an answer.
    pub approval_timeout_ms: Option<Sourced<u64>>,
    /// Milliseconds that a session may be idle.
    pub session_idle_ms: Option<Sourced<u64>>,
    /// Calls at once.
    pub max_calls: Option<Sourced<u64>>,
    /// Sessions at once.
    pub max_sessions: Option<Sourced<u64>>,
}

/// Adds what a file says.
///
/// # Errors
/// A value out of its range, or a name that cannot be one.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    serve: Serve,
) -> Result<(), ConfigError> {
    let into = &mut config.serve;
    let file = serve.token_file.map(|path| reading.placed(path));
    keep(&mut into.token_file, file.transpose()?);
    let name = serve.token_env.map(|name| reading.sourced(name));
    keep(&mut into.token_env, name);
    for host in serve.allowed_hosts {
        into.allowed_hosts.push(host_name(reading, host)?);
    }
    for origin in serve.allowed_origins {
        into.allowed_origins.push(self::origin(reading, origin)?);
    }
    for (slot, given, range, key) in [
        (
            &mut into.approval_timeout_ms,
            serve.approval_timeout_ms,
            TIMES,
            "approval_timeout_ms",
        ),
        (
            &mut into.session_idle_ms,
            serve.session_idle_ms,
            TIMES,
            "session_idle_ms",
        ),
        (&mut into.max_calls, serve.max_calls, COUNTS, "max_calls"),
        (
            &mut into.max_sessions,
            serve.max_sessions,
            COUNTS,
            "max_sessions",
        ),
    ] {
        let Some(given) = given else { continue };
        let given = reading.sourced(given);
        if !range.contains(&given.value) {
            return Err(given.source.wrong(format!(
                "in [serve], '{key}' is {}, but must be from {} to {}",
                given.value,
                range.start(),
                range.end()
            )));
        }
        keep(slot, Some(given));
    }
    Ok(())
}

/// A name that can stand in a request: an empty list of names would let everybody in, and so would a wrong one nobody.
fn host_name(reading: &Reading<'_>, host: Spanned<String>) -> Result<Sourced<String>, ConfigError> {
    let host = reading.sourced(host);
    match host.value.parse::<http::uri::Authority>() {
        Ok(authority) if !authority.as_str().contains('@') => Ok(host),
        _ => Err(host.source.wrong(format!(
            "'{}' is no host name: write \"example.com\" or \"example.com:8210\"",
            host.value.escape_debug()
        ))),
    }
}

/// An origin with its port: without one, any port would do.
fn origin(reading: &Reading<'_>, origin: Spanned<String>) -> Result<Sourced<String>, ConfigError> {
    let origin = reading.sourced(origin);
    let any_port = origin.value.strip_suffix(":*");
    let whole = any_port.map_or_else(|| origin.value.clone(), |base| format!("{base}:1"));
    let parsed = whole.parse::<http::Uri>();
    let fits = parsed.is_ok_and(|uri| {
        let web = matches!(uri.scheme_str(), Some("http" | "https"));
        web && uri.port_u16().is_some() && matches!(uri.path(), "" | "/") && !whole.ends_with('/')
    });
    match fits {
        true => Ok(origin),
        false => Err(origin.source.wrong(format!(
            "'{}' is no origin: write scheme, host and port, such as \"https://app.example.com:443\" or \
             \"http://localhost:*\"",
            origin.value.escape_debug()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::merge;
    use super::super::source::Layer;
    use super::*;

    fn read(text: &str) -> Result<ServeSetting, String> {
        let mut config = Config::default();
        let text = format!("[serve]\n{text}\n");
        merge::add(&mut config, Layer::User, Path::new("/etc/t.toml"), &text)
            .map(|()| config.serve)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_fits_is_kept_with_its_line() {
        let setting = read(
            "token_file = \"tokens\"\nallowed_hosts = [\"a.test:1\"]\nallowed_origins = [\"http://localhost:*\"]\nmax_calls = 3",
        )
        .unwrap();
        let file = setting.token_file.unwrap();
        assert_eq!((file.value, file.source.line), ("/etc/tokens".into(), 2));
        assert_eq!(setting.allowed_hosts[0].value, "a.test:1");
        assert_eq!(setting.allowed_origins[0].value, "http://localhost:*");
        assert_eq!(setting.max_calls.unwrap().value, 3);
    }

    #[test]
    fn what_does_not_fit_stops_the_start() {
        for (text, part) in [
            ("max_calls = 0", "must be from 1 to 10000"),
            ("approval_timeout_ms = 5", "must be from 100 to 86400000"),
            ("allowed_hosts = [\"\"]", "is no host name"),
            ("allowed_hosts = [\"http://a\"]", "is no host name"),
            ("allowed_origins = [\"app.example.com\"]", "is no origin"),
            (
                "allowed_origins = [\"https://app.example.com\"]",
                "is no origin",
            ),
            ("allowed_origins = [\"https://a.test:1/x\"]", "is no origin"),
            ("allowed_origins = [\"null\"]", "is no origin"),
            ("tokn_file = \"x\"", "Did you mean 'token_file'?"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.starts_with("/etc/t.toml:2"), "{said}");
            assert!(said.contains(part), "{said}");
        }
    }
}
