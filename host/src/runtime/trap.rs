//! What ended a guest: a bound, a crash, or the host itself.

use std::time::Duration;

use wasmtime::Trap as WasmTrap;
use wasmtime::component::ResourceTableError;

use super::instance::GuestEnd;
use super::random_door::RandomSpent;
use super::state::{MAX_FIELDS, State};
use crate::model::{HostFailure, Stop, Trap};

/// The deadline struck while the guest computed.
#[derive(Debug, thiserror::Error)]
#[error("deadline")]
pub(super) struct DeadlineStruck;

/// Reads an error of wasmtime as an end, for a guest that had this much time. Nothing of wasmtime's text reaches the model but the trap's short cause.
pub(super) fn end_of(error: &wasmtime::Error, state: &State, time: Duration) -> GuestEnd {
    if error.downcast_ref::<DeadlineStruck>().is_some() {
        return GuestEnd::Stopped(Stop::WallClock { limit: time });
    }
    let trap = error.downcast_ref::<WasmTrap>();
    match trap {
        Some(WasmTrap::OutOfFuel) => GuestEnd::Stopped(Stop::Fuel {
            limit: state.limits().fuel.units(),
        }),
        Some(WasmTrap::StackOverflow) => GuestEnd::Stopped(Stop::Stack),
        _ => match (state.limiter.refused(), trap) {
            // A guest whose growth was refused aborts by itself, in whatever way its language does.
            (Some(stop), _) => GuestEnd::Stopped(stop.clone()),
            (None, Some(trap)) => {
                let text = trap.to_string();
                let cause = text.strip_prefix("wasm trap: ").unwrap_or(&text).to_owned();
                GuestEnd::Trapped(Trap { cause })
            }
            (None, None) => without_trap(error, state),
        },
    }
}

fn without_trap(error: &wasmtime::Error, state: &State) -> GuestEnd {
    if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
        return GuestEnd::Trapped(Trap {
            cause: format!("it left with exit code {} instead of answering", exit.0),
        });
    }
    let text = format!("{error:#}");
    if let Some(stop) = bound_of(error, &text, state) {
        return GuestEnd::Stopped(stop);
    }
    // What the canonical ABI says of values that are none, and of handles that are not the guest's.
    let broken_values = [
        "utf-8",
        "utf8",
        "pointer",
        "discriminant",
        "out of bounds",
        "unknown handle",
        "resource",
        "char",
        // What wasi:io says of a write that nobody permitted.
        "exceeded budget",
    ];
    if broken_values.iter().any(|part| text.contains(part)) {
        return GuestEnd::Trapped(Trap {
            cause: "it handed over a value that its interface does not allow".to_owned(),
        });
    }
    GuestEnd::HostError(HostFailure { message: text })
}

/// The bound that an error without a trap speaks of. Where wasmtime has no type for it, its words are compared; the tests
/// of the sandbox hold each of them.
fn bound_of(error: &wasmtime::Error, text: &str, state: &State) -> Option<Stop> {
    let limits = state.limits();
    if let Some(spent) = error.downcast_ref::<RandomSpent>() {
        return Some(spent.stop());
    }
    let full = matches!(
        error.downcast_ref::<ResourceTableError>(),
        Some(ResourceTableError::Full)
    );
    let handles = ["handle limit exceeded", "no free keys", "active lends"];
    if full || handles.iter().any(|part| text.contains(part)) {
        let limit = limits.handles.get();
        return Some(Stop::Handles { limit });
    }
    if text.contains("fuel allocated for hostcalls") {
        let limit = limits.transfer.get();
        return Some(Stop::Transfer { limit });
    }
    if text.contains("total size of fields") || text.contains("too many fields") {
        return Some(Stop::Fields { limit: MAX_FIELDS });
    }
    if text.contains("resource limit exceeded") {
        let limit = limits.instances.get();
        return Some(Stop::Instances { limit });
    }
    None
}
