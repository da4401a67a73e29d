//! The reference: the same component in bare wasmtime, tuned the same way, without any gate.

use std::sync::Arc;

use wasmtime::component::{Component, HasSelf, Linker, ResourceTable};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
    StoreLimits, StoreLimitsBuilder,
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

mod bindings {
    #![allow(missing_docs, unreachable_pub, reason = "generated code")]
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "toolgate:tool/tool-guest",
        imports: { default: trappable },
        exports: { default: async },
    });
}

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
}

/// Which bounds a call runs within. None of them is ever hit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// Instructions are counted.
    pub fuel: bool,
    /// The clock is looked at.
    pub epoch: bool,
    /// Memories, tables and instances are counted.
    pub limiter: bool,
    /// Handles, and bytes that are handed to the host, are counted.
    pub counts: bool,
}

impl Bounds {
    /// All of them.
    pub const ALL: Self = Self {
        fuel: true,
        epoch: true,
        limiter: true,
        counts: true,
    };
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl bindings::toolgate::tool::types::Host for State {}

impl bindings::toolgate::tool::host::Host for State {
    fn log(&mut self, _: bindings::toolgate::tool::host::Level, _: String) -> wasmtime::Result<()> {
        Ok(())
    }

    fn progress(&mut self, _: u32, _: Option<u32>, _: String) -> wasmtime::Result<()> {
        Ok(())
    }

    fn cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(false)
    }

    fn deadline_ms(&mut self) -> wasmtime::Result<u32> {
        Ok(0)
    }
}

/// A component that imports no files.
#[derive(Clone)]
pub struct Bare {
    engine: Engine,
    bounds: Bounds,
    pre: Arc<bindings::ToolGuestPre<State>>,
}

impl Bare {
    /// Compiles it. `bounded`: with fuel and epoch checks, as the host has them.
    pub fn new(wasm: &[u8], bounded: bool) -> wasmtime::Result<Self> {
        let bounds = Bounds {
            fuel: bounded,
            epoch: bounded,
            ..Bounds::default()
        };
        Self::within(wasm, bounds)
    }

    /// The same, within exactly these bounds.
    pub fn within(wasm: &[u8], bounds: Bounds) -> wasmtime::Result<Self> {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(256)
            .total_core_instances(2048)
            .total_memories(512)
            .total_tables(2048)
            .total_stacks(256)
            .table_elements(20_000)
            .max_memory_size(1 << 30)
            .linear_memory_keep_resident(2 << 20)
            .table_keep_resident(64 << 10)
            .async_stack_keep_resident(64 << 10)
            .pagemap_scan(Enabled::Auto);
        let mut config = Config::new();
        config
            .concurrency_support(false)
            .epoch_interruption(bounds.epoch)
            .consume_fuel(bounds.fuel)
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = Engine::new(&config)?;
        let mut linker = Linker::<State>::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        bindings::toolgate::tool::host::add_to_linker::<State, HasSelf<State>>(
            &mut linker,
            |state| state,
        )?;
        let component = Component::new(&engine, wasm)?;
        let pre = bindings::ToolGuestPre::new(linker.instantiate_pre(&component)?)?;
        Ok(Self {
            engine,
            bounds,
            pre: Arc::new(pre),
        })
    }

    /// Store, instance, call, drop.
    pub async fn call(&self, input: &str) -> wasmtime::Result<usize> {
        let state = State {
            wasi: WasiCtx::builder()
                .allow_blocking_current_thread(true)
                .build(),
            table: ResourceTable::new(),
            limits: StoreLimitsBuilder::new().memory_size(256 << 20).build(),
        };
        let mut store = Store::new(&self.engine, state);
        if self.bounds.fuel {
            store.set_fuel(u64::MAX / 2)?;
        }
        if self.bounds.epoch {
            store.set_epoch_deadline(u64::MAX / 2);
        }
        if self.bounds.limiter {
            store.limiter(|state| &mut state.limits);
        }
        if self.bounds.counts {
            store.set_hostcall_fuel(72 << 20);
            store.set_max_component_handles(1_000);
            store.data_mut().table.set_max_capacity(1_000);
        }
        let tool = self.pre.instantiate_async(&mut store).await?;
        let answer = tool
            .toolgate_tool_tool()
            .call_call(&mut store, input)
            .await?;
        Ok(answer.map_or(0, |output| output.content.len()))
    }
}
