//! The front door of the library, and the composition root: the only place that knows every adapter.

mod builder;
mod built_in;
mod settings;

use std::sync::Arc;

pub use builder::HostBuilder;

use crate::gate::{Chain, Explanation, RegisteredTool};
use crate::model::{Outcome, RawCall};
use crate::policy::Policy;

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
}

impl Host {
    /// Begins a host for a workspace directory.
    pub fn builder(workspace: impl Into<std::path::PathBuf>) -> HostBuilder {
        HostBuilder::new(workspace.into())
    }

    /// Calls a tool. Whatever happens, there is one outcome and one record. Dropping the future ends the call.
    pub async fn call(&self, call: RawCall) -> Outcome {
        self.chain.call(call).await
    }

    /// What every gate would say, without running anything.
    pub async fn explain(&self, call: &RawCall) -> Explanation {
        self.chain.explain(call).await
    }

    /// The tools that a model may see, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        let policy = self.chain.policy();
        self.chain
            .registry()
            .tools()
            .filter(move |tool| policy.shows(tool.facts()))
    }

    /// All tools, the hidden ones too.
    pub fn all_tools(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.chain.registry().tools()
    }

    /// The rules in force.
    pub fn policy(&self) -> &Policy {
        self.chain.policy()
    }
}
