//! The engine of all stores: its settings, its pool and its linker.

pub(crate) mod config;

pub use config::{DESCRIBE_SLOTS, EngineConfig, EngineError, REVIEW_SLOTS};

use crate::codegen;
use crate::footprint::Footprint;
use crate::state::StoreState;
use crate::ticker::{Ticker, Ticking};
use crate::{contract, filesystem, http, wasi};
use config::{FIBER_STACK_BYTES, MEMORY_KEEP_RESIDENT_BYTES, TABLE_KEEP_RESIDENT_BYTES, slots};
use portcullis_policy::Limits;
use std::sync::Arc;
use wasmtime::component::{HasData, HasSelf, Linker, ResourceTable};
use wasmtime::{Config, Enabled, InstanceAllocationStrategy, PoolingAllocationConfig, WasmBacktraceDetails};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::p2::bindings::{cli, clocks, io, random, sockets};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView};

/// Size of the guest's stack, in bytes: wasmtime's default. Deeper recursion ends the run at the stack limit.
const WASM_STACK_BYTES: usize = 512 * 1024;

/// Maximum bytes of engine structures of a core instance or component. Measurements showed that it is enough for
/// CPython.
const INSTANCE_STRUCTURES_BYTES_MAX: usize = 1024 * 1024;

/// A WebAssembly engine. Clones share it.
#[derive(Clone)]
pub struct Engine {
    pub(crate) engine: wasmtime::Engine,
    pub(crate) linker: Arc<Linker<StoreState>>,
    ticker: Arc<Ticker>,
    footprint: Footprint,
    fingerprint: Option<[u8; 32]>,
    largest: Limits,
    instances: u64,
}

impl Engine {
    /// Starts an engine: reserves its pool, links the imports of guests, and starts the epoch thread.
    ///
    /// # Errors
    /// The pool cannot be reserved, or the thread cannot be started.
    pub fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        let mut settings = compile_settings();
        // The pool does not change the code, so the compile worker does without one.
        settings.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(config)));
        let engine = wasmtime::Engine::new(&settings)?;
        let linker = Arc::new(linker(&engine)?);
        let ticker = Ticker::start(&engine)?;
        let fingerprint = codegen::fingerprint(&engine);
        let (footprint, largest, instances) = (Footprint::of(config), config.largest, slots(config).into());
        Ok(Self { engine, linker, ticker, footprint, fingerprint, largest, instances })
    }

    /// Returns the maximum memory that this engine can make the process use.
    pub fn footprint(&self) -> Footprint {
        self.footprint
    }

    /// Returns the instances of plugins that are in use, and the places for them.
    pub fn pool_usage(&self) -> (u64, u64) {
        let used = self.engine.pooling_allocator_metrics().map_or(0, |pool| pool.component_instances());
        (used, self.instances)
    }

    /// Returns whether idle memory is reset by asking the kernel which pages changed. Without it, a call costs about
    /// twice as much. It needs Linux 6.7 or later.
    pub fn resets_by_page_scan() -> bool {
        PoolingAllocationConfig::is_pagemap_scan_available()
    }

    /// Returns a digest of what compiled code depends on besides the plugin's bytes: engine version, settings and
    /// processor. Returns `None` if this program cannot compile.
    pub fn fingerprint(&self) -> Option<[u8; 32]> {
        self.fingerprint
    }

    /// Describes the largest instance that this engine runs. A component that was refused under other limits is tried
    /// again.
    pub fn limits(&self) -> String {
        let Limits { memory_bytes, memories, table_elements, tables, core_instances, .. } = self.largest;
        format!(
            "{memories} memories of {memory_bytes} bytes, {tables} tables of {table_elements} elements, \
             {core_instances} instances"
        )
    }

    /// Keeps the epoch advancing until the result is dropped.
    pub(crate) fn ticking(&self) -> Ticking<'_> {
        Ticking::new(&self.ticker)
    }
}

/// Returns the settings that determine the compiled code. The compile worker uses the same settings, so that its code
/// matches the engine.
pub(crate) fn compile_settings() -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.max_wasm_stack(WASM_STACK_BYTES).async_stack_size(FIBER_STACK_BYTES);
    // Off, because a backtrace contains function names chosen by the guest, and nothing here shows backtraces.
    config.wasm_backtrace_max_frames(None).wasm_backtrace_details(WasmBacktraceDetails::Disable);
    // Off, because no supported guest language needs these features, and every feature is attack surface. Threads,
    // garbage collection, exceptions and stack switching are not even compiled in, because their crate features are
    // off.
    config.shared_memory(false).wasm_memory64(false).wasm_multi_memory(false);
    config.wasm_tail_call(false).wasm_relaxed_simd(false).wasm_custom_page_sizes(false).wasm_wide_arithmetic(false);
    codegen::configure(&mut config);
    config
}

fn pool(config: &EngineConfig) -> PoolingAllocationConfig {
    let slots = slots(config);
    let largest = &config.largest;
    let each = |limit: usize| u32::try_from(limit).unwrap_or(u32::MAX);
    let mut pool = PoolingAllocationConfig::new();
    pool.linear_memory_keep_resident(MEMORY_KEEP_RESIDENT_BYTES).table_keep_resident(TABLE_KEEP_RESIDENT_BYTES);
    pool.pagemap_scan(if Engine::resets_by_page_scan() { Enabled::Yes } else { Enabled::No });
    pool.max_memory_size(largest.memory_bytes).table_elements(largest.table_elements);
    pool.total_component_instances(slots).total_stacks(slots).max_unused_warm_slots(slots);
    pool.max_core_instances_per_component(each(largest.core_instances));
    pool.max_memories_per_component(each(largest.memories)).max_tables_per_component(each(largest.tables));
    pool.max_memories_per_module(each(largest.memories)).max_tables_per_module(each(largest.tables));
    // Enough for every slot to reach its limits at the same time.
    pool.total_core_instances(slots.saturating_mul(each(largest.core_instances)));
    pool.total_memories(slots.saturating_mul(each(largest.memories)));
    pool.total_tables(slots.saturating_mul(each(largest.tables)));
    pool.max_core_instance_size(INSTANCE_STRUCTURES_BYTES_MAX);
    pool.max_component_instance_size(INSTANCE_STRUCTURES_BYTES_MAX);
    pool
}

struct CapabilityTable;

impl HasData for CapabilityTable {
    type Data<'a> = &'a mut ResourceTable;
}

/// Links everything that a guest can import. `component.rs` lists the same names for the check before compilation.
fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<StoreState>> {
    let mut linker = Linker::new(engine);
    let l = &mut linker;
    io::error::add_to_linker::<StoreState, CapabilityTable>(l, |state| &mut state.table)?;
    io::poll::add_to_linker::<StoreState, CapabilityTable>(l, |state| &mut state.table)?;
    io::streams::add_to_linker::<StoreState, CapabilityTable>(l, |state| &mut state.table)?;
    clocks::wall_clock::add_to_linker::<StoreState, WasiClocks>(l, StoreState::clocks)?;
    clocks::monotonic_clock::add_to_linker::<StoreState, WasiClocks>(l, StoreState::clocks)?;
    random::random::add_to_linker::<StoreState, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    random::insecure::add_to_linker::<StoreState, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<StoreState, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    cli::exit::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    // Language runtimes import these in any case. The state has no variables, arguments or terminal for them.
    cli::environment::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    cli::stdin::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    cli::stdout::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    cli::stderr::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    cli::terminal_input::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    cli::terminal_output::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    cli::terminal_stdin::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    cli::terminal_stdout::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    cli::terminal_stderr::add_to_linker::<StoreState, WasiCli>(l, StoreState::cli)?;
    filesystem::add_to_linker(l)?;
    http::add_to_linker(l)?;
    refuse_sockets(l)?;
    wasi::keyvalue::store::add_to_linker::<StoreState, HasSelf<StoreState>>(l, |state| state)?;
    wasi::keyvalue::atomics::add_to_linker::<StoreState, HasSelf<StoreState>>(l, |state| state)?;
    wasi::config::store::add_to_linker::<StoreState, HasSelf<StoreState>>(l, |state| state)?;
    wasi::logging::logging::add_to_linker::<StoreState, HasSelf<StoreState>>(l, |state| state)?;
    contract::add_to_linker(l)?;
    Ok(linker)
}

/// Links the socket interfaces, which some languages always import. The state grants no sockets, so every function
/// refuses.
fn refuse_sockets(l: &mut Linker<StoreState>) -> wasmtime::Result<()> {
    sockets::network::add_to_linker::<StoreState, WasiSockets>(
        l,
        &sockets::network::LinkOptions::default(),
        StoreState::sockets,
    )?;
    sockets::instance_network::add_to_linker::<StoreState, WasiSockets>(l, StoreState::sockets)?;
    sockets::tcp::add_to_linker::<StoreState, WasiSockets>(l, StoreState::sockets)?;
    sockets::tcp_create_socket::add_to_linker::<StoreState, WasiSockets>(l, StoreState::sockets)?;
    sockets::udp::add_to_linker::<StoreState, WasiSockets>(l, StoreState::sockets)?;
    sockets::udp_create_socket::add_to_linker::<StoreState, WasiSockets>(l, StoreState::sockets)?;
    sockets::ip_name_lookup::add_to_linker::<StoreState, WasiSockets>(l, StoreState::sockets)
}
