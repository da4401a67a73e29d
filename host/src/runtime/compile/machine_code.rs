//! Machine code that is ours. The one place of the crate that says `unsafe`.
#![expect(
    unsafe_code,
    reason = "wasmtime cannot check machine code; what is loaded here came out of this crate's own compiler"
)]

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::runtime::ComponentError;
use crate::runtime::component::refused;

/// Machine code that this host made: compiled just now, or read from its cache and found to be what it wrote.
pub(super) struct OwnCode(Vec<u8>);

impl OwnCode {
    /// Only for what the compiler just gave, or what the cache's seal vouches for.
    pub(super) fn vouched_for(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn load(&self, engine: &Engine) -> Result<Component, ComponentError> {
        // SAFETY: an `OwnCode` is made in two places of the module above: from what `Engine::precompile_component`
        // returned in this process or in the worker that this process started, and from a file whose seal, made with a key
        // that only this user reads, shows that such bytes were written. wasmtime checks that version and settings are
        // this engine's.
        let loaded = unsafe { Component::deserialize(engine, &self.0) };
        loaded.map_err(|error| refused(&error))
    }
}

/// Loads what the build script compiled.
pub(in crate::runtime) fn built_in(
    engine: &Engine,
    compiled: &'static [u8],
) -> Result<Component, ComponentError> {
    // SAFETY: `compiled` can only be a part of this program (`'static`, and `Source::BuiltIn` is filled from the
    // constants that build.rs writes), where `Engine::precompile_component` put it. wasmtime checks that its version and
    // settings are this engine's.
    let loaded = unsafe { Component::deserialize(engine, compiled) };
    loaded.map_err(|error| ComponentError::Invalid(format!("{error:#}")))
}
