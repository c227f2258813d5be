//! A call that waits for an answer from elsewhere: its person is told how to give one.

use super::Context;
use portcullis::Host;
use portcullis::events::{CallState, EventKind};
use portcullis::text::OneLine;
use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

/// Digits of a question's id that are shown to a person: as many as `approvals list` shows.
pub(super) const ID_DIGITS: usize = 8;

/// How often the question of a call that begins to wait is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// How many times: a call that was approved before has no question to be found.
const LOOKS_MAX: usize = 40;

/// Tells how to answer, whenever the call begins to wait.
pub(super) async fn tell(host: &Host, context: &Context) -> Infallible {
    let mut events = host.events();
    while let Some(event) = events.next().await {
        let EventKind::State(CallState::Waiting) = event.kind else { continue };
        if let Some(id) = question_of(host, &event.call).await {
            let id = id.get(..ID_DIGITS).unwrap_or(&id);
            let approve = host.approval_command(id);
            context
                .terminal
                .note(format_args!("waiting for an answer: `{}` shows the question and says yes", OneLine(&approve)));
        }
    }
    pending().await
}

/// The open question of a call, once it is put down.
async fn question_of(host: &Host, call: &str) -> Option<String> {
    for _ in 0..LOOKS_MAX {
        let open = host.approvals().list().ok()?.questions.into_iter();
        if let Some(question) = open.rev().find(|question| question.call == call) {
            return Some(question.id);
        }
        tokio::time::sleep(LOOK).await;
    }
    None
}
