//! Stores: what bounds every guest, whatever it was built for, and the empty sandbox of guests that are granted nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{Store, UpdateDeadline};

use super::engine::ToolEngine;
use super::files::{FileView, ReadLedger, RootDirs};
use super::state::State;
use super::trap::DeadlineStruck;
use crate::model::Limits;

/// What an empty sandbox may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The wall clock. The store ends what computes; whoever runs the guest ends what waits.
    pub(super) time: Duration,
    /// Everything else.
    pub(super) limits: Limits,
}

/// A store around a state, with the bounds of one run.
pub(super) fn store(engine: &ToolEngine, state: State) -> Store<State> {
    let limits = *state.limits();
    let deadline = state.deadline;
    let mut store = Store::new(engine.engine(), state);
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(limits.transfer.get());
    store.set_max_component_handles(limits.handles.get());
    // The engine has fuel switched on; a store without any traps at its first instruction.
    if let Err(error) = store.set_fuel(limits.fuel.units()) {
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
    store(engine, State::new(files, bounds.limits, deadline, None))
}
