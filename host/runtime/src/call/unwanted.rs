//! Calls that nobody wants any more before they have started, or never wanted.

use super::rejection::Rejection;
use crate::reply::Code;
use crate::request::Request;
use crate::text::{OneLine, cut};

/// The longest reason of whoever made a request, in bytes: as long as a tool's own failure may be read.
const REASON_BYTES_MAX: usize = 4096;

/// Waits until a call need not start any more: it was cancelled, or the person has written something new.
pub(super) async fn unwanted(request: &Request) -> Rejection {
    tokio::select! {
        biased;
        () = request.cancellation.cancelled() => Rejection::new(Code::Cancelled, "The call was cancelled."),
        () = request.superseded() => superseded(request),
    }
}

/// Whether whoever made the request says that it must not run.
pub(super) fn refused(request: &Request) -> Result<(), Rejection> {
    match &request.refused {
        Some((code, why)) => Err(Rejection::new(*code, cut(why, REASON_BYTES_MAX))),
        None => Ok(()),
    }
}

/// Whether a call was superseded before it started.
pub(super) fn check(request: &Request) -> Result<(), Rejection> {
    if request.superseding_note().is_some() { Err(superseded(request)) } else { Ok(()) }
}

/// The end of a call that was not started because the person has written something new.
pub(super) fn superseded(request: &Request) -> Rejection {
    let mut message = "The person has written something new, so this call was not run.".to_owned();
    if let Some(note) = request.superseding_note().filter(|note| !note.is_empty()) {
        message.push_str(&format!(" They wrote: {}", OneLine(note)));
    }
    Rejection::new(Code::Superseded, message)
}
