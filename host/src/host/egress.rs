//! The connector that the configuration describes, and what it opens.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::web;
use crate::config::{Config, ConfigError, Layer, SecretOrigin, SecretSetting, Source, Sourced};
use crate::egress::{
    Connector, EgressLimits, ExtraRoots, FixedSecret, Proxy, Resolve, Secret, SecretSource, Secrets,
};
use crate::policy::{EgressAllow, EgressOpenings, EgressPatterns};
use crate::program::Program;

/// How long a program may take to print a secret.
const SECRET_TIME: Duration = Duration::from_secs(30);
/// The largest file of a secret, bytes.
const MAX_SECRET_FILE: u64 = 64 << 10;
/// Where the environment names a proxy, in turn.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// The connector.
///
/// # Errors
/// A proxy that is none, certificates that cannot be read, a secret that is not there.
pub(super) fn connector(
    config: &Config,
    resolver: Option<Arc<dyn Resolve>>,
) -> Result<Connector, ConfigError> {
    let setting = &config.egress;
    let roots = match &setting.ca_file {
        None => ExtraRoots::default(),
        Some(file) => ExtraRoots::read(&file.value).map_err(|error| wrong(&file.source, &error))?,
    };
    let connector = Connector::new(limits(config), &roots).with_secrets(secrets(config)?);
    let connector = match resolver {
        Some(resolver) => connector.with_resolver(resolver),
        None => connector,
    };
    Ok(match proxy(config)? {
        Some(proxy) => connector.with_proxy(proxy),
        None => connector,
    })
}

fn wrong(source: &Source, error: &impl std::fmt::Display) -> ConfigError {
    source.wrong(format!("in [egress], {error}"))
}

fn limits(config: &Config) -> EgressLimits {
    let mut limits = EgressLimits::default();
    for (key, bound) in &config.egress.bounds {
        let (millis, bytes) = (Duration::from_millis(bound.value), bound.value << 20);
        match key.as_str() {
            "connect_timeout_ms" => limits.connect = millis,
            "first_byte_timeout_ms" => limits.first_byte = millis,
            "idle_timeout_ms" => limits.idle = millis,
            "total_timeout_ms" => limits.total = millis,
            "max_request_mib" => limits.request_body = bytes,
            "max_response_mib" => limits.response_body = bytes,
            _ => {}
        }
    }
    limits
}

fn proxy(config: &Config) -> Result<Option<Proxy>, ConfigError> {
    let Some(Sourced { value, source }) = &config.egress.proxy else {
        return Ok(None);
    };
    let named = match value.as_str() {
        "none" => return Ok(None),
        "environment" => {
            let set = |name: &&str| std::env::var(name).ok().filter(|text| !text.is_empty());
            PROXY_VARIABLES.iter().find_map(set).ok_or_else(|| {
                let variables = "HTTPS_PROXY or ALL_PROXY";
                source.wrong(format!(
                    "in [egress], 'proxy' is \"environment\", but {variables} is not set: set it, or leave 'proxy' out"
                ))
            })?
        }
        url => url.to_owned(),
    };
    let parsed = Proxy::parse(&named);
    parsed
        .map(Some)
        .map_err(|error| source.wrong(format!("in [egress], 'proxy' {error}")))
}

/// The files that it reads.
pub(super) fn files(config: &Config) -> impl Iterator<Item = PathBuf> {
    let secrets = config
        .secrets
        .values()
        .filter_map(|secret| match &secret.value.from {
            SecretOrigin::File(file) => Some(file.clone()),
            SecretOrigin::Command(_) | SecretOrigin::Env(_) => None,
        });
    let authorities = config.egress.ca_file.iter();
    authorities.map(|file| file.value.clone()).chain(secrets)
}

/// The programs that it runs, and where each is named.
pub(super) fn commands(config: &Config) -> impl Iterator<Item = (&[String], &Source)> {
    config
        .secrets
        .values()
        .filter_map(|secret| match &secret.value.from {
            SecretOrigin::Command(command) => Some((command.as_slice(), &secret.source)),
            SecretOrigin::File(_) | SecretOrigin::Env(_) => None,
        })
}

/// What the operator opens.
///
/// # Errors
/// Patterns that are too large together.
pub(super) fn openings(config: &Config) -> Result<EgressOpenings, ConfigError> {
    let setting = &config.egress;
    let ready = |list: &Sourced<Vec<EgressAllow>>| {
        let patterns = EgressPatterns::new(list.value.iter().cloned());
        patterns
            .map(Arc::new)
            .map_err(|error| wrong(&list.source, &error))
    };
    let mut by_tool = BTreeMap::new();
    for tool in setting.allow_of.keys() {
        if let Some(list) = setting.of(tool) {
            by_tool.insert(tool.clone(), ready(list)?);
        }
    }
    let mut assigned = BTreeMap::new();
    if let Some(service) = web::service(config)? {
        let tool = web::WEB_SEARCH.to_owned();
        // What an administrator opens for all tools, nobody opens further.
        let all = setting.allow.as_ref();
        let fixed = all.is_some_and(|list| list.source.layer == Layer::Managed);
        if !fixed && !by_tool.contains_key(&tool) {
            let place = Sourced {
                value: vec![EgressAllow::Pattern(web::place(&service)?)],
                source: service.source.clone(),
            };
            by_tool.insert(tool.clone(), ready(&place)?);
        }
        if let Some(secret) = web::secret(config, &service)? {
            assigned.insert(tool, secret);
        }
    }
    let secrets = config.secrets.iter().map(|(name, secret)| {
        let tools = secret.value.tools.iter();
        (name.clone(), tools.map(|tool| tool.value.clone()).collect())
    });
    Ok(EgressOpenings {
        all: setting.allow.as_ref().map(ready).transpose()?,
        by_tool,
        secrets: secrets.collect(),
        assigned,
    })
}

fn secrets(config: &Config) -> Result<Secrets, ConfigError> {
    let mut secrets = BTreeMap::new();
    for (name, Sourced { value, source }) in &config.secrets {
        let wrong = |what: String| source.wrong(format!("in [secrets.{name}], {what}"));
        let SecretSetting {
            url,
            header,
            prefix,
            ..
        } = value;
        let secret = match &value.from {
            SecretOrigin::Env(variable) => {
                let value = std::env::var(variable).map_err(|_error| {
                    wrong(format!(
                        "the environment variable '{variable}' is not set, or not UTF-8"
                    ))
                })?;
                Secret::new(url, header, prefix, FixedSecret(value))
            }
            SecretOrigin::File(file) => {
                let value = read(file).map_err(wrong)?;
                Secret::new(url, header, prefix, FixedSecret(value))
            }
            SecretOrigin::Command(command) => {
                let program = Program::find(command).map_err(|error| wrong(error.to_string()))?;
                Secret::new(url, header, prefix, Printed(program))
            }
        };
        secrets.insert(
            name.clone(),
            secret.map_err(|error| wrong(error.to_string()))?,
        );
    }
    Ok(Secrets::new(secrets))
}

fn read(file: &std::path::Path) -> Result<String, String> {
    let shown = file.display();
    let failed = |error: std::io::Error| format!("the file '{shown}' cannot be read: {error}");
    let metadata = std::fs::metadata(file).map_err(failed)?;
    if !metadata.is_file() || metadata.len() > MAX_SECRET_FILE {
        return Err(format!("'{shown}' is no regular file of at most 64 KiB"));
    }
    Ok(std::fs::read_to_string(file)
        .map_err(failed)?
        .trim()
        .to_owned())
}

/// A secret that a program prints.
#[derive(Debug)]
struct Printed(Program);

#[async_trait]
impl SecretSource for Printed {
    async fn value(&self) -> Result<String, String> {
        let ran = self.0.run(Vec::new(), SECRET_TIME).await;
        let ran = ran.map_err(|error| format!("its program {error}"))?;
        match ran.status.success() {
            true => Ok(ran.stdout.trim().to_owned()),
            false => Err(format!("its program ended with {}", ran.status)),
        }
    }
}
