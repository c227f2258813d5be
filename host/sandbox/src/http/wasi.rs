//! Implements `wasi:http` with wasmtime's types and our own client.
//!
//! Everything that can be checked without the network is checked at once. The rest runs in a task that ends with the
//! guest's handle, at the latest with the call.

use super::Traffic;
use super::call::{Call, Record};
use super::client::Client;
use super::error::{Failure, Refusal};
use super::exchange::{Order, Timing, exchange};
use super::watch::PluginSecrets;
use super::{headers, types};
use crate::context::CallHost;
use crate::host_memory::{HostMemory, HostMemoryFull};
use crate::log::Log;
use crate::manifest::{Failure as Answered, FileChange, Output, Part, Preview, Success, Verdict};
use crate::state::State;
use ::http::{HeaderName, Request, Response, Uri};
use portcullis_policy::{Destination, DestinationError};
use std::borrow::Cow;
use std::sync::Arc;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2::bindings::http::outgoing_handler::Host as _;
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Scheme};
use wasmtime_wasi_http::p2::types::{HostFutureIncomingResponse, HostOutgoingRequest};
use wasmtime_wasi_http::{
    Error, ForbiddenHeaderFilter, RequestOptions, WasiBody, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

/// The interface through which a language's standard library sends requests.
const OUTGOING_HANDLER: &str = "wasi:http/outgoing-handler@0.2.12";

/// The future that drives a connection. It is always ready, because the response's body owns the connection.
type Io = Box<dyn Future<Output = Result<(), Error>> + Send>;

/// The HTTP state of a call: its use of the network, and the secrets to search for in everything that it returns.
pub(crate) struct HttpContext {
    ctx: WasiHttpCtx,
    hooks: Hooks,
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
    pub(crate) fn call(&self) -> Arc<Call> {
        Arc::clone(&self.hooks.call)
    }

    /// Takes the network side of a call that has ended, so that the caller can report it.
    pub(crate) fn take_call(&mut self) -> Arc<Call> {
        self.is_taken = true;
        self.call()
    }
}

impl Drop for HttpContext {
    /// Reports the traffic of a run that was dropped before it ended.
    fn drop(&mut self) {
        if !self.is_taken {
            self.hooks.call.end();
            let traffic = self.hooks.call.traffic();
            if traffic != Traffic::default() {
                self.host.traffic(traffic);
            }
        }
    }
}

impl Call {
    /// Removes the host's secrets from a tool's output.
    pub(crate) fn redact_answer(&self, answer: Result<Success, Answered>) -> Result<Success, Answered> {
        if self.outgoing().is_none() {
            return answer;
        }
        let text = |text: String| self.redact_text(text);
        answer
            .map(|success| Success {
                title: success.title.map(text),
                output: match success.output {
                    Output::Text(output) => Output::Text(text(output)),
                    Output::Json(output) => Output::Json(text(output)),
                    Output::Parts(parts) => {
                        Output::Parts(parts.into_iter().map(|part| self.redact_part(part)).collect())
                    }
                },
                metadata: success.metadata.map(text),
            })
            .map_err(|failure| self.redact_failure(failure))
    }

    fn redact_failure(&self, failure: Answered) -> Answered {
        let text = |text: String| self.redact_text(text);
        match failure {
            Answered::InvalidArguments(reason) => Answered::InvalidArguments(text(reason)),
            Answered::Denied(reason) => Answered::Denied(text(reason)),
            Answered::Unavailable { message, retry_after } => {
                Answered::Unavailable { message: text(message), retry_after }
            }
            Answered::Cancelled => Answered::Cancelled,
            Answered::Failed(reason) => Answered::Failed(text(reason)),
        }
    }

    /// Returns what a call would change, or an error if it contains one of the host's secrets. A redacted text cannot
    /// be shown instead, because it differs from what the call would write.
    pub(crate) fn redact_preview(&self, preview: Preview) -> Preview {
        let changes = preview.map_err(|failure| self.redact_failure(failure))?;
        let Some(redactor) = self.outgoing() else { return Ok(changes) };
        let found = |FileChange { directory, path, content }: &FileChange| {
            [directory, path].into_iter().chain(content).any(|text| redactor.text(text).is_some())
        };
        if changes.iter().any(found) {
            return Err(Answered::Denied("it contains one of the host's secrets".to_owned()));
        }
        Ok(changes)
    }

    /// Removes the host's secrets from a reviewer's verdict.
    pub(crate) fn redact_verdict(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Clear => Verdict::Clear,
            Verdict::Ask(request) => Verdict::Ask(request.map_texts(|text| self.redact_text(text))),
            Verdict::Refuse(reason) => Verdict::Refuse(self.redact_text(reason)),
        }
    }

    fn redact_part(&self, part: Part) -> Part {
        let blob = |mut blob: crate::manifest::Blob| {
            blob.name = blob.name.map(|name| self.redact_text(name));
            blob.media_type = self.redact_text(blob.media_type);
            blob.data = self.redact_bytes(blob.data);
            blob
        };
        match part {
            Part::Text(text) => Part::Text(self.redact_text(text)),
            Part::Image(image) => Part::Image(blob(image)),
            Part::File(file) => Part::File(blob(file)),
        }
    }

    /// Removes the host's secrets from what the guest printed, including the beginning of a secret at the end of a
    /// truncated log.
    pub(crate) fn redact_log(&self, mut log: Log) -> Log {
        if let Some(redactor) = self.outgoing().filter(|_| log.dropped_bytes > 0) {
            let end = redactor.cut_off(&log.bytes);
            log.dropped_bytes += (log.bytes.len() - end) as u64;
            log.bytes.truncate(end);
        }
        log.bytes = self.redact_bytes(log.bytes);
        log
    }
}

/// The clients of a call.
pub(super) struct Hooks {
    /// The client of `wasi:http/outgoing-handler`.
    default: Option<Client>,
    /// The client of the current request, if it is another one.
    chosen: Option<Client>,
    /// The destination of the current request, as the guest wrote it.
    asked: Option<Destination>,
    /// The guest's timeouts for the current request.
    options: Option<RequestOptions>,
    pub(super) call: Arc<Call>,
    /// The budget that connections are charged to.
    memory: HostMemory,
    /// Set if the last request had no room for its connection.
    full: Option<HostMemoryFull>,
    /// Whether the last request was sent, so that a response may arrive.
    is_sent: bool,
}

impl Hooks {
    pub(super) fn new(default: Option<Client>, secrets: Option<Arc<PluginSecrets>>, memory: HostMemory) -> Self {
        let call = Arc::new(Call::new(secrets));
        Self { default, chosen: None, asked: None, options: None, call, memory, full: None, is_sent: false }
    }

    /// Checks a request as far as that needs no network.
    fn order(
        client: Option<Client>,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        destination: Result<Destination, Refusal>,
        record: Record,
        memory: &HostMemory,
    ) -> Result<Order, Failure> {
        let client = client.ok_or(Refusal::NoClient)?;
        let timing = Timing::new(client.binding().limits.time, options);
        let destination = destination?;
        let (parts, body) = request.into_parts();
        client.decide(parts.method.as_str(), &destination, &parts.headers)?;
        let limit = client.binding().limits.request_bytes;
        if http_body::Body::size_hint(&body).lower() > limit || declared(&parts.headers) > limit {
            return Err(Failure::RequestBody(limit));
        }
        record.call().spend(&client)?;
        client.keep_pace()?;
        let slot = record.call().slot(memory)?;
        Ok(Order { client, destination, method: parts.method, headers: parts.headers, body, timing, record, slot })
    }
}

/// Returns the body length that a guest declares, or 0.
fn declared(sent: &::http::HeaderMap) -> u64 {
    sent.get(::http::header::CONTENT_LENGTH).and_then(headers::length).unwrap_or(0)
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
        let destination = match (self.asked.take(), destination(request.uri())) {
            // The checked destination must be the one that is sent. Refuse if a library has interpreted it differently.
            (Some(asked), Ok(read)) if asked != read => Err(Refusal::Ambiguous),
            (_, read) => read.map_err(Refusal::from),
        };
        let url = match &destination {
            Ok(known) => format!("{}://{}{}", known.scheme(), known.authority(), known.path()),
            Err(_) => request.uri().host().unwrap_or_default().to_owned(),
        };
        let record = self.call.record(request.method().as_str(), &url);
        let order = Self::order(client, request, options, destination, record.clone(), &self.memory);
        self.is_sent = order.is_ok();
        if let Err(failure) = &order {
            if let Failure::Refused(Refusal::HostMemory(full)) = failure {
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

/// Returns the destination of a request.
fn destination(uri: &Uri) -> Result<Destination, DestinationError> {
    let scheme = uri.scheme_str().unwrap_or_default();
    let authority = uri.authority().map(::http::uri::Authority::as_str).unwrap_or_default();
    let path = uri.path_and_query().map(::http::uri::PathAndQuery::as_str).unwrap_or_default();
    Destination::from_parts(scheme, authority, path)
}

/// Returns the destination of a request, from the exact texts that a guest set.
fn asked(request: &HostOutgoingRequest) -> Result<Destination, DestinationError> {
    let path = match request.path_with_query.as_deref() {
        None | Some("") => Cow::Borrowed("/"),
        // Some libraries write a URL with a query and no path this way.
        Some(query) if query.starts_with('?') && query.len() > 1 => Cow::Owned(format!("/{query}")),
        Some(path) => Cow::Borrowed(path),
    };
    if let Some(Scheme::Other(_)) = &request.scheme {
        return Err(DestinationError::Scheme);
    }
    Destination::from_parts(scheme(request), request.authority.as_deref().unwrap_or_default(), &path)
}

/// Returns the scheme of a request. The default is https.
fn scheme(request: &HostOutgoingRequest) -> &str {
    match &request.scheme {
        Some(Scheme::Http) => "http",
        Some(Scheme::Https) | None => "https",
        Some(Scheme::Other(other)) => other,
    }
}

/// Returns an invalid destination for the audit log, without user and query.
fn unread(request: &HostOutgoingRequest) -> String {
    let authority = request.authority.as_deref().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let path = request.path_with_query.as_deref().unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{}://{host}{path}", scheme(request))
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.http.hooks, table: &mut self.table, ctx: &mut self.http.ctx }
    }
}

/// The result of `handle`.
type Handled = Result<Resource<HostFutureIncomingResponse>, ErrorCode>;

impl State {
    /// Sends a request through a client, or through the call's default client. The destination is read from the guest's
    /// own texts before wasmtime converts the request.
    pub(crate) fn send(
        &mut self,
        client: Option<Client>,
        request: Resource<HostOutgoingRequest>,
        options: Option<Resource<RequestOptions>>,
    ) -> wasmtime::Result<Handled> {
        self.weights.remove(request.rep());
        // Wasmtime reads the options and leaves them in the table.
        let options = options.map(|options| self.table.delete(options)).transpose()?;
        let outgoing = self.table.get_mut(&request)?;
        match asked(outgoing) {
            Ok(asked) => {
                outgoing.authority = Some(asked.authority());
                outgoing.path_with_query = Some(asked.path_with_query());
                self.http.hooks.asked = Some(asked);
            }
            Err(error) => {
                let method: Result<::http::Method, _> = outgoing.method.clone().try_into();
                let method = method.map_or_else(|_| String::new(), |method| method.to_string());
                let record = self.http.hooks.call.record(&method, &unread(outgoing));
                record.failed(&Failure::Refused(error.into()));
                self.table.delete(request)?;
                return Ok(Err(ErrorCode::HttpRequestDenied));
            }
        }
        self.http.hooks.chosen = client;
        self.http.hooks.options = options;
        // Wasmtime refuses some requests before it calls the hooks.
        self.http.hooks.is_sent = false;
        let handled = self.http().handle(request, None);
        if let Some(full) = self.http.hooks.full {
            return Err(full.into());
        }
        match handled {
            Ok(response) => {
                let bytes = if self.http.hooks.is_sent { types::HEAD_WEIGHT } else { 0 };
                self.weights.set(&response, bytes)?;
                Ok(Ok(response))
            }
            Err(error) => error.downcast().map(Err),
        }
    }
}

/// Adds `wasi:http` to a linker.
pub(crate) fn add_to_linker(linker: &mut Linker<State>) -> wasmtime::Result<()> {
    linker.instance(OUTGOING_HANDLER)?.func_wrap(
        "handle",
        |mut store, (request, options): (Resource<HostOutgoingRequest>, Option<Resource<RequestOptions>>)| {
            store.data_mut().send(None, request, options).map(|handled| (handled,))
        },
    )?;
    types::add_to_linker(linker)
}
