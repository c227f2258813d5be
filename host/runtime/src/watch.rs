//! Watches the plugin directories and the policy: tasks that reload when something in them changes.
//!
//! On Linux the system reports changes of the open directories themselves, and no path is followed. On other systems,
//! and for changes that are not reported, such as a new directory at the same path, the task polls.

mod signal;

use crate::audit::Kind;
use crate::file_watch::FileWatch;
use crate::host::Host;
use crate::inner::HostState;
use crate::reload::{self, ReloadError};
use crate::text::WithCauses;
use serde::Serialize;
use signal::Signal;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// How long a directory has to be unchanged before a reload, so that copying several files causes only one reload.
const QUIET: Duration = Duration::from_millis(200);

/// Maximum delay of a reload while a directory keeps changing.
const UNQUIET_MAX: Duration = Duration::from_secs(2);

/// Polling interval if the system reports no changes, after a failed reload, and while the directory does not exist.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Polling interval for changes that the system does not report, even if it reports others.
const IDLE_INTERVAL: Duration = Duration::from_secs(30);

/// Watches the plugin directory and the policy until it is dropped.
#[derive(Debug)]
#[must_use = "the host follows changes only as long as this is held"]
pub struct Watch([JoinHandle<()>; 3]);

impl Host {
    /// Reloads each time the plugin directory or the policy changes, until the guard is dropped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn watch(&self) -> Watch {
        Watch::begin(&self.0)
    }
}

impl Watch {
    fn begin(host: &Arc<HostState>) -> Self {
        // The files are known before the other task's first reload, so that no change falls in between.
        let files = FileWatch::new(files(host));
        let servers = host.loader.server_changes.subscribe();
        Self([
            tokio::spawn(watch(Arc::downgrade(host))),
            tokio::spawn(watch_policy(Arc::downgrade(host), files)),
            tokio::spawn(watch_servers(Arc::downgrade(host), servers)),
        ])
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

/// Returns the files of the policy, and of the secrets that it names, and the directories of the accepted generated
/// tools and of the logins.
fn files(host: &HostState) -> Vec<PathBuf> {
    let policy = host.policy();
    let secrets = policy.secrets.iter().map(|secret| secret.path.clone());
    let kept = [host.loader.pins.path().to_owned(), host.loader.logins.path().to_owned()];
    host.sources.files().map(Path::to_owned).chain(secrets).chain(kept).collect()
}

/// Reloads each time a file of the policy or of a secret changes.
async fn watch_policy(host: Weak<HostState>, mut watched: FileWatch) {
    loop {
        watched.changed().await;
        while let Some(host) = host.upgrade() {
            if reload::reload(&host).await.is_ok() {
                watched.follow(files(&host));
                break;
            }
            drop(host);
            sleep(POLL_INTERVAL).await;
        }
        if host.strong_count() == 0 {
            return;
        }
    }
}

/// Reloads each time a server says that its tools have changed, until the host is dropped.
async fn watch_servers(host: Weak<HostState>, mut changes: Receiver<u64>) {
    while changes.changed().await.is_ok() {
        let Some(host) = host.upgrade() else { return };
        // If this fails, the next reload of a directory or of the policy looks again.
        let _ = reload::reload(&host).await;
    }
}

/// Reloads after each change, until the host is dropped.
async fn watch(host: Weak<HostState>) {
    let (mut watched, mut failure) = (None, None);
    while let Some(host) = host.upgrade() {
        let directories = host.loader.plugins.held();
        // Create the signal before the reload, so that no change is missed in between.
        let signal = match watched.take() {
            Some((known, signal)) if Arc::ptr_eq(&known, &directories) => Some(signal),
            Some(_) | None => Signal::of(directories.iter().filter_map(|place| place.directory.as_deref())).ok(),
        };
        let looked = reload::reload(&host).await;
        let moved = !Arc::ptr_eq(&directories, &host.loader.plugins.held());
        tell(&host, &mut failure, looked.as_ref().err()).await;
        let in_place = host.loader.plugins.are_in_place();
        drop(host);
        // The signal watches the directories from before the reload, so the next round makes another.
        if moved {
            continue;
        }
        match signal {
            Some(mut signal) if looked.is_ok() && in_place => {
                // A lost signal is created again in the next round.
                if wait(&mut signal).await.is_ok() {
                    watched = Some((directories, signal));
                }
            }
            Some(_) | None => sleep(POLL_INTERVAL).await,
        }
    }
}

/// Records once why the directory cannot be reloaded, because there is no caller to report it to.
async fn tell(host: &HostState, told: &mut Option<String>, error: Option<&ReloadError>) {
    #[derive(Serialize)]
    struct Failed<'a> {
        plugin: &'a str,
        event: &'a str,
        reason: &'a str,
    }
    let reason = error.map(|error| WithCauses(error).to_string());
    if let Some(reason) = reason.as_deref().filter(|_| reason != *told) {
        let line = Failed { plugin: "", event: "the plugin directory cannot be reloaded", reason };
        // If the audit log cannot be written, the next reload tries again.
        let _ = host.audit.write(Kind::Plugin, None::<&()>, &line).await;
    }
    *told = reason;
}

/// Waits until something changed and the directory is unchanged for a while again, or until the next poll.
async fn wait(signal: &mut Signal) -> std::io::Result<()> {
    let Ok(changed) = timeout(IDLE_INTERVAL, signal.changed()).await else { return Ok(()) };
    changed?;
    let mut unquiet = pin!(sleep(UNQUIET_MAX));
    loop {
        tokio::select! {
            changed = signal.changed() => changed?,
            () = sleep(QUIET) => return Ok(()),
            () = &mut unquiet => return Ok(()),
        }
    }
}
