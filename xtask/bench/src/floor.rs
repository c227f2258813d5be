//! Bare wasmtime without the host: a fresh store, an instance, one call, and everything dropped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{
    Component, ComponentExportIndex, InstancePre, Linker, Resource, ResourceTable, ResourceType,
};
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Result, Store, bail, format_err,
};
use wasmtime_wasi::p2::{add_to_linker_async, add_to_linker_sync};
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

mod bindings {
    #![allow(missing_docs, unreachable_pub, clippy::all, reason = "written by a macro from wit/v0.2")]

    wasmtime::component::bindgen!({
        path: "../../wit/v0.2",
        world: "portcullis:tool/plugin",
        imports: { default: trappable },
        with: {
            "wasi:io": wasmtime_wasi::p2::bindings::sync::io,
            "wasi:clocks": wasmtime_wasi::p2::bindings::sync::clocks,
            "wasi:filesystem": wasmtime_wasi::p2::bindings::sync::filesystem,
        },
        require_store_data_send: true,
    });
}

use bindings::exports::portcullis::tool::handler::{Failure, Success};
use bindings::portcullis::tool::dependencies::{Client, Service};
use bindings::portcullis::tool::{context, dependencies, types};
use bindings::wasi::http::types as http;

/// A component compiled with one engine configuration.
pub(crate) struct Floor {
    engine: Engine,
    instance: InstancePre<State>,
    execute: ComponentExportIndex,
    workspace: PathBuf,
}

/// The interfaces that no measured call uses.
const UNUSED: [&str; 7] = [
    "portcullis:tool/output",
    "portcullis:tool/programs",
    "portcullis:tool/tools",
    "wasi:config/",
    "wasi:http/",
    "wasi:keyvalue/",
    "wasi:logging/",
];

/// Links what WASI offers to a guest.
type AddToLinker = fn(&mut Linker<State>) -> Result<()>;

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl Floor {
    /// Uses the settings that were measured as the fastest (`performance.md`).
    pub(crate) fn tuned(component: &[u8], workspace: &Path) -> Result<Self> {
        Self::compiled(&tuned(), component, add_to_linker_sync, workspace)
    }

    /// Uses the same settings with asynchronous functions of the host, for calls that wait at the same time.
    pub(crate) fn tuned_async(guest: &Path, workspace: &Path) -> Result<Arc<Self>> {
        let component =
            std::fs::read(guest).map_err(|error| format_err!("cannot read {}: {error}", guest.display()))?;
        Self::compiled(&tuned(), &component, add_to_linker_async, workspace).map(Arc::new)
    }

    /// Uses wasmtime's default configuration.
    pub(crate) fn default_configuration(component: &[u8], workspace: &Path) -> Result<Self> {
        Self::compiled(&Config::new(), component, add_to_linker_sync, workspace)
    }

    /// Compiles a component with wasmtime's default configuration, for [`map`](Self::map).
    pub(crate) fn compile(component: &[u8]) -> Result<Vec<u8>> {
        Engine::new(&Config::new())?.precompile_component(component)
    }

    /// Maps the code in a file.
    pub(crate) fn map(code: &Path, workspace: &Path) -> Result<Self> {
        let engine = Engine::new(&Config::new())?;
        #[expect(unsafe_code, reason = "a bench trusts the code that it has compiled")]
        // SAFETY: the bench wrote the file in this run, in a directory of its own.
        let component = unsafe { Component::deserialize_file(&engine, code) }?;
        Self::new(engine, &component, add_to_linker_sync, workspace)
    }

    fn compiled(config: &Config, component: &[u8], wasi: AddToLinker, workspace: &Path) -> Result<Self> {
        let engine = Engine::new(config)?;
        let component = Component::from_binary(&engine, component)?;
        Self::new(engine, &component, wasi, workspace)
    }

    fn new(engine: Engine, component: &Component, wasi: AddToLinker, workspace: &Path) -> Result<Self> {
        let mut linker = Linker::new(&engine);
        wasi(&mut linker)?;
        context::add_to_linker::<State, wasmtime::component::HasSelf<State>>(&mut linker, |state| state)?;
        dependencies::add_to_linker::<State, wasmtime::component::HasSelf<State>>(&mut linker, |state| state)?;
        link_unused(&engine, &mut linker, component)?;
        let instance = linker.instantiate_pre(component)?;
        let handler = component.get_export_index(None, "portcullis:tool/handler@0.2.0");
        let execute = handler.and_then(|handler| component.get_export_index(Some(&handler), "execute-raw"));
        let execute = execute.ok_or_else(|| format_err!("the component is no plugin"))?;
        Ok(Self { engine, instance, execute, workspace: workspace.to_owned() })
    }
    /// Makes one call.
    pub(crate) fn call(&self, tool: &str, arguments: &str) -> Result<()> {
        let mut store = self.store()?;
        let instance = self.instance.instantiate(&mut store)?;
        let execute =
            instance.get_typed_func::<(&str, &str), (Result<Success, Failure>,)>(&mut store, &self.execute)?;
        let (answer,) = execute.call(&mut store, (tool, arguments))?;
        succeeded(answer)
    }

    /// Makes one call, which may wait.
    pub(crate) async fn call_async(&self, tool: &str, arguments: &str) -> Result<()> {
        let mut store = self.store()?;
        let instance = self.instance.instantiate_async(&mut store).await?;
        let execute =
            instance.get_typed_func::<(&str, &str), (Result<Success, Failure>,)>(&mut store, &self.execute)?;
        let (answer,) = execute.call_async(&mut store, (tool, arguments)).await?;
        succeeded(answer)
    }

    fn store(&self) -> Result<Store<State>> {
        let wasi = WasiCtx::builder().preopened_dir(&self.workspace, "/workspace", FsPerms::ReadOnly)?.build();
        Ok(Store::new(&self.engine, State { wasi, table: ResourceTable::new() }))
    }
}

/// Links the other interfaces that a large guest imports. A call that uses one of their functions fails.
fn link_unused(engine: &Engine, linker: &mut Linker<State>, component: &Component) -> Result<()> {
    for (interface, item) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(instance) = item.ty else { continue };
        if !UNUSED.iter().any(|unused| interface.starts_with(unused)) {
            continue;
        }
        let mut linked = linker.instance(interface)?;
        for (name, item) in instance.exports(engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) => linked.func_new(name, |_, _, _, _| bail!("not linked"))?,
                ComponentItem::Resource(_) => linked.resource(name, resource(name), |_, _| Ok(()))?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the type of a resource. One that a linked function takes, too, needs the type which that has.
fn resource(name: &str) -> ResourceType {
    use wasmtime_wasi::p2::bindings::sync::io;
    match name {
        "outgoing-request" => ResourceType::host::<http::OutgoingRequest>(),
        "request-options" => ResourceType::host::<http::RequestOptions>(),
        "future-incoming-response" => ResourceType::host::<http::FutureIncomingResponse>(),
        "client" => ResourceType::host::<Client>(),
        "input-stream" => ResourceType::host::<io::streams::InputStream>(),
        "output-stream" => ResourceType::host::<io::streams::OutputStream>(),
        "io-error" => ResourceType::host::<io::error::Error>(),
        "pollable" => ResourceType::host::<io::poll::Pollable>(),
        "descriptor" => ResourceType::host::<wasmtime_wasi::filesystem::Descriptor>(),
        _ => ResourceType::host::<Unused>(),
    }
}

/// A resource of an interface that no measured call uses.
struct Unused;

fn tuned() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.linear_memory_keep_resident(512 << 10).table_keep_resident(64 << 10).max_memory_size(64 << 20);
    pool.pagemap_scan(match PoolingAllocationConfig::is_pagemap_scan_available() {
        true => Enabled::Yes,
        false => Enabled::No,
    });
    let mut config = Config::new();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

fn succeeded(answer: Result<Success, Failure>) -> Result<()> {
    answer.map(|_| ()).map_err(|failure| format_err!("the tool failed: {failure:?}"))
}

impl context::Host for State {
    fn current(&mut self) -> wasmtime::Result<context::Call> {
        Ok(context::Call { id: String::new(), session: String::new(), message: None, agent: None })
    }

    fn report(&mut self, _: context::Progress) -> wasmtime::Result<()> {
        Ok(())
    }

    fn keep(&mut self, _: types::Blob) -> wasmtime::Result<Result<(), String>> {
        Ok(Ok(()))
    }

    fn is_cancelled(&mut self) -> wasmtime::Result<bool> {
        Ok(false)
    }

    fn ask(&mut self, _: String, _: String, _: String) -> wasmtime::Result<Result<(), String>> {
        Ok(Ok(()))
    }

    fn ask_with_patterns(
        &mut self,
        _: String,
        _: String,
        _: String,
        _: Vec<String>,
    ) -> wasmtime::Result<Result<(), String>> {
        Ok(Ok(()))
    }
}

impl dependencies::Host for State {
    fn open_directory(
        &mut self,
        _: String,
    ) -> wasmtime::Result<Result<Resource<wasmtime_wasi::filesystem::Descriptor>, dependencies::Unavailable>> {
        use wasmtime_wasi::filesystem::WasiFilesystemView;
        use wasmtime_wasi::p2::bindings::sync::filesystem::preopens::Host;
        let (directory, _) = self.filesystem().get_directories()?.remove(0);
        Ok(Ok(directory))
    }

    fn open_client(&mut self, _: String) -> wasmtime::Result<Result<Resource<Client>, dependencies::Unavailable>> {
        Ok(Err(dependencies::Unavailable::NotGranted))
    }

    fn open_service(&mut self, _: String) -> wasmtime::Result<Result<Resource<Service>, dependencies::Unavailable>> {
        Ok(Err(dependencies::Unavailable::NotGranted))
    }

    fn names_host(&mut self, _: String, _: String) -> wasmtime::Result<Result<bool, dependencies::Unavailable>> {
        Ok(Err(dependencies::Unavailable::NotGranted))
    }
}

/// The floor binds no HTTP client, so these methods are never called.
impl dependencies::HostClient for State {
    fn send(
        &mut self,
        _: Resource<Client>,
        _: Resource<http::OutgoingRequest>,
        _: Option<Resource<http::RequestOptions>>,
    ) -> wasmtime::Result<Result<Resource<http::FutureIncomingResponse>, http::ErrorCode>> {
        Ok(Err(http::ErrorCode::HttpRequestDenied))
    }

    fn refusal(&mut self, _: Resource<Client>) -> wasmtime::Result<Option<String>> {
        Ok(None)
    }

    fn has_secret(&mut self, _: Resource<Client>) -> wasmtime::Result<bool> {
        Ok(false)
    }

    fn drop(&mut self, _: Resource<Client>) -> wasmtime::Result<()> {
        Ok(())
    }
}

/// The floor binds no service either.
impl dependencies::HostService for State {
    fn call(&mut self, _: Resource<Service>, _: String, _: String) -> wasmtime::Result<Result<String, String>> {
        Ok(Err("there is no service".to_owned()))
    }

    fn drop(&mut self, _: Resource<Service>) -> wasmtime::Result<()> {
        Ok(())
    }
}

/// Converts a wasmtime error, which does not implement `std::error::Error`.
#[expect(clippy::needless_pass_by_value, reason = "used as a function of the error alone")]
pub(crate) fn shown(error: wasmtime::Error) -> anyhow::Error {
    anyhow::anyhow!("{error:#}")
}
