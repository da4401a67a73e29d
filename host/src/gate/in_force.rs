//! The tools and the policy in force. Both may be replaced while calls run: a call keeps the tool that its name meant when
//! it was resolved, is judged by one policy from its first gate to its last, and judged again where another one came into
//! force before it was cleared.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::watch;

use super::registry::{RegisteredTool, Registration, RegistrationError, Registry};
use crate::model::ToolName;
use crate::policy::{Policy, PolicyError, Rule};

/// Tools to take out and to add, in one step: a tool in both lists is replaced.
#[derive(Debug, Default)]
pub struct ToolChange {
    /// Names of the tools to take out first. A name that no tool has is none.
    pub remove: Vec<ToolName>,
    /// Tools to add.
    pub add: Vec<Registration>,
}

/// A tool that was not added, while the rest of the change took place.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct RefusedTool {
    /// Its name.
    pub name: ToolName,
    /// Why.
    pub why: ToolRefusal,
}

/// Why a tool cannot be added while the host runs.
#[derive(Debug, thiserror::Error)]
pub enum ToolRefusal {
    /// Its name or its schema.
    #[error(transparent)]
    Registration(#[from] RegistrationError),
    /// A rule that names it does not fit it: better no tool than one whose rules say nothing.
    #[error("{0}")]
    Rule(PolicyError),
}

/// The tools and the policy of one moment.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    pub(super) registry: Arc<Registry>,
    pub(super) policy: Arc<Policy>,
}

/// See the module.
#[derive(Debug)]
pub(super) struct InForce {
    ground: RwLock<Ground>,
    /// Held by who makes another ground out of the one in force.
    changing: Mutex<()>,
    changed: watch::Sender<u64>,
}

impl InForce {
    pub(super) fn new(registry: Registry, policy: Policy) -> Self {
        Self {
            ground: RwLock::new(Ground {
                registry: Arc::new(registry),
                policy: Arc::new(policy),
            }),
            changing: Mutex::new(()),
            changed: watch::Sender::new(0),
        }
    }

    /// Tools and policy of this moment.
    pub(super) fn current(&self) -> Ground {
        self.ground
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Whether this is still the policy in force.
    pub(super) fn still(&self, policy: &Policy) -> bool {
        let ground = self.ground.read().unwrap_or_else(PoisonError::into_inner);
        ground.policy.version() == policy.version()
    }

    /// Counts the changes of what a model may see.
    pub(super) fn changed(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Puts other rules in force.
    pub(super) fn set_rules(&self, rules: &[Rule]) -> Result<(), Vec<PolicyError>> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let Ground { registry, policy } = self.current();
        let policy = Arc::new(policy.with_rules(rules, &registry.facts())?);
        self.replace(Ground { registry, policy });
        Ok(())
    }

    /// Takes tools out and adds others.
    pub(super) fn change_tools(
        &self,
        change: ToolChange,
    ) -> Result<Vec<RefusedTool>, Vec<PolicyError>> {
        let mut refused = Vec::new();
        // Schemas are compiled before anybody has to wait.
        let mut made = Vec::new();
        for registration in change.add {
            let name = registration.declaration.name.clone();
            match RegisteredTool::new(registration) {
                Ok(tool) => made.push(tool),
                Err(error) => refused.push(RefusedTool {
                    name,
                    why: error.into(),
                }),
            }
        }
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let Ground { registry, policy } = self.current();
        let mut registry = Registry::clone(&registry);
        for name in &change.remove {
            registry.remove(name);
        }
        for tool in made {
            let name = tool.name().clone();
            let fits = policy.fits(tool.facts()).map_err(ToolRefusal::Rule);
            let added = fits.and_then(|()| Ok(registry.insert(tool)?));
            refused.extend(added.err().map(|why| RefusedTool { name, why }));
        }
        let policy = Arc::new(policy.with_tools(&registry.facts())?);
        let registry = Arc::new(registry);
        self.replace(Ground { registry, policy });
        Ok(refused)
    }

    fn replace(&self, ground: Ground) {
        let before = {
            let mut held = self.ground.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *held, ground.clone())
        };
        if seen(&before) != seen(&ground) {
            self.changed.send_modify(|count| *count += 1);
        }
    }
}

/// What a model may see of a ground: two that are equal give the same list.
fn seen(ground: &Ground) -> Vec<*const RegisteredTool> {
    let shown = ground.registry.tools();
    let shown = shown.filter(|tool| ground.policy.shows(tool.facts()));
    shown.map(Arc::as_ptr).collect()
}
