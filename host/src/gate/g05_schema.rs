//! Gate 5: the input against the tool's schema.
//!
//! Catches what models really get wrong, at every depth and all at once: a missing parameter, a wrong type, a value
//! outside the enum, an undeclared name. Refuses under `enforce`; under `warn` it only notes.

use serde_json::Value;

use super::g04_permission::Permitted;
use super::trail::{GateNote, Trail};
use crate::model::{Denial, DenialReason, Gate};
use crate::policy::SchemaMode;

/// A call whose input fits, or whose misfit is noted.
#[derive(Debug)]
pub(super) struct Validated {
    call: Permitted,
}

impl Validated {
    pub(super) fn permitted(&self) -> &Permitted {
        &self.call
    }
}

/// Checks the input.
pub(super) fn check(permitted: Permitted, trail: &mut Trail) -> Result<Validated, Denial> {
    let call = permitted.call();
    let (schema, mode) = call.tool().schema();
    if mode == SchemaMode::Off || call.tool().declaration().raw_input() {
        trail.note(Gate::Schema, GateNote::Passed, "not enforced for this tool");
        return Ok(Validated { call: permitted });
    }
    let violations = schema.violations(&Value::Object(call.input().as_ref().clone()));
    match mode {
        _ if violations.is_empty() => {
            trail.note(Gate::Schema, GateNote::Passed, "the input fits the schema");
        }
        SchemaMode::Off | SchemaMode::Warn => {
            trail.note(Gate::Schema, GateNote::Warned, violations.join(" "));
        }
        SchemaMode::Enforce => {
            return Err(Denial::new(
                Gate::Schema,
                DenialReason::InvalidInput { violations },
            ));
        }
    }
    Ok(Validated { call: permitted })
}
