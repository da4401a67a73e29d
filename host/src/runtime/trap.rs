//! What ended a guest: a bound, a crash, or the host itself.

use std::time::Duration;

use wasmtime::Trap as WasmTrap;

use super::instance::GuestEnd;
use super::state::State;
use crate::model::{HostFailure, Stop, Trap};

/// The deadline struck while the guest computed.
#[derive(Debug, thiserror::Error)]
#[error("deadline")]
pub(super) struct DeadlineStruck;

/// Reads an error of wasmtime as an end, for a guest that had this much time and fuel. Nothing of wasmtime's text reaches the model but the trap's short cause.
pub(super) fn end_of(
    error: &wasmtime::Error,
    state: &State,
    time: Duration,
    fuel: u64,
) -> GuestEnd {
    if error.downcast_ref::<DeadlineStruck>().is_some() {
        return GuestEnd::Stopped(Stop::WallClock { limit: time });
    }
    let trap = error.downcast_ref::<WasmTrap>();
    match trap {
        Some(WasmTrap::OutOfFuel) => GuestEnd::Stopped(Stop::Fuel { limit: fuel }),
        Some(WasmTrap::StackOverflow) => GuestEnd::Stopped(Stop::Stack),
        // A guest whose growth was refused aborts by itself, in whatever way its language does.
        _ if state.limiter.refused() => GuestEnd::Stopped(Stop::Memory {
            limit: state.limiter.limit(),
        }),
        Some(trap) => {
            let text = trap.to_string();
            let cause = text.strip_prefix("wasm trap: ").unwrap_or(&text).to_owned();
            GuestEnd::Trapped(Trap { cause })
        }
        None => without_trap(error),
    }
}

fn without_trap(error: &wasmtime::Error) -> GuestEnd {
    if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
        return GuestEnd::Trapped(Trap {
            cause: format!("it left with exit code {} instead of answering", exit.0),
        });
    }
    let text = format!("{error:#}");
    let holds_too_much = [
        "fuel allocated for hostcalls",
        "handle limit exceeded",
        "no free keys",
        "active lends",
    ];
    if holds_too_much.iter().any(|part| text.contains(part)) {
        return GuestEnd::Stopped(Stop::HostMemory);
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
    ];
    if broken_values.iter().any(|part| text.contains(part)) {
        return GuestEnd::Trapped(Trap {
            cause: "it handed over a value that its interface does not allow".to_owned(),
        });
    }
    GuestEnd::HostError(HostFailure { message: text })
}
