//! A load balancer without session affinity: it passes each request to the next server in turn, with streams both ways.

use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

/// A load balancer that has an address. It ends when it is dropped.
pub(crate) struct Balancer {
    runtime: Runtime,
    listener: Option<TcpListener>,
    address: SocketAddr,
}

impl Balancer {
    /// Takes a free address of the loopback interface.
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        Self { runtime, listener: Some(listener), address }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins to pass requests to these servers.
    pub(crate) fn pass_to(&mut self, servers: Vec<SocketAddr>) {
        let listener = self.listener.take().unwrap();
        let (servers, turn) = (Arc::new(servers), Arc::new(AtomicUsize::new(0)));
        self.runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (servers, turn) = (Arc::clone(&servers), Arc::clone(&turn));
                let service = service_fn(move |request| {
                    pass(servers[turn.fetch_add(1, Ordering::Relaxed) % servers.len()], request)
                });
                let connection = hyper::server::conn::http1::Builder::new();
                tokio::spawn(connection.serve_connection(TokioIo::new(client), service));
            }
        });
    }
}

/// Passes a request on over a connection of its own. Dropping the response closes that connection.
async fn pass(server: SocketAddr, request: Request<Incoming>) -> io::Result<Response<Incoming>> {
    let stream = TcpStream::connect(server).await?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(io::Error::other)
}
