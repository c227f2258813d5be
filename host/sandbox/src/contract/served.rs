//! The host functions of the contract, the same for every version. The interfaces of all versions call these functions,
//! so that no version gives a guest more access than another.

use crate::context::{Ask, Progress, cut};
use crate::handles::Unavailable;
use crate::http::Client;
use crate::service::OpenService;
use crate::state::StoreState;
use portcullis_policy::{Destination, HttpBinding, PROPOSALS_MAX, RESOURCE_PATH_BYTES};
use std::sync::Arc;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::Descriptor;
use wasmtime_wasi::p2::DynOutputStream;

/// A handle, or the reason why there is none. The outer error ends the guest.
pub(super) type ServedHandle<T> = wasmtime::Result<Result<Resource<T>, Unavailable>>;

impl StoreState {
    pub(super) fn report_progress(&mut self, update: Progress) {
        if self.reports_left > 0 {
            self.reports_left -= 1;
            // Redact before truncating, because a truncated secret would not be found.
            let text = |text: String| cut(self.http.redact(text));
            self.call.host.report(Progress {
                title: update.title.map(text),
                metadata: update.metadata.map(text),
                fraction: update.fraction.filter(|fraction| (0.0..=1.0).contains(fraction)),
            });
        }
    }

    pub(super) async fn ask_host(&mut self, ask: Ask) -> Result<(), String> {
        let text = |text: String| cut(self.http.redact(text));
        // Drop patterns that are too long. A truncated pattern would cover something else.
        let patterns = ask.patterns.into_iter().filter(|pattern| pattern.len() <= RESOURCE_PATH_BYTES);
        let ask = Ask {
            permission: text(ask.permission),
            resource: text(ask.resource),
            reason: text(ask.reason),
            patterns: patterns.take(PROPOSALS_MAX).map(text).collect(),
        };
        // The call spends none of its own time while an approver decides.
        let pause = self.clock.pause(self.call.approval_time);
        let answer = self.call.host.ask(ask).await;
        drop(pause);
        answer
    }

    pub(super) fn open_directory_of(&mut self, key: &str) -> ServedHandle<Descriptor> {
        match self.handles.directory(key) {
            Ok(directory) => Ok(Ok(self.table.push(directory.descriptor())?)),
            Err(unavailable) => Ok(Err(unavailable)),
        }
    }

    pub(super) fn open_client_of(&mut self, key: &str) -> ServedHandle<Client> {
        match self.handles.client(key) {
            Ok(client) => Ok(Ok(self.table.push(client.clone())?)),
            Err(unavailable) => Ok(Err(unavailable)),
        }
    }

    pub(super) async fn open_service_of(&mut self, key: &str) -> ServedHandle<OpenService> {
        let service = match self.handles.service(key) {
            Ok(service) => OpenService(Arc::clone(service)),
            Err(unavailable) => return Ok(Err(unavailable)),
        };
        match service.0.open().await {
            Ok(()) => Ok(Ok(self.table.push(service)?)),
            // The runtime has recorded the reason, which is for the operator alone.
            Err(_) => Ok(Err(Unavailable::Failed)),
        }
    }

    pub(super) fn names_host_of(&self, key: &str, url: &str) -> Result<bool, Unavailable> {
        let named = |binding: &HttpBinding| Destination::from_url(url).is_ok_and(|url| binding.names(&url));
        self.handles.http_binding(key).map(named)
    }

    pub(super) async fn has_secret_of(&mut self, client: &Resource<Client>) -> wasmtime::Result<bool> {
        let client = self.table.get(client)?.clone();
        Ok(client.has_secret().await)
    }

    pub(super) async fn call_service(
        &mut self,
        service: &Resource<OpenService>,
        method: String,
        input: String,
    ) -> wasmtime::Result<Result<String, String>> {
        let service = Arc::clone(&self.table.get(service)?.0);
        Ok(service.call(method, input).await)
    }

    pub(super) fn open_text_output(&mut self) -> wasmtime::Result<Option<Resource<DynOutputStream>>> {
        let stream = self.output.open_text(|| self.http.call());
        Ok(stream.map(|stream| self.table.push(stream)).transpose()?)
    }
}
