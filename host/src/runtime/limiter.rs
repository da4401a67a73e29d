//! The memory bound: all memories and tables of an instance together.

use wasmtime::ResourceLimiter;

/// Bytes that a table element takes in the host.
const TABLE_ELEMENT: usize = 8;
/// The most elements of all tables together.
const MAX_TABLE_ELEMENTS: usize = 200_000;

/// Counts what an instance holds, and refuses growth over the limit.
#[derive(Debug)]
pub(super) struct Limiter {
    limit: usize,
    held: usize,
    table_elements: usize,
    refused: bool,
}

impl Limiter {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            held: 0,
            table_elements: 0,
            refused: false,
        }
    }

    /// The most that was held: memories never shrink, so what is held now.
    pub(super) fn high_water(&self) -> usize {
        self.held
    }

    /// Whether growth was refused. A guest that then dies, died of it.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    fn grow(&mut self, more: usize) -> bool {
        let wanted = self.held.saturating_add(more);
        let fits = wanted <= self.limit;
        if fits {
            self.held = wanted;
        } else {
            self.refused = true;
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
        self.table_elements = self.table_elements.saturating_add(more);
        if self.table_elements > MAX_TABLE_ELEMENTS {
            self.refused = true;
            return Ok(false);
        }
        Ok(self.grow(more.saturating_mul(TABLE_ELEMENT)))
    }

    fn instances(&self) -> usize {
        64
    }

    fn tables(&self) -> usize {
        64
    }

    fn memories(&self) -> usize {
        16
    }
}
