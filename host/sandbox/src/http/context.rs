//! The HTTP state of a call, and wasmtime's hooks that check headers and send requests.

use super::Traffic;
use super::call::NetworkCall;
use super::client::Client;
use super::error::{HttpFailure, RequestRefusal};
use super::order::{self, AskedRequest};
use super::watch::PluginSecrets;
use super::{exchange, headers, types};
use crate::context::CallHost;
use crate::host_memory::{HostMemory, HostMemoryFull};
use ::http::{HeaderName, Request, Response};
use portcullis_policy::Destination;
use std::sync::Arc;
use wasmtime_wasi_http::{Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpHooks};

/// The future that drives a connection. It is always ready, because the response's body owns the connection.
type Io = Box<dyn Future<Output = Result<(), Error>> + Send>;

/// The HTTP state of a call: its use of the network, and the secrets to search for in everything that it returns.
pub(crate) struct HttpContext {
    pub(super) ctx: WasiHttpCtx,
    pub(super) hooks: Hooks,
    is_taken: bool,
    /// Receives the traffic of a call that was dropped.
    host: Arc<dyn CallHost>,
}

impl HttpContext {
    pub(crate) fn new(
        default: Option<Client>,
        secrets: Option<Arc<PluginSecrets>>,
        memory: HostMemory,
        host: Arc<dyn CallHost>,
    ) -> Self {
        let mut ctx = WasiHttpCtx::new();
        ctx.set_field_size_limit(types::FIELDS_BYTES_MAX);
        Self { ctx, hooks: Hooks::new(default, secrets, memory), is_taken: false, host }
    }

    /// Returns why the host refused or aborted the last request of the call.
    pub(crate) fn refusal(&self) -> Option<String> {
        self.hooks.call.refusal()
    }

    /// Removes the host's secrets from a text that leaves the host.
    pub(crate) fn redact(&self, text: String) -> String {
        self.hooks.call.redact_text(text)
    }

    /// Returns the network side of the call.
    pub(crate) fn call(&self) -> Arc<NetworkCall> {
        Arc::clone(&self.hooks.call)
    }

    /// Returns the budget that the call's connections are charged to.
    pub(crate) fn memory(&self) -> HostMemory {
        self.hooks.memory.clone()
    }

    /// Takes the network side of a call that has ended, so that the caller can report it.
    pub(crate) fn take_call(&mut self) -> Arc<NetworkCall> {
        self.is_taken = true;
        self.call()
    }
}

impl Drop for HttpContext {
    /// Reports the traffic of a run that was dropped before it ended.
    fn drop(&mut self) {
        if !self.is_taken {
            // First, because a connection that is open could still change the traffic.
            self.hooks.call.end();
            let traffic = self.hooks.call.traffic();
            if traffic != Traffic::default() {
                self.host.traffic(traffic);
            }
        }
    }
}

/// The clients of a call.
pub(super) struct Hooks {
    /// The client of `wasi:http/outgoing-handler`.
    default: Option<Client>,
    /// The client of the current request, if it is another one.
    pub(super) chosen: Option<Client>,
    /// The destination of the current request, as the guest wrote it.
    pub(super) asked: Option<Destination>,
    /// The guest's timeouts for the current request.
    pub(super) options: Option<RequestOptions>,
    pub(super) call: Arc<NetworkCall>,
    /// The budget that connections are charged to.
    memory: HostMemory,
    /// Set if the last request had no room for its connection.
    pub(super) full: Option<HostMemoryFull>,
    /// Whether the last request was sent, so that a response may arrive.
    pub(super) is_sent: bool,
}

impl Hooks {
    pub(super) fn new(default: Option<Client>, secrets: Option<Arc<PluginSecrets>>, memory: HostMemory) -> Self {
        let call = Arc::new(NetworkCall::new(secrets));
        Self { default, chosen: None, asked: None, options: None, call, memory, full: None, is_sent: false }
    }
}

impl WasiHttpHooks for Hooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        headers::is_kept(name)
    }

    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(headers::is_kept)
    }

    fn set_host_header(&mut self) -> bool {
        // The host sets it later, from the checked destination.
        false
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        types::BODY_CHUNK_BYTES_MAX
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Result<(Response<WasiBody>, Io), Error>> + Send> {
        let options = options.or(self.options.take());
        let client = self.chosen.take().or_else(|| self.default.clone());
        let destination = match (self.asked.take(), order::destination(request.uri())) {
            // The checked destination must be the one that is sent. Refuse if a library has interpreted it differently.
            (Some(asked), Ok(read)) if asked != read => Err(RequestRefusal::Ambiguous),
            (_, read) => read.map_err(RequestRefusal::from),
        };
        let url = order::recorded_url(&destination, request.uri());
        let record = self.call.record(request.method().as_str(), &url);
        let asked = AskedRequest { client, request, options, destination };
        let order = asked.order(record.clone(), &self.memory);
        self.is_sent = order.is_ok();
        if let Err(failure) = &order {
            if let HttpFailure::Refused(RequestRefusal::HostMemory(full)) = failure {
                self.full = Some(*full);
            }
            // Recorded at once, so that a guest can read the refusal before it waits for the response.
            record.failed(failure);
        }
        Box::new(async move {
            let order = order.map_err(|failure| failure.code())?;
            match exchange(order).await {
                Ok(response) => Ok((response, Box::new(std::future::ready(Ok(()))) as Io)),
                Err(failure) => {
                    record.failed(&failure);
                    Err(failure.code())
                }
            }
        })
    }
}
