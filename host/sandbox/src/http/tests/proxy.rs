//! The proxy of a program, on a listener of this machine.

#![expect(clippy::disallowed_methods, reason = "the tests connect to the proxy as a program does")]

use super::{Plugin, binding, empty};
use crate::host_memory::HostMemory;
use crate::http::call::NetworkCall;
use crate::http::{Client, Network, Proxy, ProxyRefusals};
use http::Request;
use portcullis_policy::{HttpBinding, Limits};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// Connections that a program may have at one time.
const CONNECTIONS: usize = 32;

struct Served {
    address: std::net::SocketAddr,
    refusals: ProxyRefusals,
    call: Arc<NetworkCall>,
    _task: AbortOnDropHandle<()>,
}

/// Serves a proxy with this client, and this much host memory.
fn serve(binding: Option<HttpBinding>, host_memory_bytes: usize) -> Served {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let client = |binding| Client::new(&Network::new(&[]), Arc::new(binding), PathBuf::from("/")).unwrap();
    let (refusals, call) = (ProxyRefusals::default(), Arc::new(NetworkCall::default()));
    let proxy = Proxy {
        clients: binding.map(client).into_iter().collect(),
        call: Arc::clone(&call),
        memory: HostMemory::new(&Limits { host_memory_bytes, ..Limits::default() }),
        refusals: refusals.clone(),
    };
    Served { address, refusals, call, _task: AbortOnDropHandle::new(tokio::spawn(proxy.serve(listener))) }
}

const PLENTY: usize = 64 << 20;

impl Served {
    /// Sends bytes on a new connection, and returns what comes back until the end or a pause.
    async fn say(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        let (mut answer, mut block) = (Vec::new(), [0; 4096]);
        while let Ok(Ok(read @ 1..)) = timeout(Duration::from_millis(300), stream.read(&mut block)).await {
            answer.extend_from_slice(&block[..read]);
        }
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Answers every connection with one response.
async fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut block = [0; 4096];
                while stream.read(&mut block).await.is_ok_and(|read| read > 0) {
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
                }
            });
        }
    });
    port
}

fn with_tunnels(port: u16) -> HttpBinding {
    let mut binding = binding("127.0.0.1", port);
    binding.schemes.push(portcullis_policy::Scheme::Https);
    binding.methods.push("CONNECT".to_owned());
    binding
}

#[tokio::test]
async fn a_guest_cannot_open_a_tunnel() {
    let mut plugin = Plugin::new(&Network::new(&[]), with_tunnels(80), PathBuf::from("/"));
    let request = Request::builder().method("CONNECT").uri("http://127.0.0.1/").body(empty()).unwrap();
    assert!(plugin.send(request).await.is_err());
    assert!(plugin.hooks.call.refusal().unwrap().contains("only a program can open a tunnel"));
}

#[tokio::test]
async fn a_request_and_a_tunnel_are_decided_and_recorded() {
    let port = server().await;
    let served = serve(Some(with_tunnels(port)), PLENTY);
    let request = format!("GET http://127.0.0.1:{port}/a HTTP/1.1\r\nhost: x\r\nproxy-connection: close\r\n\r\n");
    assert!(served.say(&request).await.ends_with("\r\n\r\nok"));
    let tunnel = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nhost: x\r\n\r\n");
    let answer = served.say(&format!("{tunnel}GET / HTTP/1.1\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nok"), "{answer}");
    for (request, told) in [
        (format!("DELETE http://127.0.0.1:{port}/ HTTP/1.1\r\nhost: x\r\n\r\n"), "no \"DELETE\" requests"),
        ("CONNECT 127.0.0.2:443 HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(), "no network to it"),
        (format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\nhost: x\r\n\r\n", port ^ 1), "no network to it"),
        ("GET /no/host HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(), "destination"),
        (
            format!("GET http://127.0.0.1:{port}/ HTTP/1.1\r\nhost: x\r\nx-forwarded-host: a\r\n\r\n"),
            "x-forwarded-host",
        ),
    ] {
        let answer = served.say(&request).await;
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains(told), "{request}: {answer}");
    }
    assert_eq!(served.refusals.list().len(), 5, "{:?}", served.refusals.list());
    let traffic = served.call.traffic();
    let recorded: Vec<_> = traffic.exchanges.iter().map(|exchange| (&*exchange.method, exchange.status)).collect();
    assert_eq!(recorded[..2], [("GET", Some(200)), ("CONNECT", Some(200))]);
    assert!(traffic.exchanges[1].sent_bytes > 0 && traffic.exchanges[1].received_bytes > 0);
    assert!(recorded[2..].iter().all(|(_, status)| status.is_none()) && recorded.len() == 7);
}

#[tokio::test]
async fn the_connections_of_a_program_are_limited_and_charged() {
    let served = serve(None, PLENTY);
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS {
        open.push(TcpStream::connect(served.address).await.unwrap());
    }
    let request = "GET http://a.test/ HTTP/1.1\r\nhost: x\r\n\r\n";
    assert_eq!(served.say(request).await, "", "the next one waits");
    open.pop();
    // The one that waited was served, and gave its place back when it was closed.
    assert!(served.say(request).await.contains("the policy gives this program no network"));
    let poor = serve(None, 1024);
    assert_eq!(poor.say(request).await, "", "there is no memory for the connection");
    let long = format!("GET http://a.test/{} HTTP/1.1\r\nhost: x\r\n\r\n", "x".repeat(100_000));
    let answer = served.say(&long).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
}
