//! What answers `wasi:http`: wasmtime's types over our own client.

use super::Client;
use crate::state::State;
use wasmtime::component::Linker;
use wasmtime_wasi_http::p2::bindings::http;
use wasmtime_wasi_http::{
    Error, RequestOptions, WasiBody, WasiHttp, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

/// A call's use of the network.
pub(crate) struct HttpContext {
    ctx: WasiHttpCtx,
    hooks: Hooks,
    chosen: Hooks,
}

impl HttpContext {
    pub(crate) fn new(default: Option<Client>) -> Self {
        Self { ctx: WasiHttpCtx::new(), hooks: Hooks { client: default }, chosen: Hooks { client: None } }
    }
}

/// The client that the request at hand goes through.
struct Hooks {
    client: Option<Client>,
}

impl WasiHttpHooks for Hooks {
    fn send_request(
        &mut self,
        request: ::http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<
        dyn Future<
                Output = Result<
                    (::http::Response<WasiBody>, Box<dyn Future<Output = Result<(), Error>> + Send>),
                    Error,
                >,
            > + Send,
    > {
        let _ = (&self.client, request, options);
        Box::new(async { Err(Error::HttpRequestDenied) })
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.http.hooks, table: &mut self.table, ctx: &mut self.http.ctx }
    }
}

impl State {
    /// As `http`, through one client.
    pub(crate) fn http_through(&mut self, client: Client) -> WasiHttpCtxView<'_> {
        self.http.chosen = Hooks { client: Some(client) };
        WasiHttpCtxView { hooks: &mut self.http.chosen, table: &mut self.table, ctx: &mut self.http.ctx }
    }
}

/// Adds `wasi:http` to a linker.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    http::outgoing_handler::add_to_linker::<State, WasiHttp>(linker, State::http)?;
    http::types::add_to_linker::<State, WasiHttp>(linker, &http::types::LinkOptions::default(), State::http)
}
