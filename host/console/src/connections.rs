//! The HTTP connections: their number, their timeouts, and how they end.

use crate::limits::{CONNECTIONS_MAX, HEADERS_BYTES_MAX, HEADERS_MAX, HEADERS_TIME, IDLE_TIME, STOP_TIME};
use axum::Router;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Pause after the system fails to accept a connection, for example because no descriptors are left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the console stops. Open connections may then finish their current request.
pub(crate) async fn serve(listener: TcpListener, router: Router, stopping: CancellationToken) {
    let (room, mut connections) = (Arc::new(Semaphore::new(CONNECTIONS_MAX)), JoinSet::new());
    let mut accepting = Box::pin(accept(&listener, &room));
    loop {
        tokio::select! {
            biased;
            () = stopping.cancelled() => break,
            // Joined at once, because a finished task holds memory until it is joined.
            Some(_) = connections.join_next() => {}
            accepted = &mut accepting => {
                let Some((stream, place)) = accepted else { break };
                connections.spawn(one(stream, router.clone(), stopping.clone(), place));
                accepting.set(accept(&listener, &room));
            }
        }
    }
    drop(accepting);
    drop(listener);
    let finished = async { while connections.join_next().await.is_some() {} };
    // Connections that have not finished by then are aborted when the set is dropped.
    drop(timeout(STOP_TIME, finished).await);
}

/// Returns the next connection, as soon as there is room for it.
async fn accept(listener: &TcpListener, room: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.ok()?;
    loop {
        match listener.accept().await {
            // Without Nagle's algorithm, the system sends an event at once.
            Ok((stream, _)) if stream.set_nodelay(true).is_ok() => return Some((stream, place)),
            // The client has already disconnected.
            Ok(_) => {}
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn one(stream: TcpStream, router: Router, stopping: CancellationToken, _place: OwnedSemaphorePermit) {
    let (routed, asked) = (TowerToHyperService::new(router), CancellationToken::new());
    let first = asked.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        first.cancel();
        routed.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(IDLE_TIME);
    builder.max_headers(HEADERS_MAX).max_buf_size(HEADERS_BYTES_MAX);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // Biased, so that a request that has arrived is served even if the timeout has also expired.
        biased;
        // A client that disconnects or does not speak HTTP affects no other connection, so its error is ignored.
        ended = &mut connection => return drop(ended),
        () = asked.cancelled() => {}
        () = sleep(HEADERS_TIME) => return,
        () = stopping.cancelled() => {}
    }
    tokio::select! {
        ended = &mut connection => return drop(ended),
        () = stopping.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    drop(connection.await);
}
