//! The state of one store: one field per capability, created for each call and dropped after it.

use crate::clock::RunClock;
use crate::context::CallContext;
use crate::filesystem::FilesystemContext;
use crate::handles::Handles;
use crate::host_memory::{HostMemory, Weighed, Weights};
use crate::http::HttpContext;
use crate::keyvalue::StoreBudget;
use crate::log::Sink;
use crate::meter::Meter;
use crate::output::OutputContext;
use portcullis_policy::Limits;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

pub(crate) struct StoreState {
    pub(crate) meter: Meter,
    pub(crate) clock: RunClock,
    pub(crate) table: ResourceTable,
    /// The weights of the table entries whose size depends on the guest.
    pub(crate) weights: Weights,
    pub(crate) wasi: WasiCtx,
    pub(crate) filesystem: FilesystemContext,
    pub(crate) http: HttpContext,
    pub(crate) output: OutputContext,
    pub(crate) stores: StoreBudget,
    pub(crate) handles: Handles,
    pub(crate) sink: Sink,
    pub(crate) call: CallContext,
    pub(crate) reports_left: usize,
    /// When the plugin was instantiated, so that its own code began.
    pub(crate) instantiated: Option<Instant>,
}

impl StoreState {
    /// Creates a state with these handles and nothing else. There are no environment variables, arguments or sockets,
    /// and stdin is empty. What the guest prints goes to `sink`, and the answer that it writes goes to `output`.
    pub(crate) fn new(
        limits: &Limits,
        clock: RunClock,
        handles: Handles,
        call: CallContext,
        sink: &Sink,
        output: OutputContext,
    ) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.resources);
        let memory = HostMemory::new(limits);
        let mut wasi = WasiCtx::builder();
        wasi.stdout(sink.clone())
            .stderr(sink.clone())
            .max_random_size(limits.random_bytes as u64)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        handles.surroundings.surround(&mut wasi);
        Self {
            meter: Meter::new(limits),
            clock,
            table,
            weights: Weights::new(memory.clone()),
            wasi: wasi.build(),
            filesystem: FilesystemContext::new(handles.directories(), limits, memory.clone(), Arc::clone(&call.host)),
            http: HttpContext::new(
                handles.default_client().cloned(),
                handles.secrets(),
                memory,
                Arc::clone(&call.host),
            ),
            output,
            stores: StoreBudget::new(),
            handles,
            sink: sink.clone(),
            call,
            reports_left: limits.progress_reports,
            instantiated: None,
        }
    }

    /// Charges the current weight of a table entry. An error ends the guest.
    pub(crate) fn weigh<T: Weighed + 'static>(&mut self, entry: &Resource<T>) -> wasmtime::Result<()> {
        let bytes = self.table.get(entry)?.weight();
        Ok(self.weights.set(entry, bytes)?)
    }
}

impl WasiView for StoreState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}
