//! The guard of `wasi:filesystem` for one host call, and its registration in a linker.

use super::FilesystemContext;
use crate::directory::closed_descriptor;
use crate::host_memory::Weights;
use crate::state::StoreState;
use portcullis_policy::InstanceLifetime;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::WasiCtx;
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtxView};
use wasmtime_wasi::p2::bindings::filesystem::{preopens, types};

/// The guard for the duration of one host call.
pub(super) struct FilesystemGuard<'a> {
    pub(super) context: &'a mut FilesystemContext,
    pub(super) wasi: &'a mut WasiCtx,
    pub(super) table: &'a mut ResourceTable,
    pub(super) weights: &'a mut Weights,
}

impl FilesystemGuard<'_> {
    /// Returns wasmtime's implementation.
    pub(super) fn inner(&mut self) -> WasiFilesystemCtxView<'_> {
        WasiFilesystemCtxView { ctx: self.wasi.filesystem(), table: self.table }
    }
}

struct FilesystemGuardData;

impl HasData for FilesystemGuardData {
    type Data<'a> = FilesystemGuard<'a>;
}

/// Adds `wasi:filesystem` to a linker.
pub(crate) fn add_to_linker(linker: &mut Linker<StoreState>) -> wasmtime::Result<()> {
    fn guard(state: &mut StoreState) -> FilesystemGuard<'_> {
        let StoreState { filesystem, wasi, table, weights, .. } = state;
        FilesystemGuard { context: filesystem, wasi, table, weights }
    }
    preopens::add_to_linker::<StoreState, FilesystemGuardData>(linker, guard)?;
    types::add_to_linker::<StoreState, FilesystemGuardData>(linker, guard)
}

impl preopens::Host for FilesystemGuard<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut preopens = Vec::with_capacity(self.context.preopens.len());
        for (path, directory) in &self.context.preopens {
            preopens.push((self.table.push(directory.descriptor())?, path.clone()));
        }
        if self.context.lifetime == InstanceLifetime::Session {
            for path in &self.context.closed {
                preopens.push((self.table.push(closed_descriptor()?)?, path.clone()));
            }
            self.context.preopened.note(&preopens);
        }
        Ok(preopens)
    }
}
