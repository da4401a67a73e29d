//! From a stranger's bytes to machine code: bounded, and once.
//!
//! A component is looked through before it is compiled ([`prescan`]), and compiled with a wall-clock limit: in a worker
//! process with limits of memory and processor time where the host has one ([`CompileWorker`]), else on a thread of this
//! process, where the look before is what bounds it. The result is kept under the digest of the component and the
//! settings of the engine ([`CodeCache`]), so that it is compiled once for all processes of a user. Never contains what a
//! component may do.

mod cache;
mod in_process;
mod machine_code;
mod prescan;
mod worker;

use std::hash::{Hash as _, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

pub use cache::{CacheError, CodeCache};
pub(super) use machine_code::built_in;
pub use worker::{CompileWorker, WorkerFailure, run_compile_worker};

use self::cache::CodeName;
use self::machine_code::OwnCode;
use super::ComponentError;

/// The largest component that is compiled, bytes. Python's runtime alone has 18 MiB.
pub(crate) const MAX_COMPONENT: usize = 32 << 20;
/// The largest text form, bytes: it becomes several times as large in memory while it is read.
const MAX_TEXT: usize = 4 << 20;
/// How long compiling may take. Python's runtime takes 20 s of two processors, 40 in an unoptimised host.
const TIME: Duration = Duration::from_secs(180);

/// How an engine compiles. Clones share the count.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    settings: [u8; 32],
    pub(super) cache: Option<Arc<CodeCache>>,
    pub(super) worker: Option<Arc<CompileWorker>>,
    count: Arc<AtomicU64>,
}

impl Compiler {
    pub(super) fn new(engine: &Engine) -> Self {
        let mut hasher = Digesting(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Self {
            settings: hasher.0.finalize().into(),
            cache: None,
            worker: None,
            count: Arc::default(),
        }
    }

    /// How many components were compiled, not counting those whose code was there.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The code of a component, if it is cached. `digest`: SHA-256 of the component in hexadecimal.
    pub(super) fn cached(&self, engine: &Engine, digest: &str) -> Option<Component> {
        let cache = self.cache.as_ref()?;
        let name = CodeName::new(digest, &self.settings)?;
        let code = cache.load(&name)?;
        match code.load(engine) {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!("the code of {digest} is compiled again: {error}");
                None
            }
        }
    }

    /// Loads a component from its code where that is cached, else compiles it and keeps the code.
    pub(super) fn component(
        &self,
        engine: &Engine,
        digest: &str,
        bytes: &[u8],
    ) -> Result<Component, ComponentError> {
        if let Some(component) = self.cached(engine, digest) {
            return Ok(component);
        }
        let binary = binary(bytes)?;
        prescan::check(&binary)?;
        let code = OwnCode::vouched_for(match &self.worker {
            Some(worker) => worker.compile(&binary, TIME)?,
            None => in_process::compile(engine, binary.into_owned(), TIME)?,
        });
        self.count.fetch_add(1, Ordering::Relaxed);
        tracing::info!("compiled the component {digest}");
        let component = code.load(engine)?;
        if let Some((cache, name)) = self
            .cache
            .as_ref()
            .zip(CodeName::new(digest, &self.settings))
        {
            // Without a cache everything works; it only takes longer.
            if let Err(error) = cache.keep(&name, &code) {
                tracing::warn!("the code of {digest} is not kept: {error}");
            }
        }
        Ok(component)
    }
}

/// The binary form of a component.
fn binary(bytes: &[u8]) -> Result<std::borrow::Cow<'_, [u8]>, ComponentError> {
    if bytes.len() > MAX_COMPONENT {
        return Err(ComponentError::TooLarge(bytes.len()));
    }
    if bytes.trim_ascii_start().starts_with(b"(") {
        if bytes.len() > MAX_TEXT {
            return Err(ComponentError::TooComplex(format!(
                "its text form has {} bytes, and {MAX_TEXT} is the most",
                bytes.len()
            )));
        }
        let parsed =
            wat::parse_bytes(bytes).map_err(|error| ComponentError::Invalid(error.to_string()))?;
        return by_kind(parsed);
    }
    by_kind(bytes.into())
}

fn by_kind(
    binary: std::borrow::Cow<'_, [u8]>,
) -> Result<std::borrow::Cow<'_, [u8]>, ComponentError> {
    if !binary.starts_with(b"\0asm") {
        return Err(ComponentError::NotWasm);
    }
    if binary.get(..8) == Some(b"\0asm\x01\0\0\0") {
        return Err(ComponentError::CoreModule);
    }
    Ok(binary)
}

/// Feeds what is hashed to a digest that is the same in every process.
struct Digesting(Sha256);

impl Hasher for Digesting {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
