//! The policy in force. It may be replaced while calls run: each call is judged by one policy from its first gate to
//! its last, and judged again where another one came into force before it was cleared.

use std::sync::{Arc, PoisonError, RwLock};

use crate::policy::Policy;

/// See the module.
#[derive(Debug)]
pub(super) struct InForce(RwLock<Arc<Policy>>);

impl InForce {
    pub(super) fn new(policy: Policy) -> Self {
        Self(RwLock::new(Arc::new(policy)))
    }

    /// The policy of this moment.
    pub(super) fn current(&self) -> Arc<Policy> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this is still the policy in force.
    pub(super) fn still(&self, policy: &Policy) -> bool {
        self.current().version() == policy.version()
    }

    /// Puts another policy in its place.
    pub(super) fn replace(&self, policy: Policy) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }
}
