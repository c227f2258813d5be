//! Runs one call, from request to reply.
//!
//! The steps are listed in the order in which they run. Each step takes a type that only the step before it creates. So
//! a call that was not validated cannot be authorized, a call that was not approved gets no handles, and a call without
//! handles cannot run.

mod answer;
mod authorize;
mod caller;
mod effects;
mod execute;
mod foresee;
mod grant;
mod hooks;
mod instantiate;
mod parse;
mod preview;
mod question;
mod record;
mod redecide;
mod shape;
mod unwanted;
mod validate;

pub(crate) use authorize::REVIEW_TIME_MAX;
pub(crate) use foresee::explain;
pub use grant::Reach;
pub(crate) use grant::{
    describe_handles, missing_keys, reach, reaches_directories, read_only_key, undeclared, ungranted,
};
pub(crate) use preview::preview_limits;
pub(crate) use record::CallRecord;
pub(crate) use redecide::{DecidedRequests, redecide_left};
pub(crate) use shape::{Flaw, check as check_answer};
pub(crate) use validate::{ValidCall, is_callable};

use crate::host::Inner;
use crate::ledger::blocking;
use crate::outputs::Reference;
use crate::reply::{CallUsage, Code, Reply};
use crate::request::Request;
use crate::turn::Turn;
use answer::Text;
use parse::ParsedCall;
use portcullis_sandbox::{Output, Usage};
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Why a call ended without an answer, for programs, for the model and for the operator.
#[derive(Clone, Debug)]
pub(crate) struct Rejection {
    /// The stable code, for programs.
    pub(crate) code: Code,
    /// The message for the model, with what to do next.
    pub(crate) message: String,
    /// Details for the operator that the model must not see. They go into the audit log.
    pub(crate) detail: Option<String>,
    /// The resource usage of the run, if the tool ran.
    pub(crate) usage: Usage,
    /// The reference to the partial answer, if some of it is kept.
    pub(crate) reference: Option<Box<Reference>>,
    /// How long to wait before a retry, as the tool proposes.
    pub(crate) retry_after: Option<Duration>,
}

impl Rejection {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            detail: None,
            usage: Usage::default(),
            reference: None,
            retry_after: None,
        }
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Keeps the text that the tool had already written, and adds the reference to the message.
    fn keeping(self, written: Text) -> Self {
        let Self { code, mut message, detail, usage, retry_after, .. } = self;
        let (bytes, unkept) = (written.bytes(), written.unkept());
        let reference = written.keep_unfinished().map(Box::new);
        match reference.as_deref() {
            Some(Reference { id, bytes, lines, .. }) => {
                let lines = lines.unwrap_or(0);
                let _ = write!(
                    message,
                    " The output up to this point is kept ({bytes} bytes, {lines} lines). Read it with output.read \
                     {{\"reference\":\"{id}\"}}."
                );
            }
            None if bytes > 0 => message.push_str(" The output up to this point is lost."),
            None => {}
        }
        if let Some(why) = unkept {
            let _ = write!(message, " Some of the output could not be kept: {why}.");
        }
        Self { code, message, detail, usage, reference, retry_after }
    }
}

/// An answer that passed every check.
pub(crate) struct Shaped {
    pub(crate) output: Output,
    pub(crate) title: Option<String>,
    pub(crate) metadata: Option<Value>,
    pub(crate) message: String,
    pub(crate) reference: Option<Reference>,
    pub(crate) usage: CallUsage,
}

/// Runs one call. Its audit record is always finished, even if this future is dropped. `id` is the id of a call that
/// already has an approval request, and `None` for a new call.
pub(crate) async fn call(host: &Arc<Inner>, mut request: Request, id: Option<String>) -> Reply {
    // A request may be cloned and called again, and each call needs its own admission.
    request.admission = Arc::default();
    let record = CallRecord::begin(host, &request, id);
    go(host, request, record).await
}

/// Begins the record of a call that runs later or never. The record is finished in both cases.
pub(crate) fn begin(host: &Inner, request: &Request) -> CallRecord {
    CallRecord::begin(host, request, None)
}

/// Runs a call whose record was begun with [`begin`].
pub(crate) async fn go(host: &Arc<Inner>, request: Request, record: CallRecord) -> Reply {
    // Declared before the record, so that they are released after the record is finished, even if this future is
    // dropped.
    let _turn = request.turn.as_ref().map(Turn::until_over);
    let _order = request.admission.until_over();
    let mut record = record;
    let ended = steps(host, &request, &mut record).await;
    if ended.is_err() && !record.is_parsed() {
        record.unparsed(&request);
    }
    let reply = reply(&record, &request, ended);
    let kept = reply.reference.is_some();
    let reply = hooks::after(host, &record, &request, reply).await;
    let call = reply.id.clone();
    let reply = record.finish(reply).await;
    if kept && reply.reference.is_none() {
        // The answer is withheld, so the kept output is withdrawn too. If that fails, only this caller can read it.
        let outputs = host.outputs.clone();
        let _ = blocking(move || outputs.withdraw(&call)).await;
    }
    reply
}

/// Rejects a request without examining it, and records the rejection.
pub(crate) async fn refuse(host: &Inner, request: &Request, rejection: Rejection) -> Reply {
    let record = begin(host, request);
    let reply = reply(&record, request, Err((rejection, 0)));
    record.finish(reply).await
}

async fn steps(host: &Arc<Inner>, request: &Request, record: &mut CallRecord) -> Result<Shaped, (Rejection, u64)> {
    let refused = |rejection| (rejection, 0);
    if record.id().is_empty() {
        let message = "The call was not made: the system provides no randomness, so the call has no id.";
        return Err(refused(Rejection::new(Code::RecordUnavailable, message)));
    }
    unwanted::refused(request).map_err(refused)?;
    let parsed = ParsedCall::parse(request, host.arguments_bytes_max).map_err(refused)?;
    record.parsed(&parsed);
    let valid = parsed.validate(host, request).map_err(refused)?;
    record.valid(&valid);
    unwanted::check(request).map_err(refused)?;
    let approved = valid.authorize(host, request, record).await.map_err(refused)?;
    let granted = approved.grant(host, request, record).map_err(refused)?;
    let bytes_in = granted.arguments_bytes();
    let failed = |rejection| (rejection, bytes_in);
    let instance = granted.instantiate(host, request).await.map_err(refused)?;
    let raw = instance.execute(host, request, record).await.map_err(failed)?;
    raw.shape().await.map_err(failed)
}

fn reply(record: &CallRecord, request: &Request, ended: Result<Shaped, (Rejection, u64)>) -> Reply {
    let (id, tool) = (record.id().to_owned(), request.tool.clone());
    match ended {
        Ok(shaped) => Reply {
            id,
            tool,
            code: Code::Completed,
            output: Some(shaped.output),
            title: shaped.title,
            metadata: shaped.metadata,
            message: shaped.message,
            reference: shaped.reference,
            retry_after: None,
            approval_request: None,
            usage: shaped.usage,
        },
        Err((rejection, bytes_in)) => {
            record.note_detail(rejection.detail);
            Reply {
                id,
                tool,
                code: rejection.code,
                output: None,
                title: None,
                metadata: None,
                message: rejection.message,
                reference: rejection.reference.map(|reference| *reference),
                retry_after: rejection.retry_after,
                approval_request: record.approval_request.clone(),
                usage: CallUsage { run: rejection.usage, bytes_in, bytes_out: 0 },
            }
        }
    }
}

/// Checks at compile time that the future of a call is `Send`, so that a caller can spawn it on any runtime.
const _: fn(&Arc<Inner>, Request) = |host, request| {
    fn movable(_: impl Send) {}
    movable(call(host, request, None));
};
