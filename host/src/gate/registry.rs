//! The registry: name to declaration and provider. A second tool of a name is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::ports::Provider;
use super::schema::{InputSchema, SchemaError};
use crate::model::{Concurrency, Declaration, FileScope, Limits, ToolName, Traits, Trust};
use crate::policy::{Access, SchemaMode, ToolFacts};

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
    /// What runs it.
    pub provider: Arc<dyn Provider>,
}

/// A tool that can be called.
#[derive(Debug)]
pub struct RegisteredTool {
    facts: ToolFacts,
    declaration: Declaration,
    digest: String,
    trust: Trust,
    limits: Limits,
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
    /// The schema.
    #[error("{tool}: {error}")]
    Schema {
        /// The tool.
        tool: ToolName,
        /// What is wrong.
        error: SchemaError,
    },
}

impl RegisteredTool {
    fn new(registration: Registration) -> Result<Self, RegistrationError> {
        let declaration = registration.declaration;
        let schema = InputSchema::compile(&declaration.input_schema).map_err(|error| {
            RegistrationError::Schema {
                tool: declaration.name.clone(),
                error,
            }
        })?;
        let traits = Traits::resolve(
            &declaration.claim,
            &declaration.evidence(),
            registration.trust,
        );
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
            limits: registration.limits,
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

    /// Bounds of its calls.
    pub fn limits(&self) -> &Limits {
        &self.limits
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
#[derive(Debug, Default)]
pub struct Registry {
    tools: BTreeMap<ToolName, Arc<RegisteredTool>>,
}

impl Registry {
    /// Adds a tool.
    ///
    /// # Errors
    /// [`RegistrationError`]: nothing is added.
    pub fn register(&mut self, registration: Registration) -> Result<(), RegistrationError> {
        let tool = RegisteredTool::new(registration)?;
        if self.tools.contains_key(tool.name()) {
            return Err(RegistrationError::Taken(tool.name().clone()));
        }
        self.tools.insert(tool.name().clone(), Arc::new(tool));
        Ok(())
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
