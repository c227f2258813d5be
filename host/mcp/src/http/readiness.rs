//! Whether a server can take calls now.

use portcullis::Host;
use portcullis::storage::StorageFault;
use portcullis::text::{OneLine, WithCauses};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Minimum interval between two checks of the storage. Everyone who can connect can send probes.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time to wait for a check of the storage. The usual timeout of a probe is one second.
const CHECK_TIME_MAX: Duration = Duration::from_millis(500);

/// Whether a server can take calls, and otherwise why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerState {
    /// It takes calls.
    Ready,
    /// Plugins still load after the start.
    Loading,
    /// It is stopping.
    Stopping,
    /// The state directory, the audit log or the ledger cannot be used.
    NoStorage,
}

impl ServerState {
    /// Returns the word that a probe reads.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Loading => "loading",
            Self::Stopping => "stopping",
            Self::NoStorage => "storage",
        }
    }
}

/// Finds out whether a server can take calls.
pub(crate) struct Readiness {
    host: Host,
    stopping: CancellationToken,
    /// Whether the plugins that were there at the start have loaded. Later ones do not make the server unready.
    has_loaded: AtomicBool,
    storage: Mutex<StorageCheck>,
}

/// The last check of the storage, and the running one. There is at most one, so that a blocked disk does not take one
/// thread for each probe.
#[derive(Default)]
struct StorageCheck {
    last: Option<(Instant, Usable)>,
    running: Option<JoinHandle<Result<(), StorageFault>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Usable {
    Yes,
    No,
}

impl Readiness {
    pub(crate) fn new(host: Host, stopping: CancellationToken) -> Self {
        Self { host, stopping, has_loaded: AtomicBool::new(false), storage: Mutex::default() }
    }

    /// Returns the current state.
    pub(crate) async fn state(&self) -> ServerState {
        if self.stopping.is_cancelled() {
            return ServerState::Stopping;
        }
        // `Relaxed` is enough: a thread that does not see the change yet only looks once more.
        if !self.has_loaded.load(Ordering::Relaxed) {
            if !self.host.loading().is_empty() {
                return ServerState::Loading;
            }
            self.has_loaded.store(true, Ordering::Relaxed);
        }
        match self.storage().await {
            Usable::Yes => ServerState::Ready,
            Usable::No => ServerState::NoStorage,
        }
    }

    async fn storage(&self) -> Usable {
        let mut check = self.storage.lock().await;
        if let Some((at, usable)) = check.last
            && at.elapsed() < CHECK_INTERVAL
        {
            return usable;
        }
        let host = &self.host;
        let running = check.running.get_or_insert_with(|| {
            let host = host.clone();
            tokio::spawn(async move { host.check_storage().await })
        });
        let fault = match timeout(CHECK_TIME_MAX, &mut *running).await {
            Err(_) => Some("the check takes too long".to_owned()),
            Ok(checked) => {
                check.running = None;
                match checked {
                    Ok(Ok(())) => None,
                    Ok(Err(fault)) => Some(WithCauses(&fault).to_string()),
                    Err(_) => Some("the check failed".to_owned()),
                }
            }
        };
        let usable = if fault.is_none() { Usable::Yes } else { Usable::No };
        let before = check.last.replace((Instant::now(), usable)).map_or(Usable::Yes, |(_, usable)| usable);
        drop(check);
        // The log has a line for each change, not for each probe.
        match (before, fault) {
            (Usable::Yes, Some(fault)) => tracing::error!(
                target: "portcullis::server",
                event = "storage",
                "not ready: calls cannot be recorded: {}",
                OneLine(&fault)
            ),
            (Usable::No, None) => tracing::info!(
                target: "portcullis::server",
                event = "storage",
                "ready again: calls can be recorded"
            ),
            (Usable::Yes, None) | (Usable::No, Some(_)) => {}
        }
        usable
    }
}
