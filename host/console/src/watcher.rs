//! Notices what changed, once for all pages: the ledger, the audit log, the pause of the policy, and the calls under
//! way.

use crate::console::ConsoleState;
use crate::console_watch::ConsoleSeen;
use portcullis::approvals::{ApprovalChanges, Status};
use portcullis::live::LiveReader;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How often the end of the audit log and the pause are looked for, while a page is open.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Pause between two events about calls. A page does not show more.
const LIVE_PAUSE: Duration = Duration::from_millis(200);

/// Pause after the ledger could not be read.
const FAULT_PAUSE: Duration = Duration::from_secs(1);

/// Follows the state directory until the console stops.
pub(crate) async fn follow(state: Arc<ConsoleState>, live: LiveReader) {
    let stopping = state.stopping.clone();
    tokio::select! {
        // The others never end.
        () = stopping.cancelled() => {}
        () = follow_ledger(&state, state.approvals.changes()) => {}
        () = follow_log(&state) => {}
        () = follow_pause(&state) => {}
        () = follow_live(&state, live) => {}
    }
}

async fn follow_ledger(state: &ConsoleState, mut changes: ApprovalChanges) {
    loop {
        if changes.changed().await.is_err() {
            // A page that is opened meanwhile shows why.
            sleep(FAULT_PAUSE).await;
            continue;
        }
        // The change counts as seen from here on, so the list is read until it can be.
        let listing = loop {
            match state.approvals.list().await {
                Ok(listing) => break listing,
                Err(_) => sleep(FAULT_PAUSE).await,
            }
        };
        let pending = listing.questions.iter().filter(|open| open.status == Status::Pending).count();
        let remembered = listing.answers.len();
        state.watch.change(|seen| {
            *seen = ConsoleSeen { ledger: seen.ledger + 1, pending, remembered, ..*seen };
        });
    }
}

async fn follow_log(state: &ConsoleState) {
    loop {
        // Without a page, no one needs to know.
        if state.watch.has_page()
            && let Ok(entries) = state.log.refresh().await
        {
            state.watch.put_log(entries);
        }
        sleep(LOOK_INTERVAL).await;
    }
}

async fn follow_pause(state: &ConsoleState) {
    loop {
        if state.watch.has_page() {
            state.watch.put_paused(state.pause.of_files().await.is_some());
        }
        sleep(LOOK_INTERVAL).await;
    }
}

async fn follow_live(state: &ConsoleState, mut live: LiveReader) {
    loop {
        state.live.apply(live.next().await);
        // Several changes at once are one for a page.
        while let Some(event) = live.try_next() {
            state.live.apply(event);
        }
        state.watch.change(|seen| seen.live += 1);
        sleep(LIVE_PAUSE).await;
    }
}
