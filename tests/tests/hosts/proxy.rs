//! A proxy between hosts and their database, which cuts and delays connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A running proxy. Its threads end with the test.
pub(super) struct Proxy {
    port: u16,
    state: Arc<ProxyState>,
}

#[derive(Default)]
struct ProxyState {
    /// Both ends of each connection.
    open: Mutex<Vec<[TcpStream; 2]>>,
    /// By how much each piece is delayed, in milliseconds.
    delay: AtomicU64,
}

impl Proxy {
    /// Starts a proxy in front of a port of the loopback address.
    pub(super) fn start(behind: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(ProxyState::default());
        let accepting = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", behind)) else { continue };
                let ends = [client, server];
                let copies = ends.each_ref().map(|end| end.try_clone().unwrap());
                let [client, server] = ends.each_ref().map(|end| end.try_clone().unwrap());
                accepting.open.lock().unwrap().push(ends);
                let [from, to] = copies;
                let (there, back) = (Arc::clone(&accepting), Arc::clone(&accepting));
                thread::spawn(move || pass(&there, from, server));
                thread::spawn(move || pass(&back, to, client));
            }
        });
        Self { port, state }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Cuts every connection, wherever it is in its conversation. Returns their number.
    pub(super) fn cut(&self) -> u64 {
        let open = std::mem::take(&mut *self.state.open.lock().unwrap());
        let count = open.len() as u64;
        for end in open.iter().flatten() {
            let _ = end.shutdown(Shutdown::Both);
        }
        count
    }

    /// Delays every later piece.
    pub(super) fn delay(&self, delay: Duration) {
        self.state.delay.store(delay.as_millis() as u64, Ordering::Relaxed);
    }
}

fn pass(state: &ProxyState, mut from: TcpStream, mut to: TcpStream) {
    let mut piece = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece) {
        thread::sleep(Duration::from_millis(state.delay.load(Ordering::Relaxed)));
        if to.write_all(&piece[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}
