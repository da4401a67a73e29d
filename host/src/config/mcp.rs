//! The table `[mcp.servers.NAME]`: MCP servers whose tools the host offers, behind the same gates as all others.
//!
//! What the settings mean is the upstreams' business. A server that is set in several layers is taken whole from the
//! greatest.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use url::Url;

use super::ConfigError;
use super::file::Subject;
use super::keep::keep_in;
use super::merge::subject_field;
use super::reading::Reading;
use super::settings::Config;
use super::shell::ShellNetwork;
use super::source::{Source, Sourced};
use crate::model::{AnnotationTrust, ServerAlias, SideEffect, SubjectField, suggestion};

/// Milliseconds from the start of a server to its list of tools, unless said otherwise.
pub const DEFAULT_START_TIMEOUT_MS: u64 = 30_000;
/// Milliseconds that a call may go on without a sign of the server's, unless said otherwise.
pub const DEFAULT_IDLE_TIMEOUT_MS: u64 = 60_000;
/// The range of both.
const TIMEOUTS_MS: std::ops::RangeInclusive<u64> = 1_000..=600_000;

/// MCP servers whose tools are offered.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Mcp {
    /// By a name of yours, which the names of its tools begin with: `NAME__tool`. A letter, then at most 15 letters,
    /// digits, `-` or single `_`.
    #[schemars(with = "BTreeMap<String, Server>")]
    servers: BTreeMap<String, Spanned<Server>>,
}

/// One server: a `command` that is started here, or a `url`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Server {
    /// Whether it is used. Default: yes.
    #[schemars(with = "Option<bool>")]
    enabled: Option<Spanned<bool>>,
    /// Program and arguments. A program with a slash in its name stands on the folder of the file; another is looked up in
    /// the search path. It runs in the sandbox of commands, also where `[shell]` is not set.
    #[schemars(with = "Option<Vec<String>>")]
    command: Option<Spanned<Vec<String>>>,
    /// Where it answers over HTTP: `https://host/path`.
    #[schemars(with = "Option<String>")]
    url: Option<Spanned<String>>,
    /// Environment variables of the command, with their values.
    #[schemars(with = "BTreeMap<String, String>")]
    env: BTreeMap<String, Spanned<String>>,
    /// Names of Toolgate's own environment variables that the command sees beside the ordinary ones.
    #[schemars(with = "Vec<String>")]
    env_pass: Vec<Spanned<String>>,
    /// Directories of the workspace, of the granted ones, of `/tmp` or `/run` that the command may read. Without one of the
    /// workspace it does not see the workspace.
    #[schemars(with = "Vec<PathBuf>")]
    read: Vec<Spanned<PathBuf>>,
    /// Directories that the command may read and write.
    #[schemars(with = "Vec<PathBuf>")]
    write: Vec<Spanned<PathBuf>>,
    /// What the command may dial. Default: `off`.
    #[schemars(with = "Option<ShellNetwork>")]
    network: Option<Spanned<ShellNetwork>>,
    /// The name of a secret that is sent with every request to the `url`.
    #[schemars(with = "Option<String>")]
    secret: Option<Spanned<String>>,
    /// Which protocol it speaks. Default: `auto`.
    #[schemars(with = "Option<McpEra>")]
    era: Option<Spanned<McpEra>>,
    /// Whether what it says of its own tools counts. Default: `ignore`.
    #[schemars(with = "Option<AnnotationTrust>")]
    annotation_trust: Option<Spanned<String>>,
    /// With `annotation_trust = "raise"`, what its tools are unless they say worse. Default: `mutating`.
    #[schemars(with = "Option<SideEffect>")]
    level: Option<Spanned<SideEffect>>,
    /// Milliseconds from its start to its list of tools, 1,000 to 600,000. Default 30,000.
    #[schemars(with = "Option<u64>")]
    start_timeout_ms: Option<Spanned<u64>>,
    /// Milliseconds that a call may go on without an answer or progress, 1,000 to 600,000. Default 60,000.
    #[schemars(with = "Option<u64>")]
    idle_timeout_ms: Option<Spanned<u64>>,
    /// What you say of single tools, by the server's own name for them. It counts for more than what the server says.
    #[schemars(with = "BTreeMap<String, Tool>")]
    tools: BTreeMap<String, Spanned<Tool>>,
}

/// What the operator says of one tool.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Tool {
    /// Whether it is offered. Default: yes.
    enabled: Option<bool>,
    /// What its calls may do.
    level: Option<SideEffect>,
    /// Whether it may overwrite or delete.
    destructive: Option<bool>,
    /// Whether doing it twice is doing it once.
    idempotent: Option<bool>,
    /// Whether it reaches what nobody here owns.
    open_world: Option<bool>,
    /// What the patterns of rules are compared with.
    #[schemars(with = "Option<Subject>")]
    subject: Option<Spanned<Subject>>,
}

/// Which protocol a server speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum McpEra {
    /// Asked for; a server that says nothing for 10 s is taken for an old one.
    #[default]
    Auto,
    /// 2025-11-25 and before: with a handshake.
    Legacy,
    /// 2026-07-28: without one.
    Modern,
}

/// A server, as it is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpServer {
    /// The name of the operator's.
    pub alias: ServerAlias,
    /// Whether it is used.
    pub enabled: bool,
    /// How it is reached.
    pub reach: McpReach,
    /// Which protocol it speaks.
    pub era: McpEra,
    /// Whether its annotations count.
    pub annotation_trust: AnnotationTrust,
    /// What its tools are at least, where annotations only raise.
    pub level: SideEffect,
    /// Milliseconds from its start to its list.
    pub start_timeout_ms: u64,
    /// Milliseconds without a sign of it during a call.
    pub idle_timeout_ms: u64,
    /// What the operator says of its tools, by the server's names.
    pub tools: BTreeMap<String, Sourced<McpTool>>,
    /// Of a workspace's file: what its command runs and what that was when it was trusted. It is compared before each start.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bound: BTreeMap<PathBuf, String>,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum McpReach {
    /// A program that is started here.
    Command {
        /// Program and arguments.
        command: Vec<String>,
        /// Its variables.
        env: BTreeMap<String, String>,
        /// Variables of the host that it sees.
        env_pass: Vec<String>,
        /// Directories that it may read.
        read: Vec<Sourced<PathBuf>>,
        /// Directories that it may read and write.
        write: Vec<Sourced<PathBuf>>,
        /// What it may dial.
        network: ShellNetwork,
    },
    /// An address.
    Http {
        /// Where.
        #[serde(serialize_with = "as_text")]
        url: Url,
        /// The secret that goes with every request.
        secret: Option<Sourced<String>>,
    },
}

fn as_text<S: serde::Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(url.as_str())
}

/// What the operator says of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct McpTool {
    /// Whether it is offered.
    pub enabled: Option<bool>,
    /// What its calls may do.
    pub level: Option<SideEffect>,
    /// May overwrite or delete.
    pub destructive: Option<bool>,
    /// Twice is once.
    pub idempotent: Option<bool>,
    /// Reaches what nobody here owns.
    pub open_world: Option<bool>,
    /// Where its permission subject stands.
    pub subject: Option<SubjectField>,
}

impl McpServer {
    /// A program with nothing granted and all defaults.
    pub fn command(alias: ServerAlias, command: Vec<String>) -> Self {
        Self::new(
            alias,
            McpReach::Command {
                command,
                env: BTreeMap::new(),
                env_pass: Vec::new(),
                read: Vec::new(),
                write: Vec::new(),
                network: ShellNetwork::Off,
            },
        )
    }

    /// An address, with all defaults.
    pub fn http(alias: ServerAlias, url: Url) -> Self {
        Self::new(alias, McpReach::Http { url, secret: None })
    }

    fn new(alias: ServerAlias, reach: McpReach) -> Self {
        Self {
            alias,
            enabled: true,
            reach,
            era: McpEra::Auto,
            annotation_trust: AnnotationTrust::Ignore,
            level: SideEffect::Mutating,
            start_timeout_ms: DEFAULT_START_TIMEOUT_MS,
            idle_timeout_ms: DEFAULT_IDLE_TIMEOUT_MS,
            tools: BTreeMap::new(),
            bound: BTreeMap::new(),
        }
    }
}

impl McpReach {
    /// Its words for people: the command, or the address.
    pub fn words(&self) -> String {
        match self {
            Self::Command { command, .. } => command.join(" "),
            Self::Http { url, .. } => url.to_string(),
        }
    }
}

/// Adds what a file says.
///
/// # Errors
/// A name that cannot be one, a server that is neither or both, a key that is for the other kind, a value out of range.
pub(super) fn add(config: &mut Config, reading: &Reading<'_>, mcp: Mcp) -> Result<(), ConfigError> {
    for (name, server) in mcp.servers {
        let source = reading.source(server.span().start);
        let alias = ServerAlias::try_from(name.as_str())
            .map_err(|error| source.wrong(format!("in [mcp.servers], {error}")))?;
        let alike = config
            .mcp
            .values()
            .find(|known| known.value.alias != alias && known.value.alias.resembles(&alias));
        if let Some(alike) = alike {
            return Err(source.wrong(format!(
                "the server '{alias}' is named as '{}' ({}) but for upper and lower case: their tools could not be told apart",
                alike.value.alias, alike.source
            )));
        }
        let value = of_file(reading, alias, server.into_inner(), &source)?;
        keep_in(&mut config.mcp, name, Sourced { value, source });
    }
    Ok(())
}

fn of_file(
    reading: &Reading<'_>,
    alias: ServerAlias,
    server: Server,
    source: &Source,
) -> Result<McpServer, ConfigError> {
    let mut into = McpServer::new(alias, reach(reading, &server, source)?);
    let table = format!("mcp.servers.{}", into.alias);
    if let Some(enabled) = server.enabled {
        into.enabled = enabled.into_inner();
    }
    if let Some(era) = server.era {
        into.era = era.into_inner();
    }
    if let Some(trust) = server.annotation_trust {
        let Sourced { value, source } = reading.sourced(trust);
        let parsed = value.parse();
        into.annotation_trust =
            parsed.map_err(|error| source.wrong(format!("in [{table}], {error}")))?;
    }
    if let Some(level) = server.level {
        if into.annotation_trust != AnnotationTrust::Raise {
            let what = format!(
                "in [{table}], 'level' is what annotations raise, and annotation_trust is '{}': set it to 'raise', or name \
                 tools in [{table}.tools]",
                into.annotation_trust.as_str()
            );
            return Err(reading.wrong(level.span().start, what));
        }
        into.level = level.into_inner();
    }
    for (slot, given) in [
        (&mut into.start_timeout_ms, server.start_timeout_ms),
        (&mut into.idle_timeout_ms, server.idle_timeout_ms),
    ] {
        let Some(given) = given else { continue };
        let Sourced { value, source } = reading.sourced(given);
        if !TIMEOUTS_MS.contains(&value) {
            return Err(source.wrong(format!(
                "in [{table}], {value} ms is not from {} to {}",
                TIMEOUTS_MS.start(),
                TIMEOUTS_MS.end()
            )));
        }
        *slot = value;
    }
    for (name, tool) in server.tools {
        let tool = of_tool(reading, tool)?;
        into.tools.insert(name, tool);
    }
    Ok(into)
}

fn of_tool(reading: &Reading<'_>, tool: Spanned<Tool>) -> Result<Sourced<McpTool>, ConfigError> {
    let source = reading.source(tool.span().start);
    let tool = tool.into_inner();
    let subject = tool.subject.map(|subject| subject_field(reading, subject));
    let value = McpTool {
        enabled: tool.enabled,
        level: tool.level,
        destructive: tool.destructive,
        idempotent: tool.idempotent,
        open_world: tool.open_world,
        subject: subject.transpose()?.map(|subject| subject.value),
    };
    if value.level == Some(SideEffect::ReadOnly) && value.destructive == Some(true) {
        let what = "a tool cannot be both read-only and destructive: say one of the two";
        return Err(source.wrong(what));
    }
    Ok(Sourced { value, source })
}

/// The command or the address; each key is for one of them.
fn reach(reading: &Reading<'_>, server: &Server, source: &Source) -> Result<McpReach, ConfigError> {
    match (&server.command, &server.url) {
        (Some(command), None) => {
            if let Some(secret) = &server.secret {
                let what = "'secret' goes with requests to a 'url': give a command its secrets by 'env_pass'";
                return Err(reading.wrong(secret.span().start, what));
            }
            of_command(reading, server, command)
        }
        (None, Some(url)) => {
            let of_commands = [
                (server.env.values().next().map(Spanned::span), "env"),
                (server.env_pass.first().map(Spanned::span), "env_pass"),
                (server.read.first().map(Spanned::span), "read"),
                (server.write.first().map(Spanned::span), "write"),
                (server.network.as_ref().map(Spanned::span), "network"),
            ];
            for (span, key) in of_commands {
                if let Some(span) = span {
                    let what =
                        format!("'{key}' is for a server that is started by a 'command', and this one has a 'url'");
                    return Err(reading.wrong(span.start, what));
                }
            }
            Ok(McpReach::Http {
                url: address(reading, url)?,
                secret: server.secret.clone().map(|secret| reading.sourced(secret)),
            })
        }
        (Some(_), Some(_)) => {
            Err(source.wrong("a server has a 'command' or a 'url', and this one has both"))
        }
        (None, None) => Err(source.wrong(
            "the server has neither a 'command' nor a 'url': name the program that is started, or where it answers",
        )),
    }
}

fn of_command(
    reading: &Reading<'_>,
    server: &Server,
    command: &Spanned<Vec<String>>,
) -> Result<McpReach, ConfigError> {
    let named = server.env.iter().map(|(name, value)| (name, value.span()));
    let passed = server.env_pass.iter();
    let passed = passed.map(|name| (name.get_ref(), name.span()));
    for (name, span) in named.chain(passed) {
        if name.is_empty() || name.contains(['=', '\0']) {
            let what = format!("'{}' is no name of a variable", name.escape_debug());
            return Err(reading.wrong(span.start, what));
        }
    }
    let placed = |paths: &[Spanned<PathBuf>]| {
        let paths = paths.iter().cloned();
        paths
            .map(|path| reading.placed(path))
            .collect::<Result<Vec<_>, _>>()
    };
    let network = server.network.as_ref().map(Spanned::get_ref);
    let env = server.env.iter();
    let pass = server.env_pass.iter();
    Ok(McpReach::Command {
        command: reading.command(command.clone())?.value,
        env: env
            .map(|(name, value)| (name.clone(), value.get_ref().clone()))
            .collect(),
        env_pass: pass.map(|name| name.get_ref().clone()).collect(),
        read: placed(&server.read)?,
        write: placed(&server.write)?,
        network: network.copied().unwrap_or(ShellNetwork::Off),
    })
}

fn address(reading: &Reading<'_>, url: &Spanned<String>) -> Result<Url, ConfigError> {
    let wrong = |what: String| reading.wrong(url.span().start, what);
    let parsed =
        Url::parse(url.get_ref()).map_err(|error| wrong(format!("the 'url' is none: {error}")))?;
    let scheme = parsed.scheme();
    if !["https", "http"].contains(&scheme) || parsed.host_str().is_none() {
        let near = suggestion(scheme, ["https", "http"]);
        return Err(wrong(format!(
            "the 'url' begins with https:// or http://.{near}"
        )));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() || parsed.fragment().is_some() {
        return Err(wrong(
            "the 'url' holds a user, a password or a fragment: name a 'secret' instead".to_owned(),
        ));
    }
    Ok(parsed)
}
