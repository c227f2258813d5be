//! The review of a call by its plugin, which can refuse the call or let an approver be asked.

use super::grant;
use super::record::CallRecord;
use super::rejection::Rejection;
use crate::alone;
use crate::approvals::{Asker, Concern};
use crate::inner::HostState;
use crate::reply::Code;
use crate::request::Request;
use crate::text::{OneLine, cut};
use crate::valid_call::ValidCall;
use portcullis_definitions::manifest::{ReviewRequest, Verdict as Review};
use portcullis_policy::{Limits, PROPOSALS_MAX, Pattern};
use portcullis_sandbox::{CallContext, Cancellation, Code as PluginCode, RunSetup, Stop, ToolCall};
use std::sync::Arc;
use std::time::Duration;

/// Maximum wall-clock time of one review.
pub(crate) const REVIEW_TIME_MAX: Duration = Duration::from_secs(2);

/// Maximum length of a reviewer's text that is passed on, in bytes.
const REVIEW_BYTES_MAX: usize = 1024;

impl ValidCall {
    /// Lets the plugin review the call. The verdict is `Clear` if it has no reviewer.
    pub(super) async fn review(
        self: &Arc<Self>,
        host: &Arc<HostState>,
        request: &Request,
        record: &CallRecord,
    ) -> Result<Review, Rejection> {
        if !self.plugin.is_component() {
            return Ok(Review::Clear);
        }
        let code = host.code(&self.plugin).await?;
        if !code.reviews() {
            return Ok(Review::Clear);
        }
        // Boxed, because the future of every call would have its size, and few plugins review.
        Box::pin(self.run_review(host, request, record, code)).await
    }

    async fn run_review(
        self: &Arc<Self>,
        host: &Arc<HostState>,
        request: &Request,
        record: &CallRecord,
        code: &PluginCode,
    ) -> Result<Review, Rejection> {
        // The semaphore is never closed. Each review ahead of this one takes at most two seconds.
        let _place = host.reviews.acquire().await;
        let limits = self.limits();
        let limits = Limits { time: REVIEW_TIME_MAX.min(limits.time), ..limits };
        // A review reports no progress and cannot ask in the middle: it returns its question.
        let context = CallContext { host: alone::host(0), ..record.context(host, request, self, &limits, None) };
        let handles = grant::review_handles(host, self, &request.origin);
        let tool_call = ToolCall { tool: self.tool.name().tool.as_str(), arguments: &self.canonical };
        // A review that is stopped refuses the call. With the cancellation of the call, a cancelled call would be
        // recorded as refused.
        let setup = RunSetup { code, limits: &limits, handles, context, cancellation: Cancellation::new() };
        let ran = host.loader.engine.review(tool_call, setup).await;
        let review = ran.result.unwrap_or_else(|stop| Review::Refuse(stopped("its review", &stop)));
        record.reviewed(&review).await?;
        Ok(review)
    }

    /// Returns the reviewer's question for an approver: its labelled text, and its patterns that cover the call.
    pub(super) fn concern(&self, request: &ReviewRequest) -> Concern {
        let patterns = request.patterns.iter().filter_map(|pattern| Pattern::varying(&self.arguments, pattern));
        let patterns = patterns.take(PROPOSALS_MAX).collect();
        Concern { asker: Asker::Plugin, reason: quoted(&request.reason), patterns }
    }
}

/// Rejects a call that the plugin's reviewer refuses.
pub(super) fn refused(call: &ValidCall, reason: &str) -> Rejection {
    let message = format!("The plugin refuses this call of {}. {}", call.tool.name(), quoted(reason));
    Rejection::new(Code::ReviewRefused, message)
}

fn quoted(reason: &str) -> String {
    format!("The plugin says: {}", OneLine(cut(reason, REVIEW_BYTES_MAX)))
}

/// Describes why a run other than the call itself ended without a result.
pub(super) fn stopped(run: &str, stop: &Stop) -> String {
    match stop {
        Stop::Limit(kind) => format!("{run} reached the limit on {}", kind.name()),
        Stop::Trapped(_) => format!("{run} trapped"),
        Stop::Exited(_) => format!("{run} exited"),
        Stop::Cancelled => format!("{run} was cancelled"),
        Stop::HostPanic => format!("{run} made the host panic"),
    }
}
