//! Stores: what bounds every guest, whatever it was built for, and the empty sandbox of guests that are granted nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{Store, UpdateDeadline};

use super::engine::ToolEngine;
use super::files::{FileView, ReadLedger, RootDirs};
use super::state::State;
use super::trap::DeadlineStruck;

/// The most bytes that one guest hands to the host at once: a result, or a file to write.
const MAX_TRANSFER: usize = 72 << 20;
/// The most handles that a guest holds.
const MAX_HANDLES: usize = 1_000;

/// What an empty sandbox may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The wall clock. The store ends what computes; whoever runs the guest ends what waits.
    pub(super) time: Duration,
    /// Instructions.
    pub(super) fuel: u64,
    /// Bytes of memories and tables together.
    pub(super) memory: usize,
}

/// A store around a state, with the fuel of one run.
pub(super) fn store(engine: &ToolEngine, state: State, fuel: u64) -> Store<State> {
    let deadline = state.deadline;
    let mut store = Store::new(engine.engine(), state);
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(MAX_TRANSFER);
    store.set_max_component_handles(MAX_HANDLES);
    // The engine has fuel switched on; a store without any traps at its first instruction.
    if let Err(error) = store.set_fuel(fuel) {
        tracing::error!("fuel cannot be set: {error:#}");
    }
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |_| {
        if Instant::now() >= deadline {
            Err(DeadlineStruck.into())
        } else {
            Ok(UpdateDeadline::Yield(1))
        }
    });
    store
}

/// A store in which nothing is granted: no files, no network, no environment.
pub(super) fn empty_sandbox(engine: &ToolEngine, bounds: Bounds) -> Store<State> {
    let deadline = Instant::now() + bounds.time;
    let files = FileView::new(
        None,
        RootDirs::default(),
        Arc::new(ReadLedger::new()),
        deadline,
    );
    store(
        engine,
        State::new(files, bounds.memory, deadline, None),
        bounds.fuel,
    )
}
