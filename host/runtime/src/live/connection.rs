//! The connection of a reader to one host.

use super::call::LiveHost;
use super::directory::{is_own, socket_path};
use super::event::LiveEvent;
use super::line::{LINE_BYTES_MAX, LiveLine};
use cap_std::fs::Dir;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

/// How long a reader waits before it connects again to a host that has no room for it.
const FULL_PAUSE: Duration = Duration::from_secs(5);

/// How often and after which pause a reader tries a host that does not answer yet. A socket has a name before it
/// listens.
const TRIES_MAX: u32 = 3;
const TRY_PAUSE: Duration = Duration::from_millis(50);

/// Why a connection ended.
enum ConnectionEnd {
    /// The host has ended, or its socket is that of a dead process.
    Gone,
    /// This reader was too slow.
    Lagged,
    /// The host serves enough readers.
    Full,
}

/// Reads the feed of a host until the host ends.
pub(super) async fn follow(directory: Arc<Dir>, id: String, events: Sender<LiveEvent>) {
    let (mut host, mut tries) = (None, 0);
    loop {
        match read(&directory, &id, &events, &mut host).await {
            // The next connection begins with the calls under way, so nothing is missing then.
            ConnectionEnd::Lagged => {}
            ConnectionEnd::Full => sleep(FULL_PAUSE).await,
            ConnectionEnd::Gone if host.is_none() && tries < TRIES_MAX => {
                tries += 1;
                sleep(TRY_PAUSE).await;
            }
            ConnectionEnd::Gone => break,
        }
    }
    if let Some(host) = host {
        // A reader that is gone needs no notice.
        let _ = events.send(LiveEvent::Gone(host)).await;
    }
}

/// Reads one connection. Notes the host when it is known.
async fn read(directory: &Dir, id: &str, events: &Sender<LiveEvent>, known: &mut Option<LiveHost>) -> ConnectionEnd {
    let Ok(stream) = UnixStream::connect(socket_path(directory, id)).await else { return ConnectionEnd::Gone };
    // The process of another user could show made-up calls.
    if !stream.peer_cred().is_ok_and(|peer| is_own(peer.uid())) {
        return ConnectionEnd::Gone;
    }
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut lines).take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line).await;
        // Without its end, the line is too long, or the host has ended.
        if read.is_err() || line.pop() != Some(b'\n') {
            return ConnectionEnd::Gone;
        }
        let event = match LiveLine::parse(&line) {
            Some(LiveLine::Host(host)) => {
                *known = Some(host.clone());
                LiveEvent::Host(host)
            }
            Some(LiveLine::Call(call)) => LiveEvent::Call(*call),
            Some(LiveLine::Lagged) => return ConnectionEnd::Lagged,
            Some(LiveLine::Full) => return ConnectionEnd::Full,
            None => continue,
        };
        if events.send(event).await.is_err() {
            return ConnectionEnd::Gone;
        }
    }
}
