//! The engine of a host: with the cache of machine code in the state directory, unless the embedder's has one.

use std::path::Path;

use crate::error::HostError;
use crate::runtime::{CodeCache, CompileWorker, ToolEngine};

/// Instances that may live at once, unless said otherwise.
const DEFAULT_SLOTS: u32 = 256;

/// An engine that compiles each component once for all hosts with this state directory.
pub(super) fn engine(
    given: Option<ToolEngine>,
    worker: Option<CompileWorker>,
    state: &Path,
) -> Result<ToolEngine, HostError> {
    let mut engine = match given {
        Some(engine) => engine,
        None => ToolEngine::new(DEFAULT_SLOTS)?,
    };
    if let Some(worker) = worker {
        engine = engine.with_compile_worker(worker);
    }
    if engine.has_code_cache() {
        return Ok(engine);
    }
    match CodeCache::in_state(state) {
        Ok(cache) => Ok(engine.with_code_cache(cache)),
        // Everything works without; it only takes longer.
        Err(error) => {
            tracing::warn!("components are compiled at each start: {error}");
            Ok(engine)
        }
    }
}
