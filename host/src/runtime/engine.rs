//! The engine: one for the process, with pooled memory where the machine allows it, and the clock that ends guests that
//! never yield.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use wasmtime::component::Linker;
use wasmtime::{Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::admission::{Admission, MEMORIES_OF_A_SLOT, TABLES_OF_A_SLOT};
use super::compile::{CodeCache, CompileWorker, Compiler};
use super::limiter::{MAX_MEMORIES, MAX_TABLES};
use super::linker::linker;
use super::state::State;
use super::tuning;
use crate::model::{MAX_INSTANCES, MemoryLimit};

/// How often a guest that only computes is looked at. Short enough to end it well within 100 ms of its deadline.
const TICK: Duration = Duration::from_millis(10);
/// Kept warm of each slot: what a small guest touches (measured: 11 µs instead of 30 for the whole call).
const KEEP_RESIDENT: usize = 2 << 20;
/// The native stack of a guest.
const MAX_WASM_STACK: usize = 512 << 10;

/// The process's engine and linker. Cheap to clone.
#[derive(Clone)]
pub struct ToolEngine {
    engine: Engine,
    linker: Arc<Linker<State>>,
    compiler: Compiler,
    admission: Admission,
    _ticker: Arc<Ticker>,
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[error("the Wasm engine cannot start: {0}")]
pub struct EngineError(String);

impl ToolEngine {
    /// Starts an engine with room for `slots` instances at once, 1 to 10,000. Where the machine has too little address
    /// space for that, fewer slots are tried, then allocation on demand.
    ///
    /// # Errors
    /// No allocation strategy works on this machine.
    pub fn new(slots: u32) -> Result<Self, EngineError> {
        let slots = slots.clamp(1, 10_000);
        let few = slots.min(8);
        let (engine, slots) = pooled(slots)
            .map(|engine| (engine, slots))
            .or_else(|_| pooled(few).map(|engine| (engine, few)))
            .or_else(|_| {
                Engine::new(base().allocation_strategy(InstanceAllocationStrategy::OnDemand))
                    .map(|engine| (engine, slots))
            })
            .map_err(|error| EngineError(format!("{error:#}")))?;
        let linker = linker(&engine).map_err(|error| EngineError(format!("{error:#}")))?;
        Ok(Self {
            linker: Arc::new(linker),
            compiler: Compiler::new(&engine),
            admission: Admission::new(slots),
            _ticker: Arc::new(
                Ticker::start(engine.clone()).map_err(|error| EngineError(error.to_string()))?,
            ),
            engine,
        })
    }

    /// The same engine with a cache for the code of what it compiles.
    #[must_use]
    pub fn with_code_cache(mut self, cache: CodeCache) -> Self {
        self.compiler.cache = Some(Arc::new(cache));
        self
    }

    /// Whether it has such a cache.
    pub fn has_code_cache(&self) -> bool {
        self.compiler.cache.is_some()
    }

    /// The same engine with a process for compiling, in the place of a thread.
    #[must_use]
    pub fn with_compile_worker(mut self, worker: CompileWorker) -> Self {
        self.compiler.worker = Some(Arc::new(worker));
        self
    }

    /// How many components this engine compiled, with all that were made from it. Those that were loaded from cached code,
    /// and the built-in ones, are not among them.
    pub fn compilations(&self) -> u64 {
        self.compiler.count()
    }

    pub(super) fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Room for instances.
    pub(super) fn admission(&self) -> &Admission {
        &self.admission
    }

    pub(super) fn linker(&self) -> &Linker<State> {
        &self.linker
    }
}

impl std::fmt::Debug for ToolEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolEngine").finish_non_exhaustive()
    }
}

fn base() -> wasmtime::Config {
    let mut config = tuning::config();
    config
        // Nobody reads a stranger's stack.
        .wasm_backtrace_max_frames(None)
        .max_wasm_stack(MAX_WASM_STACK)
        .async_stack_size(MAX_WASM_STACK + (512 << 10));
    config
}

fn pooled(slots: u32) -> wasmtime::Result<Engine> {
    let most_instances = u32::try_from(MAX_INSTANCES).unwrap_or(u32::MAX);
    let mut pool = PoolingAllocationConfig::new();
    // Python components have up to 38 core modules, StarlingMonkey 7,688 table elements.
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(most_instances))
        .total_memories(slots.saturating_mul(MEMORIES_OF_A_SLOT).max(MAX_MEMORIES))
        .total_tables(slots.saturating_mul(TABLES_OF_A_SLOT).max(MAX_TABLES))
        .total_stacks(slots)
        .max_core_instances_per_component(most_instances)
        .max_memories_per_component(MAX_MEMORIES)
        .max_memories_per_module(MAX_MEMORIES)
        .max_tables_per_component(MAX_TABLES)
        .max_tables_per_module(MAX_TABLES)
        .max_component_instance_size(4 << 20)
        .max_core_instance_size(4 << 20)
        .table_elements(20_000)
        .max_memory_size(MemoryLimit::MAX)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(64 << 10)
        .async_stack_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    let mut config = base();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&config)
}

/// A thread that moves the epoch on, for as long as the engine lives.
struct Ticker {
    stop: Arc<AtomicBool>,
}

impl Ticker {
    fn start(engine: Engine) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        thread::Builder::new()
            .name("toolgate-epoch".to_owned())
            .spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    thread::sleep(TICK);
                    engine.increment_epoch();
                }
            })?;
        Ok(Self { stop })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
