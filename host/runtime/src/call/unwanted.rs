//! Ends calls that were cancelled, superseded or refused by their caller before they started.

use super::rejection::Rejection;
use crate::reply::Code;
use crate::request::Request;
use crate::text::{OneLine, cut};

/// Maximum length of the caller's own reason for a refusal, in bytes.
const REASON_BYTES_MAX: usize = 4096;

/// Waits until a call need not start any more, because it was cancelled or the user sent a new message.
pub(super) async fn unwanted(request: &Request) -> Rejection {
    tokio::select! {
        biased;
        () = request.cancellation.cancelled() => Rejection::new(Code::Cancelled, "The call was cancelled."),
        () = request.superseded() => superseded(request),
    }
}

/// Rejects a request that its own caller marked as one that must not run.
pub(super) fn refused(request: &Request) -> Result<(), Rejection> {
    match &request.refused {
        Some((code, why)) => Err(Rejection::new(*code, cut(why, REASON_BYTES_MAX))),
        None => Ok(()),
    }
}

/// Rejects a call that was superseded before it started.
pub(super) fn check(request: &Request) -> Result<(), Rejection> {
    if request.superseding_note().is_some() { Err(superseded(request)) } else { Ok(()) }
}

/// Returns the rejection of a call that did not start because the user sent a new message.
pub(super) fn superseded(request: &Request) -> Rejection {
    let mut message = "Not run: the user sent a new message before this call started.".to_owned();
    if let Some(note) = request.superseding_note().filter(|note| !note.is_empty()) {
        message.push_str(&format!(" The message: {}", OneLine(note)));
    }
    Rejection::new(Code::Superseded, message)
}
