//! The MCP servers that the configuration names.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use http_body_util::BodyDataStream;

use super::{settings, shell};
use crate::config::{Config, ConfigError, McpReach, Runs, Sourced};
use crate::egress::{Connector, EgressError, EgressLimits, full};
use crate::gate::CallProgress;
use crate::model::{Declaration, Timeout, suggestion, visible};
use crate::policy::{EgressGrant, EgressPattern, SchemaMode};
use crate::provider::ShellPlaces;
use crate::upstream::{Address, Answered, Dial, DialError, GroundParts, Shape, Shaper, Upstreams};

/// The servers; none where none is named.
///
/// # Errors
/// A setting that cannot be, or that speaks of tools which a server is known not to have.
pub(super) fn servers(
    config: &Config,
    workspace: &Path,
    state: &Path,
    (places, progress, connector): (ShellPlaces, Option<CallProgress>, &Connector),
) -> Result<Option<Arc<Upstreams>>, ConfigError> {
    if config.mcp.is_empty() {
        return Ok(None);
    }
    check_reach(config, workspace)?;
    check_secrets(config)?;
    let parts = GroundParts {
        launcher: shell::of_servers(&config.shell)?,
        places,
        state: state.to_owned(),
        shape: shaper(config),
        progress,
        address: address(connector),
    };
    let servers = config.mcp.values().cloned();
    Ok(Some(Arc::new(Upstreams::new(servers, parts)?)))
}

/// Beginnings of the names of their tools, which come while the host runs.
pub(super) fn coming(config: &Config) -> Vec<String> {
    let servers = config.mcp.values();
    servers.map(|server| server.value.alias.prefix()).collect()
}

/// A tool of the host's own may not look like one of theirs.
///
/// # Errors
/// One does.
pub(super) fn check_names(config: &Config, tools: &[String]) -> Result<(), ConfigError> {
    for Sourced { value, source } in config.mcp.values() {
        if let Some(tool) = tools.iter().find(|tool| value.alias.owns(tool)) {
            return Err(source.wrong(format!(
                "the tool '{tool}' is named as one of the server '{}' would be: give the server another name",
                value.alias
            )));
        }
    }
    Ok(())
}

/// What the servers run out of the granted directories, which no tool may write. What they run from elsewhere is out of
/// reach anyway, and may be a program that others need too.
pub(super) fn guarded(config: &Config, workspace: &Path, granted: &[&Path]) -> Vec<PathBuf> {
    let mut guarded = Vec::new();
    for Sourced { value, source } in config.mcp.values() {
        if let McpReach::Command { command, .. } = &value.reach {
            let mut folders = vec![workspace.to_owned()];
            folders.extend(source.file.parent().and_then(|at| at.canonicalize().ok()));
            let runs = Runs::of(command, &folders);
            guarded.extend(runs.guarded(granted.iter().copied()));
        }
    }
    guarded.retain(|path| granted.iter().any(|root| path.starts_with(root)));
    guarded
}

/// A server's own program must not lie where it cannot see it.
///
/// # Errors
/// It does.
fn check_reach(config: &Config, workspace: &Path) -> Result<(), ConfigError> {
    for Sourced { value, source } in config.mcp.values() {
        let McpReach::Command {
            command,
            read,
            write,
            ..
        } = &value.reach
        else {
            continue;
        };
        let granted: Vec<PathBuf> = read
            .iter()
            .chain(write)
            .filter_map(|path| path.value.canonicalize().ok())
            .collect();
        let folders = source.file.parent().map(Path::to_owned);
        let runs = Runs::of(command, &folders.into_iter().collect::<Vec<_>>());
        let unseen = runs
            .files
            .iter()
            .filter_map(|file| file.canonicalize().ok())
            .find(|file| {
                let hidden = file.starts_with(workspace)
                    || file.starts_with("/tmp")
                    || file.starts_with("/run");
                hidden && !granted.iter().any(|root| file.starts_with(root))
            });
        if let Some(file) = unseen {
            let folder = file.parent().unwrap_or(workspace);
            return Err(source.wrong(format!(
                "the server '{}' runs '{}', which it cannot see: add read = [\"{}\"]",
                value.alias,
                file.display(),
                folder.display()
            )));
        }
    }
    Ok(())
}

/// The operator's settings for tools, by their published names.
fn shaper(config: &Config) -> Shaper {
    let config = Config {
        limits: config.limits.clone(),
        limits_of: config.limits_of.clone(),
        schema: config.schema.clone(),
        schema_of: config.schema_of.clone(),
        subjects: config.subjects.clone(),
        ..Config::default()
    };
    Box::new(move |declaration: &mut Declaration| {
        let mut shape = || {
            settings::assign_subject(&config, declaration)?;
            let mut limits = settings::limits(&config, declaration)?;
            let name = declaration.name.as_str();
            if config.limits(name).timeout_ms.is_none() {
                // Its own bounds end a call: no sign for too long, and this one.
                limits.timeout = Timeout::LONGEST;
            }
            let mode = config.schema_mode(name).map(|mode| mode.value);
            Ok(Shape {
                limits,
                schema_mode: mode.unwrap_or(SchemaMode::Warn),
            })
        };
        shape().map_err(|error: ConfigError| error.to_string())
    })
}

/// The way out to addresses: each server's own, with the secret that it was given, and nothing else.
fn address(connector: &Connector) -> Address {
    // An answer may be a stream of events that goes on for as long as the server is talked with.
    let limits = EgressLimits {
        first_byte: Duration::from_secs(600),
        idle: Duration::MAX,
        total: Duration::MAX,
        response_body: u64::MAX,
        ..*connector.limits()
    };
    let connector = connector.clone().with_limits(limits);
    Box::new(move |url, secret| {
        let pattern = EgressPattern::parse(url.as_str()).map_err(|error| error.to_string())?;
        let grant = EgressGrant::of_operator([pattern]).map_err(|error| error.to_string())?;
        let grant = grant.with_secrets(secret.map(str::to_owned));
        let connector = connector.clone();
        Ok(Arc::new(Way { connector, grant }) as Arc<dyn Dial>)
    })
}

/// A secret that a server is to be given must be one.
///
/// # Errors
/// It is none.
fn check_secrets(config: &Config) -> Result<(), ConfigError> {
    for server in config.mcp.values() {
        if let McpReach::Http {
            secret: Some(secret),
            ..
        } = &server.value.reach
            && !config.secrets.contains_key(&secret.value)
        {
            let known = config.secrets.keys().map(String::as_str);
            return Err(secret.source.wrong(format!(
                "the server '{}' names the secret '{}', which [secrets] does not have.{}",
                server.value.alias,
                visible(&secret.value),
                suggestion(&secret.value, known)
            )));
        }
    }
    Ok(())
}

/// The way to one server.
#[derive(Debug)]
struct Way {
    connector: Connector,
    grant: EgressGrant,
}

#[async_trait]
impl Dial for Way {
    async fn send(&self, request: http::Request<Bytes>) -> Result<Answered, DialError> {
        let failed = |error: EgressError| DialError(error.to_string());
        let (parts, body) = request.into_parts();
        let request = http::Request::from_parts(parts, full(body));
        let answer = self.connector.send(&self.grant, request).await;
        let (parts, body) = answer.map_err(failed)?.into_parts();
        let stream = BodyDataStream::new(body).map(move |part| part.map_err(failed));
        Ok(http::Response::from_parts(parts, stream.boxed()))
    }
}
