//! Reads the feeds of all hosts of a state directory.

use super::connection;
use super::directory;
use super::event::LiveEvent;
use crate::places::open_directory;
use cap_std::fs::Dir;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::{AbortHandle, JoinHandle, spawn_blocking};
use tokio::time::sleep;

/// How often the directory of the sockets is listed. It has a name for each host.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum hosts that are read at the same time.
const HOSTS_MAX: usize = 64;

/// Maximum events that are read ahead of [`LiveReader::next`]. If it is not called, the hosts drop this reader.
const EVENTS_AHEAD_MAX: usize = 256;

/// Reads the calls of all hosts that share them in one state directory. Dropping it ends that.
///
/// ```no_run
/// use portcullis::live::{LiveEvent, LiveReader};
/// use portcullis::text::OneLine;
///
/// # async fn example() {
/// let mut reader = LiveReader::open("state");
/// loop {
///     if let LiveEvent::Call(call) = reader.next().await {
///         println!("{} is {}", OneLine(&call.tool), call.state.as_str());
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct LiveReader {
    events: Receiver<LiveEvent>,
    finding: AbortHandle,
}

impl LiveReader {
    /// Begins to read. The directory need not exist yet, and hosts can begin and end at any time.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn open(state: impl Into<PathBuf>) -> Self {
        let (sender, events) = mpsc::channel(EVENTS_AHEAD_MAX);
        let finding = tokio::spawn(find(state.into(), sender)).abort_handle();
        Self { events, finding }
    }

    /// Waits for the next change. Dropping the future loses none.
    pub async fn next(&mut self) -> LiveEvent {
        match self.events.recv().await {
            Some(event) => event,
            // Only a runtime that shuts down ends the task that holds the sender.
            None => std::future::pending().await,
        }
    }

    /// Returns the next change if there is one.
    pub fn try_next(&mut self) -> Option<LiveEvent> {
        self.events.try_recv().ok()
    }
}

impl Drop for LiveReader {
    fn drop(&mut self) {
        self.finding.abort();
    }
}

/// The connections to hosts. Dropping them ends them.
#[derive(Default)]
struct LiveConnections(BTreeMap<String, JoinHandle<()>>);

impl Drop for LiveConnections {
    fn drop(&mut self) {
        self.0.values().for_each(JoinHandle::abort);
    }
}

/// Connects to each host that appears, for as long as this is polled.
async fn find(state: PathBuf, events: Sender<LiveEvent>) {
    let mut connections = LiveConnections::default();
    loop {
        let path = state.clone();
        // The directory may not exist yet.
        if let Ok(Ok((directory, ids))) = spawn_blocking(move || look(&path)).await {
            let directory = Arc::new(directory);
            // A connection that has ended is forgotten only when its socket is, so that a dead one is not tried again
            // and again.
            connections.0.retain(|id, connection| !connection.is_finished() || ids.contains(id));
            for id in ids {
                let is_room = connections.0.values().filter(|connection| !connection.is_finished()).count() < HOSTS_MAX;
                if is_room && !connections.0.contains_key(&id) {
                    let follow = connection::follow(Arc::clone(&directory), id.clone(), events.clone());
                    connections.0.insert(id, tokio::spawn(follow));
                }
            }
        }
        sleep(LOOK_INTERVAL).await;
    }
}

/// Lists the hosts that have a socket.
fn look(state: &Path) -> io::Result<(Dir, Vec<String>)> {
    let directory = directory::open(&open_directory(state)?)?;
    let ids = directory::ids(&directory)?;
    Ok((directory, ids))
}
