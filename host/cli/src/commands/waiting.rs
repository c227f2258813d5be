//! Tells the user how to approve a call that waits for an answer from elsewhere.

use super::Context;
use crate::short_id::short_id;
use portcullis::Host;
use portcullis::events::{CallState, EventKind};
use portcullis::text::OneLine;
use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

/// How often to look for the request of a call that starts to wait.
const LOOK: Duration = Duration::from_millis(50);

/// How many times to look. A call that was approved before has no open request.
const LOOKS_MAX: usize = 40;

/// Prints how to answer, whenever the call starts to wait.
pub(super) async fn tell(host: &Host, context: &Context) -> Infallible {
    let mut events = host.events();
    while let Some(event) = events.next().await {
        let EventKind::State(CallState::Waiting) = event.kind else { continue };
        if let Some(id) = question_of(host, &event.call).await {
            let approve = host.approval_command(short_id(&id));
            context
                .terminal
                .note(format_args!("waiting for approval: `{}` shows the request and approves it", OneLine(&approve)));
        }
    }
    pending().await
}

/// Returns the id of a call's open request, once it is in the ledger.
async fn question_of(host: &Host, call: &str) -> Option<String> {
    for _ in 0..LOOKS_MAX {
        let open = host.approvals().list().await.ok()?.questions.into_iter();
        if let Some(question) = open.rev().find(|question| question.call == call) {
            return Some(question.id);
        }
        tokio::time::sleep(LOOK).await;
    }
    None
}
