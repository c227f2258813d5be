//! The steps of a call, one after the other.

use super::hooks;
use super::parse::ParsedCall;
use super::record::CallRecord;
use super::rejection::Rejection;
use super::shape::Shaped;
use super::unwanted::{self, unwanted};
use crate::inner::HostState;
use crate::ledger::blocking;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::request_arguments::RequestArguments;
use crate::turn::Turn;
use portcullis_sandbox::Cancellation;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;

/// Runs one call. Its audit record is always finished, even if this future is dropped. `id` is the id of a call that
/// already has an approval request, and `None` for a new call.
pub(crate) fn call(
    host: &Arc<HostState>,
    mut request: Request,
    id: Option<String>,
) -> impl Future<Output = Reply> + use<> {
    let record = begin_with_id(host, &mut request, id);
    go(Arc::clone(host), request, record)
}

/// Begins the record of a call that runs later or never. The record is finished in both cases.
pub(crate) fn begin(host: &HostState, request: &mut Request) -> CallRecord {
    begin_with_id(host, request, None)
}

fn begin_with_id(host: &HostState, request: &mut Request, id: Option<String>) -> CallRecord {
    // A request may be cloned and called again, and each call needs its own admission.
    request.admission = Arc::default();
    CallRecord::begin(host, request, id)
}

/// Runs a call whose record was begun with [`begin`]. The future is large: to move or to allocate it takes time. It is
/// a block, because the future of an `async fn` would have room for each argument twice.
pub(crate) fn go(host: Arc<HostState>, mut request: Request, record: CallRecord) -> impl Future<Output = Reply> {
    // Taken out of the request, because parsing changes them while every step borrows the request.
    let mut arguments = std::mem::take(&mut request.arguments);
    async move {
        let host = &host;
        // Declared before the record, so that they are released after the record is finished, even if this future is
        // dropped.
        let _turn = request.turn.as_ref().map(Turn::until_over);
        let _order = request.admission.until_over();
        let mut record = record;
        let ended = steps(host, &request, &mut arguments, &mut record).await;
        if ended.is_err() && !record.is_parsed() {
            record.unparsed(arguments.text());
        }
        let reply = reply(&record, &request, ended);
        end(host, &request, record, reply).await
    }
}

/// Lets the hooks see the reply, finishes the record, and counts the reply as the caller gets it.
async fn end(host: &Arc<HostState>, request: &Request, record: CallRecord, reply: Reply) -> Reply {
    let kept = reply.reference.is_some();
    // Ask the hooks first, so that the audit log has the reply as the caller gets it.
    let reply = hooks::after(host, &record, request, reply).await;
    let ran = record.ran().map(|call| Arc::clone(&call.tool));
    let call = reply.id.clone();
    let reply = record.finish(reply).await;
    if kept && reply.reference.is_none() {
        // The answer is withheld, so the kept output is withdrawn too. If that fails, only this caller can read it.
        let outputs = host.outputs.clone();
        let _ = blocking(move || outputs.withdraw(&call)).await;
    }
    match &host.results {
        // The caller has no result of a call that its tool or its batch made.
        Some(results) if request.made_by().is_none() => {
            results.count(&request.origin, ran.as_ref().map(|tool| tool.name()), reply).await
        }
        Some(_) | None => reply,
    }
}

/// Runs a call that was begun. It ends with its own cancellation or with another one.
pub(crate) async fn go_until(
    host: &Arc<HostState>,
    mut request: Request,
    record: CallRecord,
    other: &Cancellation,
) -> Reply {
    let either = Cancellation::new();
    let own = std::mem::replace(&mut request.cancellation, either.clone());
    let forward = async {
        tokio::join!(either.follow(&own), either.follow(other));
        pending::<Infallible>().await
    };
    tokio::select! {
        // Check this first, so that a call that was cancelled before it began sees the cancellation.
        biased;
        never = forward => match never {},
        reply = go(Arc::clone(host), request, record) => reply,
    }
}

/// Returns the reply of a call whose task ended without one. Its record was finished when it was dropped.
pub(crate) fn broken(id: String, tool: String) -> Reply {
    Rejection::new(Code::HostPanic, "The host failed while it served the call.").into_reply(id, tool)
}

/// Rejects a request without examining it, and records the rejection.
pub(crate) async fn refuse(host: &HostState, request: &Request, rejection: Rejection) -> Reply {
    let record = CallRecord::begin(host, request, None);
    let reply = reply(&record, request, Err(rejection));
    record.finish(reply).await
}

async fn steps(
    host: &Arc<HostState>,
    request: &Request,
    arguments: &mut RequestArguments,
    record: &mut CallRecord,
) -> Result<Shaped, Rejection> {
    if record.id().is_empty() {
        let message = "The call was not made: the system provides no randomness, so the call has no id.";
        return Err(Rejection::new(Code::RecordUnavailable, message));
    }
    unwanted::refused(request)?;
    let parsed = ParsedCall::parse(&request.tool, arguments, host.arguments_bytes_max)?;
    record.parsed(&parsed);
    let valid = tokio::select! {
        // Check this first, so that only a call that waits for a plugin to prepare its tools ends here.
        biased;
        valid = parsed.validate(host, request) => valid?,
        rejection = unwanted(request) => return Err(rejection),
    };
    record.valid(&valid);
    if let Some(parent) = &request.parent {
        parent.announce(&valid);
    }
    // A call that was superseded meanwhile is not decided. The select above does not look if `validate` is ready.
    unwanted::check(request)?;
    let approved = valid.authorize(host, request, record).await?;
    let granted = approved.grant(host, request, record)?;
    let instance = granted.instantiate(host, request, record).await?;
    let raw = instance.execute(host, request, record).await?;
    raw.shape().await
}

fn reply(record: &CallRecord, request: &Request, ended: Result<Shaped, Rejection>) -> Reply {
    let (id, tool) = (record.id().to_owned(), request.tool.clone());
    match ended {
        Ok(shaped) => Reply {
            title: shaped.title,
            metadata: shaped.metadata,
            reference: shaped.reference,
            usage: shaped.usage,
            ..Reply::completed(id, tool, shaped.output, shaped.message)
        },
        Err(mut rejection) => {
            record.note_detail(rejection.detail.take());
            let approval_request = record.approval_request.clone();
            Reply { approval_request, ..rejection.into_reply(id, tool) }
        }
    }
}

/// Checks at compile time that the future of a call is `Send`, so that a caller can spawn it on any runtime.
const _: fn(&Arc<HostState>, Request) = |host, request| {
    fn movable(_: impl Send) {}
    movable(call(host, request, None));
};
