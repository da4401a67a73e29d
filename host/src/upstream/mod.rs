//! Upstreams: foreign MCP servers whose tools the host offers behind the same gates as its own.
//!
//! Owns a server from its process or address to its tools: start, handshake, list, names, schemas, verdicts, pins, calls,
//! and the end. Guarantees that nothing that a server says is more than data; that a tool whose definition changed is not
//! offered before a person accepted it; that one bad tool or one bad server costs itself; that a call is never sent twice
//! unless its tool is believed to be idempotent; and that no process outlives the host. Never contains a decision about
//! whether a call may run.
//!
//! | file | owns |
//! |---|---|
//! | `server` | one server: connected when it is needed, and its pauses |
//! | `launch`, `stdio`, `decode` | its process, its pipes, one line of it |
//! | `http` | its address, through the one connector |
//! | `link` | the conversation: handshake, list, call, cancellation |
//! | `definition`, `name`, `schema`, `verdict` | what it says of a tool, and what becomes of that |
//! | `store`, `difference` | what was accepted, and what changed |
//! | `offer` | its list, put among the host's tools |
//! | `tool`, `reply` | a call, and its answer |

mod decode;
mod definition;
mod difference;
mod http;
mod launch;
mod link;
mod name;
mod offer;
mod reply;
mod schema;
mod server;
mod stdio;
mod store;
mod tool;
mod verdict;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use futures::future::join_all;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

pub use definition::Quarantined;
pub use http::{Address, Answered, Dial, DialError};

use crate::config::{ConfigError, McpServer, Source, Sourced};
use crate::gate::{CallProgress, Chain};
use crate::model::{Declaration, Limits, ServerAlias, ToolName};
use crate::policy::{Policy, SchemaMode};
use crate::provider::ShellPlaces;
use crate::shell::LocalShell;
use server::Server;

/// How long all servers together may take to end.
const CLOSING: Duration = Duration::from_secs(2);

/// What the operator's settings make of one tool.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Bounds of its calls.
    pub limits: Limits,
    /// How its schema is enforced.
    pub schema_mode: SchemaMode,
}

/// Applies the operator's settings to a tool, or says why it cannot be offered.
pub type Shaper = Box<dyn Fn(&mut Declaration) -> Result<Shape, String> + Send + Sync>;

/// What servers stand on.
pub struct Ground {
    launcher: LocalShell,
    places: ShellPlaces,
    state: PathBuf,
    shape: Shaper,
    progress: Option<CallProgress>,
    address: Address,
    chain: OnceLock<Weak<Chain>>,
}

/// What a [`Ground`] is made of.
pub struct GroundParts {
    /// What starts processes.
    pub launcher: LocalShell,
    /// What they never see.
    pub places: ShellPlaces,
    /// The state directory.
    pub state: PathBuf,
    /// The operator's settings for tools.
    pub shape: Shaper,
    /// Where progress of calls goes.
    pub progress: Option<CallProgress>,
    /// How addresses are reached.
    pub address: Address,
}

impl std::fmt::Debug for Ground {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ground")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for GroundParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GroundParts")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl From<GroundParts> for Ground {
    fn from(parts: GroundParts) -> Self {
        Self {
            launcher: parts.launcher,
            places: parts.places,
            state: parts.state,
            shape: parts.shape,
            progress: parts.progress,
            address: parts.address,
            chain: OnceLock::new(),
        }
    }
}

impl Ground {
    fn chain(&self) -> Option<Arc<Chain>> {
        self.chain.get()?.upgrade()
    }

    fn policy(&self) -> Option<Arc<Policy>> {
        Some(self.chain()?.policy())
    }
}

/// The servers of a host. Dropping it ends them.
#[derive(Debug)]
pub struct Upstreams {
    servers: Vec<(Arc<Server>, Source)>,
    ground: Arc<Ground>,
    stop: CancellationToken,
}

/// What there is to know of one server.
#[derive(Clone, Debug, Serialize)]
pub struct ServerReport {
    /// The operator's name for it.
    pub alias: ServerAlias,
    /// Its command or address.
    pub reach: String,
    /// Where it is set.
    pub source: Source,
    /// Whether it runs now.
    pub runs: bool,
    /// Why it does not, where it was started.
    pub down: Option<String>,
    /// The revision of the protocol that it speaks, once it was connected.
    pub protocol: Option<String>,
    /// What it calls itself.
    pub calls_itself: Option<String>,
    /// Whether its list is known: now, or from the last time.
    pub listed: bool,
    /// What it offers.
    pub tools: Vec<ToolReport>,
    /// What is not offered, and why.
    pub quarantined: Vec<Quarantined>,
    /// Definitions that were accepted in another form.
    pub changed: Vec<Changed>,
    /// Tools that the operator left out.
    pub left_out: Vec<String>,
    /// What the operator says of tools that it does not have.
    pub notes: Vec<String>,
    /// Lines that were no messages.
    pub junk_lines: u64,
    /// The end of its stderr, at most 8 KiB.
    pub stderr: String,
}

/// A tool that is offered.
#[derive(Clone, Debug, Serialize)]
pub struct ToolReport {
    /// Its published name.
    pub name: ToolName,
    /// The server's name for it.
    pub of_server: String,
    /// What was changed of its definition.
    pub altered: Vec<String>,
}

/// A definition that is not the accepted one.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// The server's name for the tool.
    pub tool: String,
    /// SHA-256 of the definition as it is now.
    pub sha256: String,
    /// What is different, in lines.
    pub difference: String,
}

impl Upstreams {
    /// The servers of a configuration. Nothing is started.
    ///
    /// # Errors
    /// What is said of tools that a server does not have, as far as its last list tells.
    pub fn new(
        servers: impl IntoIterator<Item = Sourced<McpServer>>,
        ground: GroundParts,
    ) -> Result<Self, ConfigError> {
        let ground = Arc::new(Ground::from(ground));
        let stop = CancellationToken::new();
        let mut made = Vec::new();
        for Sourced { value, source } in servers {
            if !value.enabled {
                continue;
            }
            let server = Server::new(value, Arc::clone(&ground), stop.clone());
            server.offer.check(&server.setting)?;
            made.push((Arc::new(server), source));
        }
        Ok(Self {
            servers: made,
            ground,
            stop,
        })
    }

    /// Puts the tools of the last good lists among those of the chain. Nothing is started.
    pub fn attach(&self, chain: &Arc<Chain>) {
        if self.ground.chain.set(Arc::downgrade(chain)).is_ok() {
            for (server, _) in &self.servers {
                server.remember();
            }
        }
    }

    /// Begins to connect to the servers whose tools are not known, all at once, and waits for none.
    pub fn start(&self) {
        for (server, _) in &self.servers {
            if !server.offer.is_known() {
                let server = Arc::clone(server);
                tokio::spawn(async move { server.link().await.map(drop) });
            }
        }
    }

    /// Waits until every server's tools are known, or it could not be started.
    pub async fn settle(&self) {
        let unknown = self
            .servers
            .iter()
            .filter(|(server, _)| !server.offer.is_known());
        join_all(unknown.map(|(server, _)| server.link())).await;
    }

    /// Connects to one server, or to all, whether or not its tools are known.
    ///
    /// # Errors
    /// There is no such server.
    pub async fn connect(&self, alias: Option<&str>) -> Result<(), UnknownServer> {
        let wanted: Vec<_> = match alias {
            Some(alias) => vec![self.find(alias)?],
            None => self.servers.iter().map(|(server, _)| server).collect(),
        };
        // What came of it stands in the report.
        join_all(wanted.into_iter().map(|server| server.link())).await;
        Ok(())
    }

    /// Waits for the tools of the server that a name is of, if they are not known and it may be started now.
    pub async fn ready_for(&self, name: &str) {
        let whose = self
            .servers
            .iter()
            .find(|(server, _)| server.setting.alias.owns(name));
        if let Some((server, _)) = whose.filter(|(server, _)| !server.offer.is_known())
            && let Err(why) = server.link().await
        {
            tracing::warn!(
                "the server '{}' is not running: {why}",
                server.setting.alias
            );
        }
    }

    fn find(&self, alias: &str) -> Result<&Arc<Server>, UnknownServer> {
        let mut servers = self.servers.iter();
        let found = servers.find(|(server, _)| server.setting.alias.as_str() == alias);
        found.map(|(server, _)| server).ok_or_else(|| {
            let names = self.servers.iter();
            UnknownServer {
                name: alias.to_owned(),
                known: names
                    .map(|(server, _)| server.setting.alias.to_string())
                    .collect(),
            }
        })
    }

    /// What there is to know of each server.
    pub fn report(&self) -> Vec<ServerReport> {
        let servers = self.servers.iter();
        servers
            .map(|(server, source)| report(server, source))
            .collect()
    }

    /// Accepts changed definitions of a server, by their digests, and offers them.
    ///
    /// # Errors
    /// For people: there is no such server, or its definitions are others by now.
    pub async fn accept(&self, alias: &str, digests: &[String]) -> Result<(), String> {
        let server = self.find(alias).map_err(|error| error.to_string())?;
        server.offer.accept(digests)?;
        server.remember();
        Ok(())
    }

    /// Ends all servers: their inputs are closed, and what is left after a second is ended. At most 2 s.
    pub async fn close(&self) {
        self.stop.cancel();
        let closing = join_all(self.servers.iter().map(|(server, _)| server.close()));
        let in_time = tokio::time::timeout(CLOSING, closing).await.is_ok();
        tracing::debug!(in_time, "the servers are ended");
    }
}

impl Drop for Upstreams {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A name that no server has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no server '{}'.{}",
    .name.escape_debug(),
    crate::model::suggestion(.name, .known.iter().map(String::as_str))
)]
pub struct UnknownServer {
    name: String,
    known: Vec<String>,
}

fn report(server: &Server, source: &Source) -> ServerReport {
    let sight = server.sight();
    let offered = server.offer.now();
    let (protocol, calls_itself) = match sight.speaks {
        Some((protocol, itself)) => (Some(protocol), itself),
        None => (None, None),
    };
    let tools = offered.tools.iter().map(|definition| ToolReport {
        name: definition.name.clone(),
        of_server: definition.raw.clone(),
        altered: definition.altered.clone(),
    });
    let changed = offered
        .differences()
        .map(|(definition, difference)| Changed {
            tool: definition.raw.clone(),
            sha256: definition.digest.clone(),
            difference,
        });
    ServerReport {
        alias: server.setting.alias.clone(),
        reach: server.setting.reach.words(),
        source: source.clone(),
        runs: sight.runs,
        down: sight.down,
        protocol,
        calls_itself,
        listed: offered.known,
        tools: tools.collect(),
        changed: changed.collect(),
        quarantined: offered.quarantined,
        left_out: offered.left_out,
        notes: offered.notes,
        junk_lines: sight.junk,
        stderr: sight.stderr,
    }
}
