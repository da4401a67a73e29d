//! Machine code of the built-in tools. The one place of the crate that says `unsafe`.
#![expect(
    unsafe_code,
    reason = "wasmtime cannot check machine code; this code comes out of this crate's own build script"
)]

use wasmtime::component::Component;

use super::component::ComponentError;
use super::engine::ToolEngine;

/// Loads what the build script compiled.
pub(super) fn load(
    engine: &ToolEngine,
    compiled: &'static [u8],
) -> Result<Component, ComponentError> {
    // SAFETY: `compiled` can only be a part of this program (`'static`, and `Source::BuiltIn` is filled from the
    // constants that build.rs writes), where `Engine::precompile_component` put it. wasmtime checks that its version and
    // settings are this engine's.
    let loaded = unsafe { Component::deserialize(engine.engine(), compiled) };
    loaded.map_err(|error| ComponentError::Invalid(format!("{error:#}")))
}
