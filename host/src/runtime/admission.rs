//! Room for instances: a call that finds none waits for it, and no component takes all of it.
//!
//! Never contains a deadline: whoever waits is ended by the deadline of its call.

use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit};
use wasmtime::component::Component;

/// Tables that the pool has for each slot.
pub(super) const TABLES_OF_A_SLOT: u32 = 8;
/// Memories that the pool has for each slot.
pub(super) const MEMORIES_OF_A_SLOT: u32 = 2;

/// The room of one engine.
#[derive(Clone, Debug)]
pub(super) struct Admission {
    free: Arc<Semaphore>,
    slots: u32,
}

/// One component's share of the room: at most three quarters, so that a component that fills its share leaves something
/// to the others.
#[derive(Clone, Debug)]
pub(super) struct Share {
    own: Arc<Semaphore>,
    all: Arc<Semaphore>,
    slots: u32,
}

/// What one instance takes, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Room<'a> {
    _own: SemaphorePermit<'a>,
    _all: SemaphorePermit<'a>,
}

/// The engine is gone.
#[derive(Debug, thiserror::Error)]
#[error("the engine is closed")]
pub(super) struct Closed;

impl Admission {
    pub(super) fn new(slots: u32) -> Self {
        Self {
            free: Arc::new(Semaphore::new(slots as usize)),
            slots,
        }
    }

    /// The share of a component.
    pub(super) fn share(&self, component: &Component) -> Share {
        let most = (self.slots / 4 * 3).max(self.slots.min(1));
        // A component that imports modules says nothing; none such loads.
        let needs = component.resources_required();
        let slots = needs.map_or(1, |needs| {
            let memories = needs.num_memories.div_ceil(MEMORIES_OF_A_SLOT);
            let tables = needs.num_tables.div_ceil(TABLES_OF_A_SLOT);
            memories.max(tables)
        });
        Share {
            own: Arc::new(Semaphore::new(most as usize)),
            all: Arc::clone(&self.free),
            slots: slots.clamp(1, most.max(1)),
        }
    }
}

impl Share {
    /// Waits for room for one instance.
    pub(super) async fn room(&self) -> wasmtime::Result<Room<'_>> {
        // The own share first: what waits for it takes nothing from the others.
        let own = self.own.acquire_many(self.slots).await;
        let _own = own.map_err(|_closed| wasmtime::Error::from(Closed))?;
        let all = self.all.acquire_many(self.slots).await;
        let _all = all.map_err(|_closed| wasmtime::Error::from(Closed))?;
        Ok(Room { _own, _all })
    }
}
