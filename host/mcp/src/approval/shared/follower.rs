//! Follows a shared call for a request that waits for it.

use crate::approval::stage::CallStage;
use portcullis::policy::Principal;
use portcullis::shared_calls::{SharedCallKind, SharedCalls, may_work_later};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// After how long the call is read again without news of it. Only a read finds out that its host has died.
const READ_AGAIN: Duration = Duration::from_secs(2);

/// Sends each new stage of a call, until it has ended or is gone.
pub(super) async fn follow(calls: SharedCalls, principal: Principal, id: String, stages: watch::Sender<CallStage>) {
    let mut news = calls.watch(&id);
    loop {
        match calls.find(SharedCallKind::Round, &principal, &id).await {
            Ok(Some(call)) => {
                let stage = CallStage::of(&call);
                let has_ended = stage.at.has_ended();
                stages.send_if_modified(|known| {
                    let is_new = !known.at.is_like(&stage.at);
                    if is_new {
                        *known = stage;
                    }
                    is_new
                });
                if has_ended {
                    return;
                }
            }
            // A call that waits for the database, too.
            Err(error) if may_work_later(&error) => {}
            Ok(None) | Err(_) => return,
        }
        loop {
            tokio::select! {
                () = news.changed() => break,
                () = sleep(READ_AGAIN) => {}
            }
            // Without the database, a read would only wait.
            if calls.is_reachable() {
                break;
            }
        }
    }
}
