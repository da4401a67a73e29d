//! The bounds on what an instance holds: all memories and tables together, elements of tables, instances.

use wasmtime::ResourceLimiter;

use crate::model::{Limits, Stop};

/// Bytes that a table element takes in the host.
const TABLE_ELEMENT: usize = 8;
/// The most tables of a call; what the pool has for one component.
pub(super) const MAX_TABLES: u32 = 64;
/// The most memories of a call; what the pool has for one component.
pub(super) const MAX_MEMORIES: u32 = 16;

/// Counts what an instance holds, and refuses growth over a limit.
#[derive(Debug)]
pub(super) struct Limiter {
    limits: Limits,
    held: usize,
    table_elements: usize,
    refused: Option<Stop>,
}

impl Limiter {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            held: 0,
            table_elements: 0,
            refused: None,
        }
    }

    /// The most that was held: memories never shrink, so what is held now.
    pub(super) fn high_water(&self) -> usize {
        self.held
    }

    /// The bound by which growth was refused. A guest that then dies, died of it.
    pub(super) fn refused(&self) -> Option<&Stop> {
        self.refused.as_ref()
    }

    fn grow(&mut self, more: usize) -> bool {
        let limit = self.limits.memory.bytes();
        let wanted = self.held.saturating_add(more);
        let fits = wanted <= limit;
        if fits {
            self.held = wanted;
        } else {
            self.refused = Some(Stop::Memory { limit });
        }
        fits
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(desired.saturating_sub(current)))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        let wanted = self.table_elements.saturating_add(more);
        let limit = self.limits.table_elements.get();
        if wanted > limit {
            self.refused = Some(Stop::Tables { limit });
            return Ok(false);
        }
        let fits = self.grow(more.saturating_mul(TABLE_ELEMENT));
        if fits {
            self.table_elements = wanted;
        }
        Ok(fits)
    }

    fn instances(&self) -> usize {
        self.limits.instances.get()
    }

    fn tables(&self) -> usize {
        MAX_TABLES as usize
    }

    fn memories(&self) -> usize {
        MAX_MEMORIES as usize
    }
}
