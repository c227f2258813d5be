//! The HTTP connections: their number, their timeouts, and how they end.

use crate::limits::ListenerLimits;
use crate::linger::{Lingering, Unread};
use crate::room::{ConnectionPlace, Room};
use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
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
/// Binds an address, with a queue of connections to accept of this length. The address can be reused immediately after
/// another server has ended, but not while one listens.
///
/// # Errors
/// The address cannot be bound.
pub fn bind(address: SocketAddr, waiting: u32) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(waiting)
}

/// Serves connections until the server stops. Open connections may then finish their current request.
pub async fn serve(listener: TcpListener, router: Router, limits: ListenerLimits, stopping: CancellationToken) {
    let room = Room::new(limits.connections);
    let (mut connections, mut accepting) = (JoinSet::new(), Box::pin(accept(&listener, &room)));
    loop {
        tokio::select! {
            biased;
            () = stopping.cancelled() => break,
            // Joined at once, not with the next connection, because a finished task holds memory until it is joined.
            Some(_) = connections.join_next() => {}
            accepted = &mut accepting => {
                let Some((stream, place)) = accepted else { break };
                connections.spawn(one(stream, router.clone(), limits, stopping.clone(), place));
                accepting.set(accept(&listener, &room));
            }
        }
    }
    drop(accepting);
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    // Connections that have not finished by then are aborted when the set is dropped.
    drop(timeout(limits.stop_time, finished).await);
}

/// Returns the next connection, as soon as there is room for it.
async fn accept(listener: &TcpListener, room: &Arc<Room>) -> Option<(TcpStream, ConnectionPlace)> {
    loop {
        match listener.accept().await {
            Ok((stream, _)) if prepare(&stream).is_ok() => return Some((stream, room.enter().await?)),
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

async fn one(
    stream: TcpStream,
    router: Router,
    limits: ListenerLimits,
    stopping: CancellationToken,
    place: ConnectionPlace,
) {
    let (asked, unread) = (CancellationToken::new(), Unread::default());
    let stream = Lingering::new(stream, unread.clone(), limits.linger_time);
    let (routed, first, arrival) = (TowerToHyperService::new(router), asked.clone(), place.arrival());
    let service = service_fn(move |request: Request<Incoming>| {
        first.cancel();
        let mut request = request.map(|body| unread.follow(body));
        request.extensions_mut().insert(arrival.clone());
        routed.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.headers_time);
    builder.max_headers(limits.headers).max_buf_size(limits.headers_bytes);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // Biased, so that a request that has arrived is served even if the timeout has also expired.
        biased;
        // A client that disconnects or does not speak HTTP affects no other connection, so its error is ignored.
        ended = &mut connection => return drop(ended),
        () = place.evicted() => return,
        () = sleep(limits.first_headers_time) => return,
        () = stopping.cancelled() => {}
        () = asked.cancelled() => {}
    }
    tokio::select! {
        ended = &mut connection => return drop(ended),
        () = place.evicted() => return,
        () = stopping.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    drop(connection.await);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "the test is the client")]
    async fn a_connection_sends_each_message_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _place) = accept(&listener, &Room::new(1)).await.unwrap();
        assert!(stream.nodelay().unwrap());
    }
}
