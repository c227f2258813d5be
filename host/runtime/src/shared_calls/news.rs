//! Notices what changes of the shared calls. One task of a host looks for all its waits, while there are any.

use crate::ledger::{CallLedger, LedgerError, SharedCallNews, blocking};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

/// How often the host asks whether the ledger has changed, which it has heard of from the database. A client does not
/// notice a twentieth of a second.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// After how long the host looks although it has heard of no change. A notification may be lost, and none tells that a
/// call has expired.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Pause after a look that failed.
const FAULT_PAUSE: Duration = Duration::from_secs(1);

/// What is known of all shared calls, by their ids.
type KnownCalls = Arc<HashMap<String, SharedCallNews>>;

/// What the host knows of the shared calls.
pub(super) struct NewsBoard {
    known: Arc<watch::Sender<KnownCalls>>,
    /// Makes the task look at once.
    wake: Arc<Notify>,
    task: AbortHandle,
}

/// Watches one shared call.
#[derive(Debug)]
pub struct SharedCallWatch {
    id: String,
    known: watch::Receiver<KnownCalls>,
    /// What was seen last.
    seen: Option<SharedCallNews>,
}

/// Why the process of a shared call ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedCallStop {
    /// Its client has cancelled it.
    Cancelled,
    /// It is no longer shared, because it has expired or was forgotten.
    Gone,
}

impl NewsBoard {
    /// Starts the task, which does nothing as long as no one watches a call.
    pub(super) fn start(ledger: Arc<CallLedger>) -> Self {
        let (known, wake) = (Arc::new(watch::Sender::default()), Arc::new(Notify::new()));
        let task = tokio::spawn(follow(ledger, Arc::clone(&known), Arc::clone(&wake))).abort_handle();
        Self { known, wake, task }
    }

    pub(super) fn watch(&self, id: &str) -> SharedCallWatch {
        let known = self.known.subscribe();
        self.wake.notify_one();
        SharedCallWatch { id: id.to_owned(), known, seen: None }
    }

    /// Looks at once, because this process has changed a call.
    pub(super) fn look_now(&self) {
        self.wake.notify_one();
    }
}

impl Drop for NewsBoard {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SharedCallWatch {
    /// Waits until the call is not what it was when this returned last, as far as is known.
    pub async fn changed(&mut self) {
        loop {
            self.next().await;
            let now = self.known.borrow().get(&self.id).copied();
            if now != self.seen {
                self.seen = now;
                return;
            }
        }
    }

    /// Waits until the client of the call has cancelled it, or the call is no longer shared. Returns a cancellation
    /// once. For the process that runs the call, and has shared it before.
    pub async fn stopped(&mut self) -> SharedCallStop {
        loop {
            let now = self.known.borrow_and_update().get(&self.id).copied();
            match (self.seen, now) {
                (Some(_), None) => return SharedCallStop::Gone,
                // Looked for before it was shared.
                (None, None) => {}
                (seen, Some(now)) => {
                    self.seen = Some(now);
                    if now.cancelled && !seen.is_some_and(|seen| seen.cancelled) {
                        return SharedCallStop::Cancelled;
                    }
                }
            }
            self.next().await;
        }
    }

    /// Waits for news of any call. Never returns once the host is closed.
    async fn next(&mut self) {
        if self.known.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

/// Looks again and again, as long as anyone watches.
async fn follow(ledger: Arc<CallLedger>, known: Arc<watch::Sender<KnownCalls>>, wake: Arc<Notify>) {
    let (mut seen, mut looked_at) = (None, Instant::now());
    loop {
        if known.is_closed() {
            wake.notified().await;
            // The next watch looks at once, whatever has changed meanwhile.
            seen = None;
            continue;
        }
        // Read before the look, so that a change during the look leads to another one. `None` while the database is out
        // of reach: it is then left alone.
        let version = ledger.version().unwrap_or_default();
        let mut pause = LOOK_INTERVAL;
        if version.is_some() && (version != seen || looked_at.elapsed() >= LOOK_AGAIN) {
            looked_at = Instant::now();
            match look(&ledger).await {
                Ok(news) => {
                    seen = version;
                    known.send_if_modified(|known| tell(known, news));
                }
                Err(_) => pause = FAULT_PAUSE,
            }
        }
        tokio::select! {
            () = sleep(pause) => {}
            () = wake.notified() => {}
        }
    }
}

async fn look(ledger: &Arc<CallLedger>) -> Result<HashMap<String, SharedCallNews>, LedgerError> {
    let ledger = Arc::clone(ledger);
    blocking(move || ledger.look(|change| change.shared_call_news())).await
}

/// Replaces what is known. Returns whether it has changed.
fn tell(known: &mut KnownCalls, news: HashMap<String, SharedCallNews>) -> bool {
    let has_changed = **known != news;
    if has_changed {
        *known = Arc::new(news);
    }
    has_changed
}
