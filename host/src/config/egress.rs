//! The tables `[egress]` and `[secrets]`: what tools may reach of the network, and what the host puts into their requests.
//!
//! The host of a program that embeds the library has the same settings as [`EgressSetting`] and [`SecretSetting`].

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::ConfigError;
use super::egress_entry::EgressEntry;
use super::keep::{keep, keep_in};
use super::reading::Reading;
use super::settings::Config;
use super::source::{Sourced, nearer};
use crate::policy::EgressAllow;

/// What tools may reach of the network. A tool reaches only what it declares, of what stands here; deny rules over URLs
/// bind every tool.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Egress {
    /// URL patterns (`https://*.example.com/**`), and `public` for the whole public Internet. An address is reached outside
    /// of it only by an entry that names it. Default: what the calls of a tool name, on the public Internet.
    #[schemars(with = "Option<Vec<EgressEntry>>")]
    allow: Option<Spanned<Vec<Spanned<EgressEntry>>>>,
    /// An HTTP proxy (`http://host:port`) through which everything goes, `environment` for the one that HTTPS_PROXY or
    /// ALL_PROXY names, or `none`. Default: none.
    #[schemars(with = "Option<String>")]
    proxy: Option<Spanned<String>>,
    /// A file of certificates in PEM form whose authorities are trusted beside the system's. Stands on the folder of the
    /// file.
    #[schemars(with = "Option<PathBuf>")]
    ca_file: Option<Spanned<PathBuf>>,
    /// Milliseconds for looking up a name, connecting and TLS together, 1 to 600,000. Default 15,000.
    #[schemars(with = "Option<u64>")]
    connect_timeout_ms: Option<Spanned<u64>>,
    /// Milliseconds to the head of the response, 1 to 600,000. Default 60,000.
    #[schemars(with = "Option<u64>")]
    first_byte_timeout_ms: Option<Spanned<u64>>,
    /// Milliseconds between two parts of a body, 1 to 600,000. Default 30,000.
    #[schemars(with = "Option<u64>")]
    idle_timeout_ms: Option<Spanned<u64>>,
    /// Milliseconds for all of a request, 1 to 600,000. Default 300,000.
    #[schemars(with = "Option<u64>")]
    total_timeout_ms: Option<Spanned<u64>>,
    /// MiB of the body of a request, 1 to 1,024. Default 16.
    #[schemars(with = "Option<u64>")]
    max_request_mib: Option<Spanned<u64>>,
    /// MiB of the body of a response, decompressed, 1 to 1,024. Default 32.
    #[schemars(with = "Option<u64>")]
    max_response_mib: Option<Spanned<u64>>,
    /// For one tool, by its name, in the place of what holds for all.
    tools: BTreeMap<String, ToolEgress>,
}

/// What one tool may reach.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ToolEgress {
    /// URL patterns, and `public`.
    #[schemars(with = "Option<Vec<EgressEntry>>")]
    allow: Option<Spanned<Vec<Spanned<EgressEntry>>>>,
}

/// A secret that the host puts into requests. No tool ever sees its value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Secret {
    /// The environment variable that holds it.
    #[schemars(with = "Option<String>")]
    env: Option<Spanned<String>>,
    /// The file that holds it; blanks around it do not count. Stands on the folder of the file.
    #[schemars(with = "Option<PathBuf>")]
    file: Option<Spanned<PathBuf>>,
    /// Program and arguments that print it, run when it is first needed.
    #[schemars(with = "Option<Vec<String>>")]
    command: Option<Spanned<Vec<String>>>,
    /// Scheme, host and port of the one place that it is for (`https://api.example.com`).
    #[schemars(with = "String")]
    url: Spanned<String>,
    /// The header field. Default: `authorization`.
    #[schemars(with = "Option<String>")]
    header: Option<Spanned<String>>,
    /// What stands before it in the field. Default: `Bearer ` in the field `authorization`, nothing in any other.
    #[schemars(with = "Option<String>")]
    prefix: Option<Spanned<String>>,
    /// Names of the tools whose requests it is put into, if they declare it. Default: none.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    tools: Vec<Spanned<String>>,
}

/// What a host's tools may reach of the network, as far as it is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EgressSetting {
    /// For every tool.
    pub allow: Option<Sourced<Vec<EgressAllow>>>,
    /// For one tool, by its name.
    pub allow_of: BTreeMap<String, Sourced<Vec<EgressAllow>>>,
    /// The proxy's URL, `environment` or `none`. It may hold a password, so it is not shown.
    #[serde(skip)]
    pub proxy: Option<Sourced<String>>,
    /// More authorities.
    pub ca_file: Option<Sourced<PathBuf>>,
    /// Bounds by their key in the file, milliseconds or MiB.
    pub bounds: BTreeMap<String, Sourced<u64>>,
}

impl EgressSetting {
    /// What holds for a tool: its own list, unless an administrator set the one for all.
    pub fn of(&self, tool: &str) -> Option<&Sourced<Vec<EgressAllow>>> {
        nearer(self.allow_of.get(tool), self.allow.as_ref())
    }
}

/// Where a secret comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretOrigin {
    /// An environment variable.
    Env(String),
    /// A file.
    File(PathBuf),
    /// A program's output.
    Command(Vec<String>),
}

/// A secret, without its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SecretSetting {
    /// Where its value comes from.
    pub from: SecretOrigin,
    /// Scheme, host and port of the place it is for.
    pub url: String,
    /// The header field.
    pub header: String,
    /// What stands before it.
    pub prefix: String,
    /// The tools it is for.
    pub tools: Vec<Sourced<String>>,
}

/// The bounds, in the order of the file: key, and the most.
const BOUNDS: [(&str, u64); 6] = [
    ("connect_timeout_ms", 600_000),
    ("first_byte_timeout_ms", 600_000),
    ("idle_timeout_ms", 600_000),
    ("total_timeout_ms", 600_000),
    ("max_request_mib", 1_024),
    ("max_response_mib", 1_024),
];

/// Adds what a file says.
///
/// # Errors
/// A pattern that is none, a bound out of range.
pub(super) fn add(
    config: &mut Config,
    reading: &Reading<'_>,
    egress: Egress,
) -> Result<(), ConfigError> {
    let into = &mut config.egress;
    let given = [
        egress.connect_timeout_ms,
        egress.first_byte_timeout_ms,
        egress.idle_timeout_ms,
        egress.total_timeout_ms,
        egress.max_request_mib,
        egress.max_response_mib,
    ];
    for ((key, most), given) in BOUNDS.into_iter().zip(given) {
        let Some(given) = given else { continue };
        let given = reading.sourced(given);
        if !(1..=most).contains(&given.value) {
            let what = format!("in [egress], '{key}' must be from 1 to {most}");
            return Err(given.source.wrong(what));
        }
        keep_in(&mut into.bounds, key.to_owned(), given);
    }
    let allow = egress
        .allow
        .map(|list| entries(reading, list))
        .transpose()?;
    keep(&mut into.allow, allow);
    for (tool, egress) in egress.tools {
        if let Some(list) = egress.allow {
            let list = entries(reading, list)?;
            keep_in(&mut into.allow_of, tool, list);
        }
    }
    keep(
        &mut into.proxy,
        egress.proxy.map(|proxy| reading.sourced(proxy)),
    );
    let file = egress
        .ca_file
        .map(|file| reading.placed(file))
        .transpose()?;
    keep(&mut into.ca_file, file);
    Ok(())
}

fn entries(
    reading: &Reading<'_>,
    list: Spanned<Vec<Spanned<EgressEntry>>>,
) -> Result<Sourced<Vec<EgressAllow>>, ConfigError> {
    let source = reading.source(list.span().start);
    let read = list.into_inner().into_iter().map(|entry| {
        let at = entry.span().start;
        let read = entry.into_inner().read();
        read.map_err(|error| reading.wrong(at, format!("in [egress], {error}")))
    });
    Ok(Sourced {
        value: read.collect::<Result<_, _>>()?,
        source,
    })
}

/// Adds the secrets of a file.
///
/// # Errors
/// One that comes from nowhere or from two places, or is for no place.
pub(super) fn add_secrets(
    config: &mut Config,
    reading: &Reading<'_>,
    secrets: BTreeMap<String, Spanned<Secret>>,
) -> Result<(), ConfigError> {
    for (name, secret) in secrets {
        let at = secret.span().start;
        let value = read_secret(reading, &name, at, secret.into_inner())?;
        let source = reading.source(at);
        keep_in(&mut config.secrets, name, Sourced { value, source });
    }
    Ok(())
}

fn read_secret(
    reading: &Reading<'_>,
    name: &str,
    at: usize,
    secret: Secret,
) -> Result<SecretSetting, ConfigError> {
    let wrong = |at: usize, what: &str| reading.wrong(at, format!("in [secrets.{name}], {what}"));
    let from = match (secret.env, secret.file, secret.command) {
        (Some(env), None, None) => SecretOrigin::Env(env.into_inner()),
        (None, Some(file), None) => SecretOrigin::File(reading.placed(file)?.value),
        (None, None, Some(command)) => SecretOrigin::Command(reading.command(command)?.value),
        _ => {
            let what = "it must come from exactly one of 'env', 'file' and 'command'";
            return Err(wrong(at, what));
        }
    };
    let header = secret
        .header
        .map_or("authorization".to_owned(), Spanned::into_inner);
    let usual = match header.eq_ignore_ascii_case("authorization") {
        true => "Bearer ",
        false => "",
    };
    let url_at = secret.url.span().start;
    let url = secret.url.into_inner();
    if crate::policy::UrlSubject::parse(&url).is_err() {
        let what = "'url' is not scheme, host and port of one place: write it as in https://api.example.com";
        return Err(wrong(url_at, what));
    }
    Ok(SecretSetting {
        from,
        url,
        prefix: secret.prefix.map_or(usual.to_owned(), Spanned::into_inner),
        header,
        tools: secret
            .tools
            .into_iter()
            .map(|tool| reading.sourced(tool))
            .collect(),
    })
}
