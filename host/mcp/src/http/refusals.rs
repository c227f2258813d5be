//! Counts what the server refuses, and writes a limited number of lines about it to the log.
//!
//! Everyone who can connect can cause refusals. So each reason has its own maximum of lines, and one reason cannot hide
//! another.

use super::refusal_reason::RefusalReason;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use portcullis::policy::recovery::RecoverMutex;
use portcullis_listener::{ConnectionObserver, ConnectionRefusal, PeerAddress, RefusedApprover};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Maximum lines about refusals of one reason in [`LOG_WINDOW_TIME`]. With all reasons, that is 100 lines a minute, or
/// about 20 megabytes a day during an attack.
pub const LOG_LINES_MAX: u32 = 5;

/// The time in which the lines about refusals are counted.
pub const LOG_WINDOW_TIME: Duration = Duration::from_secs(60);

/// What a server has refused so far, and its open connections.
#[derive(Debug)]
pub(crate) struct Refusals {
    requests: [RefusalRow; RefusalReason::ALL.len()],
    connections: [RefusalRow; ConnectionRefusal::ALL.len()],
    open_connections: AtomicU64,
    window_time: Duration,
}

/// The refusals of one reason.
#[derive(Debug, Default)]
struct RefusalRow {
    count: AtomicU64,
    lines: Mutex<LogWindow>,
}

/// The lines about one reason in the current window.
#[derive(Debug, Default)]
struct LogWindow {
    /// When the window ends. `None` before the first line.
    until: Option<Instant>,
    lines: u32,
    left_out: u64,
}

/// What to do about one refusal.
#[derive(Debug, PartialEq, Eq)]
enum LineVerdict {
    Write,
    LeaveOut,
    /// It is the first one that is left out. What is left out until then is told at this time.
    LeaveOutAndTell(Instant),
}

/// A reason, as it is in the log.
#[derive(Clone, Copy)]
enum LoggedReason {
    Request(RefusalReason),
    Connection(ConnectionRefusal),
}

impl LoggedReason {
    fn what(self) -> &'static str {
        match self {
            Self::Request(_) => "request",
            Self::Connection(_) => "connection",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Request(reason) => reason.as_str(),
            Self::Connection(reason) => reason.as_str(),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Request(reason) => reason.text(),
            Self::Connection(ConnectionRefusal::Evicted) => "it had to make room for another one",
            Self::Connection(ConnectionRefusal::HeadersLate) => "no request came in time",
            Self::Connection(ConnectionRefusal::Malformed) => "it is not HTTP, or its headers are too large",
        }
    }
}

impl LogWindow {
    fn count(&mut self, now: Instant, window: Duration) -> LineVerdict {
        let until = match self.until {
            Some(until) if now < until => until,
            Some(_) | None => {
                self.lines = 0;
                *self.until.insert(now + window)
            }
        };
        if self.lines < LOG_LINES_MAX {
            self.lines += 1;
            return LineVerdict::Write;
        }
        self.left_out += 1;
        if self.left_out == 1 { LineVerdict::LeaveOutAndTell(until) } else { LineVerdict::LeaveOut }
    }
}

impl Refusals {
    pub(crate) fn new() -> Arc<Self> {
        Self::within(LOG_WINDOW_TIME)
    }

    fn within(window_time: Duration) -> Arc<Self> {
        let (requests, connections) = (Default::default(), Default::default());
        Arc::new(Self { requests, connections, open_connections: AtomicU64::new(0), window_time })
    }

    /// Counts a refused request. `peer` is `None` if its listener does not tell it.
    pub(crate) fn request(self: &Arc<Self>, reason: RefusalReason, peer: Option<SocketAddr>) {
        self.count(LoggedReason::Request(reason), peer);
    }

    fn count(self: &Arc<Self>, reason: LoggedReason, peer: Option<SocketAddr>) {
        let Some(row) = self.row(reason) else { return };
        row.count.fetch_add(1, Ordering::Relaxed);
        // A statement of its own releases the lock before a line is written, which can take time.
        let verdict = row.lines.lock_recovered().count(Instant::now(), self.window_time);
        match verdict {
            LineVerdict::Write => log_line(reason, peer),
            LineVerdict::LeaveOut => {}
            LineVerdict::LeaveOutAndTell(at) => {
                let refusals = Arc::clone(self);
                tokio::spawn(async move {
                    sleep_until(at).await;
                    refusals.tell_left_out(reason);
                });
            }
        }
    }

    fn row(&self, reason: LoggedReason) -> Option<&RefusalRow> {
        match reason {
            LoggedReason::Request(reason) => self.requests.get(reason as usize),
            LoggedReason::Connection(reason) => self.connections.get(reason as usize),
        }
    }

    fn tell_left_out(&self, reason: LoggedReason) {
        let left_out = self.row(reason).map_or(0, |row| std::mem::take(&mut row.lines.lock_recovered().left_out));
        if left_out > 0 {
            log_left_out(reason, left_out);
        }
    }

    /// Tells what was left out, when the server stops.
    pub(crate) fn tell_all_left_out(&self) {
        RefusalReason::ALL.into_iter().for_each(|reason| self.tell_left_out(LoggedReason::Request(reason)));
        ConnectionRefusal::ALL.into_iter().for_each(|reason| self.tell_left_out(LoggedReason::Connection(reason)));
    }

    fn of_request(&self, reason: RefusalReason) -> u64 {
        self.row(LoggedReason::Request(reason)).map_or(0, |row| row.count.load(Ordering::Relaxed))
    }

    fn of_connection(&self, reason: ConnectionRefusal) -> u64 {
        self.row(LoggedReason::Connection(reason)).map_or(0, |row| row.count.load(Ordering::Relaxed))
    }
}

fn log_line(reason: LoggedReason, peer: Option<SocketAddr>) {
    let (what, why) = (reason.what(), reason.text());
    match peer {
        Some(peer) => tracing::warn!(
            target: "portcullis::server",
            event = "refused",
            what,
            reason = reason.name(),
            %peer,
            "refused a {what} of {peer}: {why}"
        ),
        None => tracing::warn!(
            target: "portcullis::server",
            event = "refused",
            what,
            reason = reason.name(),
            "refused a {what}: {why}"
        ),
    }
}

fn log_left_out(reason: LoggedReason, left_out: u64) {
    let (what, why) = (reason.what(), reason.text());
    tracing::warn!(
        target: "portcullis::server",
        event = "refused",
        what,
        reason = reason.name(),
        left_out,
        "refused {left_out} more {what}s, for the same reason: {why}"
    );
}

/// Records the response of a guard that refused the request. It is the outermost layer.
pub(crate) async fn recorded(State(refusals): State<Arc<Refusals>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<PeerAddress>().map(|PeerAddress(peer)| *peer);
    let response = next.run(request).await;
    let is_approver = response.extensions().get::<RefusedApprover>().is_some();
    let reason = response.extensions().get::<RefusalReason>().copied();
    if let Some(reason) = reason.or_else(|| is_approver.then_some(RefusalReason::ApproverToken)) {
        refusals.request(reason, peer);
    }
    response
}

/// The counters of a server over HTTP, for metrics. Clones share them.
#[derive(Clone, Debug)]
pub struct HttpCounters(pub(crate) Arc<Refusals>);

impl HttpCounters {
    /// Returns how many requests were refused, by reason.
    pub fn refused_requests(&self) -> impl Iterator<Item = (RefusalReason, u64)> {
        RefusalReason::ALL.into_iter().map(|reason| (reason, self.0.of_request(reason)))
    }

    /// Returns how many connections were ended for the sake of others, by the name of the reason.
    pub fn refused_connections(&self) -> impl Iterator<Item = (&'static str, u64)> {
        ConnectionRefusal::ALL.into_iter().map(|reason| (reason.as_str(), self.0.of_connection(reason)))
    }

    /// Returns the number of open connections.
    pub fn open_connections(&self) -> u64 {
        self.0.open_connections.load(Ordering::Relaxed)
    }
}

impl ConnectionObserver for HttpCounters {
    fn opened(&self) {
        self.0.open_connections.fetch_add(1, Ordering::Relaxed);
    }

    fn ended(&self) {
        self.0.open_connections.fetch_sub(1, Ordering::Relaxed);
    }

    fn refused(&self, peer: SocketAddr, why: ConnectionRefusal) {
        self.0.count(LoggedReason::Connection(why), Some(peer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_its_own_row() {
        for (index, reason) in RefusalReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{}", reason.as_str());
        }
        for (index, reason) in ConnectionRefusal::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index, "{}", reason.as_str());
        }
    }

    #[tokio::test]
    async fn a_window_has_few_lines_and_the_number_of_the_others_is_told_once() {
        let (mut window, now) = (LogWindow::default(), Instant::now());
        let end = now + LOG_WINDOW_TIME;
        for _ in 0..LOG_LINES_MAX {
            assert_eq!(window.count(now, LOG_WINDOW_TIME), LineVerdict::Write);
        }
        assert_eq!(window.count(now, LOG_WINDOW_TIME), LineVerdict::LeaveOutAndTell(end));
        assert_eq!(window.count(now, LOG_WINDOW_TIME), LineVerdict::LeaveOut);
        assert_eq!(std::mem::take(&mut window.left_out), 2);
        // The next window begins with the first refusal after this one.
        assert_eq!(window.count(end, LOG_WINDOW_TIME), LineVerdict::Write);
    }

    #[tokio::test]
    async fn every_refusal_counts_whether_it_has_a_line_or_not() {
        let refusals = Refusals::within(Duration::from_millis(10));
        for _ in 0..1000 {
            refusals.request(RefusalReason::TokenInvalid, None);
        }
        assert_eq!(refusals.of_request(RefusalReason::TokenInvalid), 1000);
        assert_eq!(refusals.of_request(RefusalReason::TokenMissing), 0);
        let row = refusals.row(LoggedReason::Request(RefusalReason::TokenInvalid)).unwrap();
        assert_eq!(row.lines.lock_recovered().left_out, 1000 - u64::from(LOG_LINES_MAX));
        let told = async {
            while row.lines.lock_recovered().left_out > 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), told).await.expect("it was not told");
    }
}
