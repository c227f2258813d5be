//! The state of one store: one field per capability. It belongs to one run. A session may keep it between two runs, and
//! then it holds no handle.

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
use crate::standard_streams::StandardStreams;
use portcullis_policy::{InstanceLifetime, Limits};
use std::mem::replace;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime_wasi::p2::DynPollable;
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
    streams: StandardStreams,
    pub(crate) call: CallContext,
    pub(crate) reports_left: usize,
    /// When the plugin was instantiated, so that its own code began.
    pub(crate) instantiated: Option<Instant>,
}

/// What one run gives a store.
pub(crate) struct RunParts<'a> {
    pub(crate) limits: &'a Limits,
    pub(crate) clock: RunClock,
    pub(crate) handles: Handles,
    pub(crate) call: CallContext,
    /// The receiver of the answer that the guest writes.
    pub(crate) output: OutputContext,
    /// Whether the store may be kept for another run.
    pub(crate) lifetime: InstanceLifetime,
}

impl StoreState {
    /// Creates a state with the handles of a run and nothing else. There are no environment variables, arguments or
    /// sockets, and stdin is empty. What the guest prints goes to the sink.
    pub(crate) fn new(run: RunParts<'_>) -> Self {
        let (filesystem, http, memory) = run.contexts();
        let RunParts { limits, clock, handles, call, output, .. } = run;
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.resources);
        let sink = Sink::new(limits.log_bytes);
        let streams = StandardStreams::new(sink.clone());
        let mut wasi = WasiCtx::builder();
        wasi.stdin(streams.clone())
            .stdout(streams.clone())
            .stderr(streams.clone())
            .max_random_size(limits.random_bytes as u64)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        handles.surroundings.surround(&mut wasi);
        Self {
            meter: Meter::new(limits),
            clock,
            table,
            weights: Weights::new(memory),
            wasi: wasi.build(),
            filesystem,
            http,
            output,
            stores: StoreBudget::new(),
            handles,
            sink,
            streams,
            call,
            reports_left: limits.progress_reports,
            instantiated: None,
        }
    }

    /// Gives a state at rest the handles and the budgets of another run, with the same limits. Its memory, its clocks
    /// and its randomness continue.
    pub(crate) fn begin(&mut self, run: RunParts<'_>) {
        let (filesystem, http, memory) = run.contexts();
        let RunParts { limits, clock, handles, call, output, .. } = run;
        // Dropping the old contexts reports nothing, because what they counted was taken when their run ended.
        let mut last = replace(&mut self.filesystem, filesystem);
        self.filesystem.continue_after(&mut last, &mut self.table);
        (self.clock, self.weights, self.http) = (clock, Weights::new(memory), http);
        (self.output, self.stores, self.handles) = (output, StoreBudget::new(), handles);
        (self.call, self.reports_left, self.instantiated) = (call, limits.progress_reports, None);
    }

    /// Takes everything from a state that its run gave it. Returns false if the guest still holds something of it, or
    /// if its memory is nearly full, so that the state must not be used again.
    pub(crate) fn rest(&mut self, idle: RunParts<'_>) -> bool {
        if self.meter.is_nearly_full() || self.meter.refused().is_some() || !self.holds_nothing() {
            return false;
        }
        if self.filesystem.close(&mut self.table).is_err() {
            return false;
        }
        self.begin(idle);
        true
    }

    /// Returns whether the resource table has nothing but what every run may use: standard streams, the descriptors of
    /// preopened directories, and pollables of these. An entry of another kind came from the last run.
    fn holds_nothing(&mut self) -> bool {
        let (mut entries, mut pollables) = (0, 0);
        for entry in self.table.iter_mut() {
            entries += 1;
            pollables += usize::from(entry.is::<DynPollable>());
        }
        // A pollable is the child of another entry. One that came from the last run shows by its parent.
        entries == pollables + self.streams.open() + self.filesystem.preopened_descriptors()
    }

    /// Charges the current weight of a table entry. An error ends the guest.
    pub(crate) fn weigh<T: Weighed + 'static>(&mut self, entry: &Resource<T>) -> wasmtime::Result<()> {
        let bytes = self.table.get(entry)?.weight();
        Ok(self.weights.set(entry, bytes)?)
    }
}

impl RunParts<'_> {
    fn contexts(&self) -> (FilesystemContext, HttpContext, HostMemory) {
        let Self { limits, handles, call, lifetime, .. } = self;
        let (memory, host) = (HostMemory::new(limits), Arc::clone(&call.host));
        let filesystem = FilesystemContext::new(handles, *lifetime, limits, memory.clone(), Arc::clone(&host));
        let client = handles.default_client().cloned();
        let http = HttpContext::new(client, handles.secrets(), memory.clone(), host);
        (filesystem, http, memory)
    }
}

impl WasiView for StoreState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}
