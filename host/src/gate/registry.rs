//! The registry: name to declaration and provider. A second tool of a name is refused, also where the two differ only in
//! upper and lower case: who reads a list would take one for the other.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::ports::Provider;
use super::schema::{InputSchema, SchemaError};
use crate::model::{Concurrency, Declaration, FileScope, Limits, ToolName, Traits, Trust};
use crate::policy::{Access, NetworkAsk, NetworkAskError, SchemaMode, ToolFacts};

/// A tool on its way into the registry.
#[derive(Debug)]
pub struct Registration {
    /// What it says of itself.
    pub declaration: Declaration,
    /// SHA-256 of the component, in hexadecimal.
    pub digest: String,
    /// It is one of the host's own.
    pub built_in: bool,
    /// Who vouches for what it claims and nothing shows. What the sandbox shows needs nobody.
    pub trust: Trust,
    /// Bounds of its calls.
    pub limits: Limits,
    /// How its schema is enforced.
    pub schema_mode: SchemaMode,
    /// It computes subjects of its own ([`Provider::subjects`]).
    pub computes_subjects: bool,
    /// What is known of a tool that no sandbox holds; none for a component.
    pub foreign: Option<Foreign>,
    /// What runs it.
    pub provider: Arc<dyn Provider>,
}

/// A tool of a foreign server.
#[derive(Debug)]
pub struct Foreign {
    /// The verdict on what its calls may do, from the server's annotations and what the operator says of them. It stands in
    /// the place of the one on the declaration's claim.
    pub traits: Traits,
    /// The schema that inputs are held against: the server's own, of which the declaration shows what every client can read.
    pub schema: Value,
}

/// A tool that can be called.
#[derive(Debug)]
pub struct RegisteredTool {
    facts: ToolFacts,
    declaration: Declaration,
    digest: String,
    trust: Trust,
    foreign: bool,
    limits: Limits,
    network: Option<NetworkAsk>,
    schema: InputSchema,
    schema_mode: SchemaMode,
    provider: Arc<dyn Provider>,
    /// Held during a call of a tool that is exclusive.
    turn: Option<tokio::sync::Mutex<()>>,
}

/// Why a tool cannot be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// The name is taken.
    #[error("a tool named '{0}' is registered already")]
    Taken(ToolName),
    /// Another name is the same but for upper and lower case.
    #[error(
        "the name '{name}' differs from that of the tool '{taken}' only in upper and lower case"
    )]
    TooAlike {
        /// The name.
        name: ToolName,
        /// The name that is there.
        taken: ToolName,
    },
    /// The schema.
    #[error("{tool}: {error}")]
    Schema {
        /// The tool.
        tool: ToolName,
        /// What is wrong.
        error: SchemaError,
    },
    /// What it declares of the network.
    #[error("the tool '{tool}' asks for a network that cannot be: {error}")]
    Network {
        /// The tool.
        tool: ToolName,
        /// What is wrong.
        error: NetworkAskError,
    },
}

impl RegisteredTool {
    pub(super) fn new(registration: Registration) -> Result<Self, RegistrationError> {
        let declaration = registration.declaration;
        let foreign = registration.foreign.is_some();
        let (traits, schema) = match registration.foreign {
            Some(Foreign { traits, schema }) => (traits, InputSchema::compile(&schema)),
            None => (
                Traits::resolve(
                    &declaration.claim,
                    &declaration.evidence(),
                    registration.trust,
                ),
                InputSchema::compile(&declaration.input_schema),
            ),
        };
        let schema = schema.map_err(|error| RegistrationError::Schema {
            tool: declaration.name.clone(),
            error,
        })?;
        let network = NetworkAsk::read(&declaration).map_err(|error| {
            let tool = declaration.name.clone();
            RegistrationError::Network { tool, error }
        })?;
        let turn =
            (traits.concurrency == Concurrency::Exclusive).then(|| tokio::sync::Mutex::new(()));
        Ok(Self {
            facts: ToolFacts {
                name: declaration.name.clone(),
                traits,
                subject: declaration.subject.as_ref().map(|subject| subject.kind),
                computes_subjects: registration.computes_subjects,
                files: file_access(&declaration),
                built_in: registration.built_in,
            },
            digest: registration.digest,
            trust: registration.trust,
            foreign,
            limits: registration.limits,
            network,
            schema,
            schema_mode: registration.schema_mode,
            provider: registration.provider,
            turn,
            declaration,
        })
    }

    /// Its name.
    pub fn name(&self) -> &ToolName {
        &self.facts.name
    }

    /// What the policy knows of it.
    pub fn facts(&self) -> &ToolFacts {
        &self.facts
    }

    /// What it says of itself.
    pub fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// SHA-256 of the component, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Who vouches for it.
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// Whether it is a foreign server's, whose word nothing shows.
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Bounds of its calls.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What it declares of the network.
    pub fn network(&self) -> Option<&NetworkAsk> {
        self.network.as_ref()
    }

    pub(super) fn schema(&self) -> (&InputSchema, SchemaMode) {
        (&self.schema, self.schema_mode)
    }

    pub(super) fn provider(&self) -> &Arc<dyn Provider> {
        &self.provider
    }

    pub(super) async fn turn(&self) -> Option<tokio::sync::MutexGuard<'_, ()>> {
        match &self.turn {
            Some(turn) => Some(turn.lock().await),
            None => None,
        }
    }
}

/// The strongest file capability that is asked for. A writing view reads too.
fn file_access(declaration: &Declaration) -> Option<(Access, FileScope)> {
    let asked = declaration
        .capabilities
        .iter()
        .filter_map(|capability| capability.kind.files());
    asked
        .map(|(writes, scope)| (if writes { Access::Write } else { Access::Read }, scope))
        .max_by_key(|(access, _)| *access == Access::Write)
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    tools: BTreeMap<ToolName, Arc<RegisteredTool>>,
    /// Names in lower case, and the name that each is of.
    folded: BTreeMap<String, ToolName>,
    /// Removed tools with a subject or a view of files: a deny rule on one of them binds files and commands of every tool.
    gone: Vec<ToolFacts>,
}

impl Registry {
    /// Adds a tool.
    ///
    /// # Errors
    /// [`RegistrationError`]: nothing is added.
    pub fn register(&mut self, registration: Registration) -> Result<(), RegistrationError> {
        self.insert(RegisteredTool::new(registration)?)
    }

    pub(super) fn insert(&mut self, tool: RegisteredTool) -> Result<(), RegistrationError> {
        let name = tool.name().clone();
        self.free(&name)?;
        self.gone.retain(|gone| gone.name != name);
        self.folded
            .insert(name.as_str().to_ascii_lowercase(), name.clone());
        self.tools.insert(name, Arc::new(tool));
        Ok(())
    }

    /// Whether a tool of this name could be added.
    ///
    /// # Errors
    /// The name, or one that differs only in upper and lower case, is taken.
    pub fn free(&self, name: &ToolName) -> Result<(), RegistrationError> {
        match self.folded.get(&name.as_str().to_ascii_lowercase()) {
            None => Ok(()),
            Some(taken) if taken == name => Err(RegistrationError::Taken(name.clone())),
            Some(taken) => Err(RegistrationError::TooAlike {
                name: name.clone(),
                taken: taken.clone(),
            }),
        }
    }

    /// Takes a tool out. Rules on the files and commands of its calls go on holding.
    pub(super) fn remove(&mut self, name: &ToolName) -> Option<Arc<RegisteredTool>> {
        let tool = self.tools.remove(name)?;
        self.folded.remove(&name.as_str().to_ascii_lowercase());
        let facts = tool.facts();
        if facts.files.is_some() || facts.subject.is_some() || facts.computes_subjects {
            self.gone.push(tool.facts().clone());
        }
        Some(tool)
    }

    /// What a policy is built for: the tools, and removed ones whose rules go on holding.
    pub fn facts(&self) -> Vec<ToolFacts> {
        let tools = self.tools.values().map(|tool| tool.facts());
        tools.chain(&self.gone).cloned().collect()
    }

    /// The tool of this exact name.
    pub fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.tools.get(&ToolName::try_from(name).ok()?)
    }

    /// All tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.tools.values()
    }
}

impl fmt::Display for RegisteredTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.facts.name.fmt(f)
    }
}
