//! Serves the feed of one host. A reader that connects gets the calls under way, then every change.

use super::call::{LiveCall, LiveHost, LiveProgress, LiveState};
use super::directory::{LiveSocket, SocketFile, is_own};
use super::known_calls::KnownCalls;
use super::line::LiveLine;
use super::writer::{FeedEnd, FeedWriter};
use crate::events::{Event, EventKind, Events, Publisher};
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::unix::OwnedReadHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

/// Maximum readers of one host. A person has a few terminals and consoles open.
const READERS_MAX: usize = 16;

/// How long the host waits after the system refuses a connection, as it does without free descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// Bytes after which queued changes are written before more are taken.
const BATCH_BYTES: usize = 64 * 1024;

/// Serves readers until it is dropped.
pub(crate) struct LiveServer {
    task: AbortHandle,
    _file: SocketFile,
}

/// What each reader is served from.
struct LiveSource {
    host: LiveHost,
    events: Weak<Publisher>,
    calls: Arc<KnownCalls>,
}

impl LiveServer {
    /// Begins to serve the events of a host.
    ///
    /// # Errors
    /// The system has no room for the socket.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub(crate) fn begin(
        socket: LiveSocket,
        id: &str,
        events: &Arc<Publisher>,
        calls: &Arc<KnownCalls>,
    ) -> io::Result<Self> {
        let (listener, file) = socket.into_parts();
        let listener = UnixListener::from_std(listener)?;
        let host = LiveHost { id: id.to_owned(), pid: std::process::id() };
        let source = Arc::new(LiveSource { host, events: Arc::downgrade(events), calls: Arc::clone(calls) });
        let task = tokio::spawn(accept(listener, source)).abort_handle();
        Ok(Self { task, _file: file })
    }
}

impl Drop for LiveServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves each reader in a task of its own. Dropping the future ends them.
async fn accept(listener: UnixListener, source: Arc<LiveSource>) {
    let places = Arc::new(Semaphore::new(READERS_MAX));
    let mut readers = JoinSet::new();
    loop {
        let accepted = listener.accept().await;
        // A `JoinSet` keeps the tasks that have ended until they are joined.
        while readers.try_join_next().is_some() {}
        let Ok((stream, _)) = accepted else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        // Only the user can enter the directory. This also holds if its mode was changed since.
        if !stream.peer_cred().is_ok_and(|peer| is_own(peer.uid())) {
            continue;
        }
        let (source, place) = (Arc::clone(&source), Arc::clone(&places).try_acquire_owned());
        match place {
            Ok(place) => {
                readers.spawn(async move {
                    let _place = place;
                    serve(stream, &source).await;
                });
            }
            Err(_) => refuse(&stream),
        }
    }
}

/// Tells a reader too many that it is one. Its socket is empty, so that does not block.
fn refuse(stream: &UnixStream) {
    let mut line = Vec::new();
    LiveLine::Full.append(&mut line);
    let _ = stream.try_write(&line);
}

async fn serve(stream: UnixStream, source: &LiveSource) {
    let (input, output) = stream.into_split();
    let mut writer = FeedWriter::new(output);
    // Subscribe before the calls are listed, so that no change falls in between.
    let Some(mut events) = source.events.upgrade().map(|events| events.subscribe()) else { return };
    writer.add(&LiveLine::Host(source.host.clone()));
    for (event, state) in source.calls.under_way() {
        writer.add(&source.line(&event, state.into(), None));
    }
    let ended = tokio::select! {
        ended = forward(source, &mut events, &mut writer) => ended,
        () = closed(&input) => FeedEnd::Closed,
    };
    // Nothing more is queued for this reader while it gets the message that it lags.
    drop(events);
    match ended {
        FeedEnd::Closed => {}
        FeedEnd::Slow => writer.lag().await,
    }
}

/// Waits until the reader closes its end, or writes, which no reader does.
async fn closed(input: &OwnedReadHalf) {
    let mut byte = [0];
    loop {
        if input.readable().await.is_err() {
            return;
        }
        match input.try_read(&mut byte) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// Forwards events until the reader is gone or too slow, or the host ends.
async fn forward(source: &LiveSource, events: &mut Events, writer: &mut FeedWriter) -> FeedEnd {
    loop {
        if let Err(end) = writer.flush().await {
            return end;
        }
        let Some(event) = events.next().await else { return FeedEnd::Closed };
        let mut next = Some(event);
        while let Some(event) = next {
            match &event.kind {
                EventKind::State(state) => writer.add(&source.line(&event, (*state).into(), None)),
                EventKind::Progress(progress) => {
                    let progress = LiveProgress::of(progress);
                    writer.add(&source.line(&event, LiveState::Running, Some(progress)));
                }
                EventKind::Lagged => return FeedEnd::Slow,
            }
            next = if writer.waiting_bytes() < BATCH_BYTES { events.try_next() } else { None };
        }
    }
}

impl LiveSource {
    fn line(&self, event: &Event, state: LiveState, progress: Option<LiveProgress>) -> LiveLine {
        LiveLine::Call(Box::new(LiveCall::of_event(&self.host, event, state, progress)))
    }
}
