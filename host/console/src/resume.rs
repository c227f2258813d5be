//! Runs approved calls whose own process has ended.

use crate::console::ConsoleState;
use crate::resumed::ResumedState;
use portcullis::text::WithCauses;
use std::sync::Arc;

/// Runs the approved call of a request in the background, as `portcullis approvals approve` does.
pub(crate) fn resume(state: &Arc<ConsoleState>, request: String) {
    // Record this before the task starts: the answer leads to a page that looks for it.
    state.resumed.put(&request, ResumedState::Running);
    let state = Arc::clone(state);
    tokio::spawn(async move {
        let ended = match state.host.get().await {
            Ok(host) => match host.resume(&request).await {
                Ok(reply) => ResumedState::Ended(Arc::new(reply)),
                Err(error) => ResumedState::NotRun(WithCauses(&error).to_string()),
            },
            Err(why) => ResumedState::NotRun(why),
        };
        state.resumed.put(&request, ended);
        state.watch.touch();
    });
}
