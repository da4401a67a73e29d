//! The front door of the library, and the composition root: the only place that knows every adapter.

mod approvers;
mod builder;
mod built_in;
mod code;
mod egress;
mod hooks;
mod installed;
mod loading;
mod settings;
mod shell;
mod upstream;
mod web;

use std::sync::Arc;
use std::time::Duration;

pub use builder::HostBuilder;
pub use loading::LeftOut;

use crate::error::HostError;
use crate::gate::{Chain, Explanation, RefusedTool, RegisteredTool, SessionEvent, ToolChange};
use crate::model::{Denial, Outcome, RawCall};
use crate::policy::{ExemptLine, Policy, Rule};
use crate::provider::NativeShell;
use crate::shell::Probe;
use crate::upstream::Upstreams;

/// How long commands that have to go are waited for when the host ends.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// A running host: tools behind the gate chain.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use toolgate::{Host, model::RawCall};
///
/// let host = Host::builder(".").build().await?;
/// let outcome = host.call(RawCall::new("Read", r#"{"file_path":"README.md"}"#)).await;
/// println!("{}", outcome.ending.text());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Host {
    chain: Arc<Chain>,
    shell: Option<Arc<NativeShell>>,
    left_out: Arc<[LeftOut]>,
    upstreams: Option<Arc<Upstreams>>,
}

impl Host {
    /// Begins a host for a workspace directory.
    pub fn builder(workspace: impl Into<std::path::PathBuf>) -> HostBuilder {
        HostBuilder::new(workspace.into())
    }

    /// Calls a tool. Whatever happens, there is one outcome and one record. Dropping the future ends the call.
    pub async fn call(&self, call: RawCall) -> Outcome {
        self.ready_for(&call.name).await;
        self.chain.call(call).await
    }

    /// What every gate would say, without running anything.
    pub async fn explain(&self, call: &RawCall) -> Explanation {
        self.ready_for(&call.name).await;
        self.chain.explain(call).await
    }

    /// A tool of a server whose list is not known yet is waited for, as long as the server may take to begin.
    async fn ready_for(&self, name: &str) {
        if let Some(upstreams) = &self.upstreams {
            upstreams.ready_for(name).await;
        }
    }

    /// The MCP servers whose tools are offered; none where none is configured. None of them is started before it is needed:
    /// by a call, or by [`Upstreams::start`].
    pub fn upstreams(&self) -> Option<&Upstreams> {
        self.upstreams.as_deref()
    }

    /// Ends the MCP servers, in at most 2 s. Calls of their tools fail from now on.
    pub async fn close(&self) {
        if let Some(upstreams) = &self.upstreams {
            upstreams.close().await;
        }
    }

    /// The tools of this moment that a model may see, by name.
    pub fn tools(&self) -> impl Iterator<Item = Arc<RegisteredTool>> {
        self.chain.shown().into_iter()
    }

    /// All tools of this moment, the hidden ones too, by name.
    pub fn all_tools(&self) -> impl Iterator<Item = Arc<RegisteredTool>> {
        let tools: Vec<_> = self.chain.registry().tools().cloned().collect();
        tools.into_iter()
    }

    /// Adds, replaces and takes out tools while the host runs, in one step. Names and rules are checked as at the start: a
    /// tool whose name is taken, or that a rule does not fit, is not added and comes back with the reason, and the rest of
    /// the change takes place. Calls that are in flight keep the tool that they resolved.
    ///
    /// # Errors
    /// The rules do not hold with these tools: nothing is changed.
    pub fn change_tools(&self, change: ToolChange) -> Result<Vec<RefusedTool>, HostError> {
        let changed = self.chain.change_tools(change);
        changed.map_err(HostError::Policy)
    }

    /// A count that grows whenever what [`tools`](Self::tools) gives changes, be it by other tools or by other rules.
    pub fn tools_changed(&self) -> tokio::sync::watch::Receiver<u64> {
        self.chain.tools_changed()
    }

    /// The names of the built-in tools, of which a host may have fewer.
    pub fn built_in_tools() -> impl Iterator<Item = &'static str> {
        built_in::all().iter().map(|tool| tool.name)
    }

    /// What components offer and this host does not: functions of plain components that cannot be tools, and, where the
    /// builder was told to leave them out, components that cannot be used.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Which tools run without being asked where no rule speaks of them.
    pub fn exempt(&self) -> ExemptLine {
        self.chain.exempt()
    }

    /// The policy in force.
    pub fn policy(&self) -> Arc<Policy> {
        self.chain.policy()
    }

    /// Puts other rules in force, with all other settings as they are. Calls that are not cleared yet are decided again.
    ///
    /// # Errors
    /// What is wrong with the rules: the old ones stay in force.
    pub fn set_rules(&self, rules: &[Rule]) -> Result<(), HostError> {
        self.chain.set_rules(rules).map_err(HostError::Policy)
    }

    /// What this machine gives commands, found out by running one; none where the host has no shell.
    pub async fn probe_shell(&self) -> Option<Probe> {
        match &self.shell {
            Some(native) => Some(native.shell().probe().await),
            None => None,
        }
    }

    /// Ends every command, every background task and every terminal, and waits at most so long until their processes are gone.
    /// Gives how many are not. For hosts that stop: dropping the host ends them too, and waits for nothing.
    pub async fn end_commands(&self, longest: Duration) -> usize {
        match &self.shell {
            Some(native) => native.end_all(longest).await,
            None => 0,
        }
    }

    /// Ends what runs: calls wherever they are, then commands, tasks and terminals. Each call has its outcome and its
    /// record, which say [`Stop::Shutdown`](crate::model::Stop::Shutdown); so has each call that comes later. Returns when
    /// the last record is written and the commands are gone, for which it waits at most 10 s. Gives how many are not.
    /// Hooks of the session are the agent's to raise before.
    pub async fn shutdown(&self) -> usize {
        self.chain.shutdown().await;
        self.close().await;
        self.end_commands(SHUTDOWN).await
    }

    /// Tells the hooks of something that happened in the agent's session.
    ///
    /// # Errors
    /// A hook denied it, or is broken. A denied prompt stays away from the model, a denied stop asks the agent to go on.
    pub async fn raise(&self, event: SessionEvent) -> Result<(), Denial> {
        self.chain.raise(event).await
    }
}
