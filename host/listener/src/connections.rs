//! The HTTP connections: their number, their timeouts, and how they end.

use crate::limits::ListenerLimits;
use crate::linger::{Lingering, Unread};
use crate::observer::{ConnectionObserver, ConnectionRefusal, OpenConnection, PeerAddress, Unobserved};
use crate::room::{ConnectionPlace, Room};
use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Pause after the system fails to accept a connection, for example because no descriptors are left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a connection that was opened just before the stop may take to send its request. The request has usually
/// arrived already, but was not read yet.
const LAST_REQUEST_TIME: Duration = Duration::from_millis(100);

/// Binds an address, with a queue of connections to accept of this length. The address can be reused immediately after
/// another server has ended, but not while one listens.
///
/// # Errors
/// The address cannot be bound.
pub fn bind(address: SocketAddr, waiting: u32) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Only on Unix. On Windows, the option lets another process take over the port of a running server.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(waiting)
}

/// Serves connections until the server stops. Open connections may then finish their current request.
pub async fn serve(listener: TcpListener, router: Router, limits: ListenerLimits, stopping: CancellationToken) {
    let stop = ListenerStop::AtOnce(stopping);
    serve_observed(listener, Served { router, limits, observer: Arc::new(Unobserved) }, stop).await;
}

/// What a listener serves, within which limits, and who observes its connections.
pub struct Served {
    /// The routes.
    pub router: Router,
    /// The limits.
    pub limits: ListenerLimits,
    /// Learns about each connection.
    pub observer: Arc<dyn ConnectionObserver>,
}

/// How a listener stops.
#[derive(Clone, Debug)]
pub enum ListenerStop {
    /// It accepts no more connections from the cancellation on.
    AtOnce(CancellationToken),
    /// It still accepts connections while it drains, and each of them gets one response. So a probe learns that the
    /// server is stopping. These connections do not prolong the stop.
    Draining {
        /// Cancelled when the server begins to stop.
        begun: CancellationToken,
        /// Cancelled when the work that the server waits for has ended.
        drained: CancellationToken,
    },
}

impl Served {
    /// Serves one connection. The observer learns if it is ended for the sake of others.
    fn connection(&self, accepted: Accepted, end: ConnectionEnd) -> impl Future<Output = ()> + Send + use<> {
        // Begin here and not in the task, so that the observer also learns of a task that is dropped before it runs.
        let (router, limits, open) = (self.router.clone(), self.limits, OpenConnection::begin(&self.observer));
        async move {
            let peer = accepted.peer;
            if let Some(why) = one(accepted, router, limits, end).await {
                open.refused(peer, why);
            }
        }
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Served").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl ListenerStop {
    fn begun(&self) -> &CancellationToken {
        match self {
            Self::AtOnce(begun) | Self::Draining { begun, .. } => begun,
        }
    }
}

/// When a connection ends by itself.
enum ConnectionEnd {
    /// After its current request, once the server stops.
    AtStop(CancellationToken),
    /// After its first request.
    AfterFirstRequest,
}

/// Serves connections like [`serve`], and tells an observer about them.
pub async fn serve_observed(listener: TcpListener, served: Served, stop: ListenerStop) {
    let room = Room::new(served.limits.connections);
    let (mut connections, mut accepting) = (JoinSet::new(), Box::pin(accept(&listener, &room)));
    loop {
        tokio::select! {
            // Biased, so that no connection is accepted once the stop has begun.
            biased;
            () = stop.begun().cancelled() => break,
            // Joined at once, not with the next connection, because a finished task holds memory until it is joined.
            Some(_) = connections.join_next() => {}
            // Polled by reference. Dropping the future in each turn would lose a connection that waits for its place.
            accepted = &mut accepting => {
                let Some(accepted) = accepted else { break };
                let end = ConnectionEnd::AtStop(stop.begun().clone());
                connections.spawn(served.connection(accepted, end));
                accepting.set(accept(&listener, &room));
            }
        }
    }
    drop(accepting);
    let stop_time = served.limits.stop_time;
    let finished = async { while connections.join_next().await.is_some() {} };
    // Connections that have not finished by then are aborted when the sets are dropped.
    match stop {
        ListenerStop::AtOnce(_) => {
            // Close the listener before the wait. Otherwise the system would still accept connections into its queue.
            drop(listener);
            drop(timeout(stop_time, finished).await);
        }
        ListenerStop::Draining { drained, .. } => {
            let over = async { tokio::join!(finished, drained.cancelled()) };
            let answering = answer_late(&listener, &room, &served);
            let draining = async {
                tokio::select! {
                    _ = over => {}
                    never = answering => match never {},
                }
            };
            drop(timeout(stop_time, draining).await);
        }
    }
}

/// Answers one request of each connection, until the future is dropped.
async fn answer_late(listener: &TcpListener, room: &Arc<Room>, served: &Served) -> Infallible {
    let (mut late, mut accepting) = (JoinSet::new(), Box::pin(accept(listener, room)));
    loop {
        tokio::select! {
            Some(_) = late.join_next() => {}
            accepted = &mut accepting => {
                // `Room` refuses a place only if its semaphore is closed, which never happens. The caller drops this
                // future in any case.
                let Some(accepted) = accepted else { return pending().await };
                late.spawn(served.connection(accepted, ConnectionEnd::AfterFirstRequest));
                accepting.set(accept(listener, room));
            }
        }
    }
}

/// An accepted connection.
struct Accepted {
    stream: TcpStream,
    peer: SocketAddr,
    place: ConnectionPlace,
}

/// Returns the next connection, as soon as there is room for it.
async fn accept(listener: &TcpListener, room: &Arc<Room>) -> Option<Accepted> {
    loop {
        match listener.accept().await {
            // Enter the room only with a connection in hand, because entering may evict another connection.
            Ok((stream, peer)) if prepare(&stream).is_ok() => {
                return Some(Accepted { stream, peer, place: room.enter().await? });
            }
            // The client has already disconnected.
            Ok(_) => {}
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Disables Nagle's algorithm. Otherwise the system holds back the end of a response until the client has acknowledged
/// its beginning, which costs 40 ms per call.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)
}

/// Serves one connection. Returns why it was ended, if that was for the sake of others.
async fn one(
    Accepted { stream, peer, place }: Accepted,
    router: Router,
    limits: ListenerLimits,
    end: ConnectionEnd,
) -> Option<ConnectionRefusal> {
    let (asked, unread) = (CancellationToken::new(), Unread::default());
    // For a late connection, its first request is the signal to stop. The graceful shutdown lets the response end.
    let stopping = match end {
        ConnectionEnd::AtStop(stopping) => stopping,
        ConnectionEnd::AfterFirstRequest => asked.clone(),
    };
    let stream = Lingering::new(stream, unread.clone(), limits.linger_time);
    let (routed, first, arrival) = (TowerToHyperService::new(router), asked.clone(), place.arrival());
    let service = service_fn(move |request: Request<Incoming>| {
        // hyper does not report that a request has arrived, so the service does.
        first.cancel();
        let mut request = request.map(|body| unread.follow(body));
        request.extensions_mut().insert(arrival.clone());
        request.extensions_mut().insert(PeerAddress(peer));
        routed.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.headers_time);
    builder.max_headers(limits.headers).max_buf_size(limits.headers_bytes);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // Biased, so that a request that has arrived is served even if the timeout has also expired.
        biased;
        ended = &mut connection => return malformed(ended),
        () = place.evicted() => return Some(ConnectionRefusal::Evicted),
        // hyper has one timeout for all headers. The first ones get their own, because the client is still unknown.
        () = sleep(limits.first_headers_time) => return Some(ConnectionRefusal::HeadersLate),
        () = stopping.cancelled() => {}
        () = asked.cancelled() => {}
    }
    // An authorized request takes the connection off the list for eviction. From then on, `evicted` never completes.
    tokio::select! {
        ended = &mut connection => return malformed(ended),
        () = place.evicted() => return Some(ConnectionRefusal::Evicted),
        () = stopping.cancelled() => {}
    }
    // A graceful shutdown closes a connection that has read nothing yet, even if a request waits in the socket. So the
    // connection first gets a little time to read it.
    if !asked.is_cancelled() {
        tokio::select! {
            biased;
            ended = &mut connection => return malformed(ended),
            () = asked.cancelled() => {}
            () = sleep(LAST_REQUEST_TIME) => {}
        }
    }
    connection.as_mut().graceful_shutdown();
    malformed(connection.await)
}

/// Returns the refusal of a client that does not speak HTTP. One that disconnects affects no other connection, so its
/// error is ignored.
fn malformed(ended: hyper::Result<()>) -> Option<ConnectionRefusal> {
    ended.err().filter(hyper::Error::is_parse).map(|_| ConnectionRefusal::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "the test is the client")]
    async fn a_connection_sends_each_message_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let accepted = accept(&listener, &Room::new(1)).await.unwrap();
        assert!(accepted.stream.nodelay().unwrap());
    }
}
