//! `wasi:random`: bytes of the operating system, as many as the call's bound lets it have.

use wasmtime::component::HasData;
use wasmtime_wasi::p2::bindings::random::{insecure, random};

use super::state::State;
use crate::model::Stop;

/// Names the door in the linker.
pub(super) struct CountedRandom;

impl HasData for CountedRandom {
    type Data<'a> = Counted<'a>;
}

/// What a guest asks, and what is left of its bound.
pub(super) struct Counted<'a> {
    taken: &'a mut usize,
    limit: usize,
}

/// The bound struck.
#[derive(Debug, thiserror::Error)]
#[error("random bytes are used up")]
pub(super) struct RandomSpent {
    limit: usize,
}

impl RandomSpent {
    pub(super) fn stop(&self) -> Stop {
        Stop::Random { limit: self.limit }
    }
}

impl CountedRandom {
    pub(super) fn view(state: &mut State) -> Counted<'_> {
        let (taken, limit) = state.random_parts();
        Counted { taken, limit }
    }
}

impl Counted<'_> {
    fn bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        let wanted = usize::try_from(length).unwrap_or(usize::MAX);
        let taken = self.taken.saturating_add(wanted);
        if taken > self.limit {
            return Err(RandomSpent { limit: self.limit }.into());
        }
        *self.taken = taken;
        let mut bytes = vec![0; wanted];
        fill(&mut bytes)?;
        Ok(bytes)
    }

    fn number(&mut self) -> wasmtime::Result<u64> {
        let mut bytes = [0; 8];
        fill(&mut bytes)?;
        Ok(u64::from_ne_bytes(bytes))
    }
}

fn fill(bytes: &mut [u8]) -> wasmtime::Result<()> {
    let filled = getrandom::fill(bytes);
    filled.map_err(|error| wasmtime::format_err!("the machine gives no random bytes: {error}"))
}

impl random::Host for Counted<'_> {
    fn get_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.bytes(length)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.number()
    }
}

impl insecure::Host for Counted<'_> {
    fn get_insecure_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.bytes(length)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.number()
    }
}
