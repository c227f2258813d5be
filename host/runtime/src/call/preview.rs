//! Runs a plugin's preview of a call for the approver, in its own instance, with the call's directories as read-only
//! handles.

use super::grant;
use super::record::CallRecord;
use super::review::stopped;
use crate::alone;
use crate::approvals::{CallPreview, PREVIEW_TEXTS_BYTES_MAX};
use crate::inner::HostState;
use crate::ledger::{LedgerError, blocking};
use crate::request::Request;
use crate::valid_call::ValidCall;
use portcullis_definitions::manifest::FileChange;
use portcullis_policy::Limits;
use portcullis_sandbox::{CallContext, RunSetup, ToolCall};
use std::sync::Arc;
use std::time::Duration;

/// Maximum wall-clock time of one preview. The approver sees the request only after it.
pub(crate) const PREVIEW_TIME_MAX: Duration = Duration::from_secs(2);

/// Maximum time that a preview waits for a slot, which it shares with other previews and reviews. After that, the
/// approval request is shown without it.
const PREVIEW_WAIT_TIME_MAX: Duration = Duration::from_secs(5);

/// Maximum bytes that a preview passes on at once: the texts that can be shown, and as much again for the paths.
const PREVIEW_TRANSFER_BYTES_MAX: usize = 2 * PREVIEW_TEXTS_BYTES_MAX;

/// Returns the limits of a preview. What is not named here is limited as in the call.
pub(crate) fn preview_limits(limits: &Limits) -> Limits {
    Limits {
        time: PREVIEW_TIME_MAX.min(limits.time),
        transfer_bytes: PREVIEW_TRANSFER_BYTES_MAX.min(limits.transfer_bytes),
        ..*limits
    }
}

impl ValidCall {
    /// Computes what the call would change. Returns `None` if it cannot write to any directory. An error is part of the
    /// result. It is shown to the approver and never refuses the call.
    pub(super) async fn preview(
        self: &Arc<Self>,
        host: &Arc<HostState>,
        request: &Request,
        record: &CallRecord,
    ) -> Option<CallPreview> {
        let plugin = &self.plugin.name;
        let writable = match grant::writable_directories(self) {
            Ok(writable) if writable.is_empty() => return None,
            Ok(writable) => writable,
            Err(rejection) => return Some(CallPreview::failed(plugin, &rejection.message)),
        };
        if !self.plugin.previews {
            return Some(CallPreview::nothing(plugin));
        }
        let changes = match self.run_preview(host, request, record).await {
            Ok(changes) => changes,
            Err(why) => return Some(CallPreview::failed(plugin, &why)),
        };
        let name = plugin.clone();
        let made = blocking(move || Ok::<_, LedgerError>(CallPreview::of(&name, changes, &writable))).await;
        Some(made.unwrap_or_else(|_| CallPreview::failed(plugin, "the host could not read the files")))
    }

    async fn run_preview(
        self: &Arc<Self>,
        host: &Arc<HostState>,
        request: &Request,
        record: &CallRecord,
    ) -> Result<Vec<FileChange>, String> {
        let _place = match tokio::time::timeout(PREVIEW_WAIT_TIME_MAX, host.reviews.acquire()).await {
            Ok(Ok(place)) => place,
            Ok(Err(_)) | Err(_) => return Err("too many other previews and reviews are running".to_owned()),
        };
        let code = host.code(&self.plugin).await.map_err(|rejection| rejection.message)?;
        let limits = preview_limits(&self.limits());
        let handles = grant::read_only_handles(host, self).map_err(|rejection| rejection.message)?;
        // A preview reports no progress, and its permission requests are denied.
        let context = CallContext { host: alone::host(0), ..record.context(host, request, self, &limits, None) };
        let tool_call = ToolCall { tool: self.tool.name().tool.as_str(), arguments: &self.canonical };
        let setup = RunSetup { code, limits: &limits, handles, context, cancellation: request.cancellation.clone() };
        let ran = host.loader.engine.preview(tool_call, setup).await;
        match ran.result {
            Ok(Ok(changes)) => Ok(changes),
            Ok(Err(failure)) => Err(failure.text().to_owned()),
            Err(stop) => Err(stopped("its preview", &stop)),
        }
    }
}
