//! A server on the loopback address.

use super::behaviour::Behaviour;
use super::seen::Seen;
use super::wire::Wire;
use super::{RUNTIME, frames, locked};
use rustls::ServerConfig;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// Maximum time for a server to notice that a connection has ended.
const NOTICE: Duration = Duration::from_secs(3);

/// A server on the loopback address. It ends on drop, with its connections.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Starts a server without TLS.
    pub fn plain(behaviour: impl Into<Behaviour>) -> Self {
        Self::start((Ipv4Addr::LOCALHOST, 0).into(), behaviour.into(), None)
    }

    /// Does the same on `::1`.
    pub fn plain_v6(behaviour: impl Into<Behaviour>) -> Self {
        Self::start((Ipv6Addr::LOCALHOST, 0).into(), behaviour.into(), None)
    }

    /// Starts a server with TLS.
    pub fn tls(config: ServerConfig, behaviour: impl Into<Behaviour>) -> Self {
        Self::start((Ipv4Addr::LOCALHOST, 0).into(), behaviour.into(), Some(Arc::new(config).into()))
    }

    /// Starts a server without TLS at another address, on the port of this one.
    pub fn beside(&self, address: &str, behaviour: impl Into<Behaviour>) -> Self {
        Self::start(SocketAddr::new(address.parse().unwrap(), self.port()), behaviour.into(), None)
    }

    fn start(address: SocketAddr, behaviour: Behaviour, tls: Option<TlsAcceptor>) -> Self {
        let listener = std::net::TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::default();
        let task = RUNTIME.spawn(accept(listener, Arc::new(behaviour), tls, Arc::clone(&seen)));
        Self { address, seen, task }
    }

    /// Returns the server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns `127.0.0.1:port`.
    pub fn authority(&self) -> String {
        self.address.to_string()
    }

    /// Returns a copy of what the server received so far, so that the caller does not block the server.
    pub fn seen(&self) -> Seen {
        locked(&self.seen).clone()
    }

    /// Returns the number of accepted connections.
    pub fn connections(&self) -> usize {
        locked(&self.seen).connections
    }

    /// Returns the requests as text.
    pub fn texts(&self) -> Vec<String> {
        self.seen().texts()
    }

    /// Asserts that there was no connection.
    #[track_caller]
    pub fn saw_nothing(&self) {
        let seen = self.seen();
        assert_eq!((seen.connections, seen.requests.len()), (0, 0), "{seen:?}");
    }

    /// Asserts that all connections are closed within a short time. Other tasks run meanwhile.
    pub async fn is_left(&self) {
        let began = Instant::now();
        loop {
            let open = locked(&self.seen).open;
            if open == 0 {
                return;
            }
            assert!(began.elapsed() < NOTICE, "{open} connections are still open");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(
    listener: std::net::TcpListener,
    behaviour: Arc<Behaviour>,
    tls: Option<TlsAcceptor>,
    seen: Arc<Mutex<Seen>>,
) {
    let listener = TcpListener::from_std(listener).unwrap();
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(connection(stream, Arc::clone(&behaviour), tls.clone(), Arc::clone(&seen)));
        while connections.try_join_next().is_some() {}
    }
}

/// Counts a connection as open until it is dropped.
struct Open(Arc<Mutex<Seen>>);

impl Drop for Open {
    fn drop(&mut self) {
        locked(&self.0).open -= 1;
    }
}

async fn connection(stream: TcpStream, behaviour: Arc<Behaviour>, tls: Option<TlsAcceptor>, seen: Arc<Mutex<Seen>>) {
    let index = {
        let mut seen = locked(&seen);
        seen.connections += 1;
        seen.open += 1;
        seen.heard.push(Vec::new());
        seen.connections - 1
    };
    let _open = Open(Arc::clone(&seen));
    // An error here means that the client has closed the connection.
    let _ = match (&*behaviour, tls) {
        (Behaviour::Reset, _) => stream.set_zero_linger(),
        (_, None) => behaviour.talk(Wire::new(stream, seen, index)).await,
        (behaviour, Some(acceptor)) => {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            {
                let mut seen = locked(&seen);
                seen.handshakes += 1;
                seen.names.push(stream.get_ref().1.server_name().map(str::to_owned));
            }
            match behaviour {
                Behaviour::Http2(answer) => frames::serve(stream, answer.clone(), seen).await,
                behaviour => behaviour.talk(Wire::new(stream, seen, index)).await,
            }
        }
    };
}
