//! Tests the client against servers on the loopback address: plain, TLS with HTTP/2 and HTTP/1.1, and a name server.

mod proxy;
mod secure;

use super::context::Hooks;
use super::{Client, Network, PluginSecrets, Traffic};
use crate::host_memory::HostMemory;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hickory_resolver::proto::op::{Message, MessageType};
use hickory_resolver::proto::rr::rdata::A;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use portcullis_policy::{
    AddressRange, HostPattern, HttpBinding, HttpLimits, Limits, Scheme, SecretBinding, SecretSlot, SecretSource,
    Unnamed,
};
use std::convert::Infallible;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

const CANARY: &str = "canary/secret+value";

/// Returns the HTTP side of a call with plenty of host memory.
fn hooks(client: Option<Client>, secrets: Option<Arc<PluginSecrets>>) -> Hooks {
    Hooks::new(client, secrets, HostMemory::new(&Limits::default()))
}

fn binding(host: &str, port: u16) -> HttpBinding {
    HttpBinding {
        schemes: vec![Scheme::Http],
        hosts: vec![HostPattern::new(host).unwrap()],
        unnamed: Unnamed::Deny,
        ports: vec![port],
        methods: vec!["GET".to_owned(), "POST".to_owned()],
        paths: Vec::new(),
        headers: None,
        addresses: vec![AddressRange::new("127.0.0.0/8").unwrap()],
        roots: None,
        secret: None,
        narrow: None,
        limits: HttpLimits {
            request_bytes: 1000,
            response_bytes: 100_000,
            requests: 10,
            requests_per_minute: 100,
            time: Duration::from_secs(5),
        },
        server: None,
    }
}

fn empty() -> WasiBody {
    Empty::new().map_err(Into::into).boxed_unsync()
}

fn request(url: &str) -> Request<WasiBody> {
    Request::get(url).body(empty()).unwrap()
}

struct Plugin {
    hooks: Hooks,
}

impl Plugin {
    fn new(network: &Network, binding: HttpBinding, base: PathBuf) -> Self {
        Self::of(Client::new(network, Arc::new(binding), base).unwrap())
    }

    fn of(client: Client) -> Self {
        let secrets = PluginSecrets::new(client.network(), [&client]);
        Self { hooks: hooks(Some(client), Some(Arc::new(secrets))) }
    }

    async fn send(&mut self, request: Request<WasiBody>) -> Result<Response<WasiBody>, Error> {
        self.send_with(request, None).await
    }

    async fn send_with(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
    ) -> Result<Response<WasiBody>, Error> {
        let sent = self.hooks.send_request(request, options, Box::new(async { Ok(()) }));
        Box::into_pin(sent).await.map(|(response, _)| response)
    }

    async fn get(&mut self, url: &str) -> Result<(http::response::Parts, Bytes), Error> {
        let (parts, body) = self.send(request(url)).await?.into_parts();
        Ok((parts, body.collect().await?.to_bytes()))
    }

    fn traffic(&self) -> Traffic {
        self.hooks.call.traffic()
    }

    fn refusal(&self) -> String {
        self.hooks.call.refusal().unwrap_or_default()
    }
}

/// A server that reads a head on each connection, records it, and answers with the same bytes.
struct Recorder {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
    closed: Option<oneshot::Receiver<()>>,
}

impl Recorder {
    async fn start(answer: Vec<u8>, close: bool) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&heads);
        let (tell, closed) = oneshot::channel();
        let mut tell = Some(tell);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                kept.lock().unwrap().push(String::new());
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let Ok(byte) = stream.read_u8().await else { break };
                    head.push(byte);
                }
                *kept.lock().unwrap().last_mut().unwrap() = String::from_utf8(head).unwrap();
                stream.write_all(&answer).await.ok();
                if !close {
                    while stream.read_u8().await.is_ok() {}
                    tell.take().map(|tell| tell.send(()));
                }
            }
        });
        Self { port, heads, closed: Some(closed) }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn the_permitted_request_is_sent_and_its_response_is_decoded() {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(b"a page").unwrap();
    let server = Recorder::start(answer("content-encoding: gzip\r\n", &gzip.finish().unwrap()), true).await;
    let port = server.port;
    let mut plugin = Plugin::new(&Network::new(&[]), binding("127.0.0.1", port), PathBuf::new());
    let (parts, body) = plugin.get(&format!("http://127.0.0.1:{port}/a?b=c")).await.unwrap();
    assert_eq!(&body[..], b"a page");
    assert!(!parts.headers.contains_key("content-encoding") && !parts.headers.contains_key("content-length"));
    let head = server.heads().remove(0);
    assert!(head.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{head}");
    assert_eq!(head.matches(&format!("host: 127.0.0.1:{port}\r\n")).count(), 1, "{head}");
    assert!(head.contains("accept-encoding: gzip\r\n") && head.contains("user-agent: portcullis/"), "{head}");
    let exchange = plugin.traffic().exchanges.remove(0);
    assert_eq!((exchange.status, exchange.error, exchange.received_bytes), (Some(200), None, 6));
    assert_eq!(exchange.url, format!("http://127.0.0.1:{port}/a"));
}

#[tokio::test]
async fn a_request_that_is_not_granted_opens_no_connection() {
    let server = Recorder::start(answer("", b""), true).await;
    let port = server.port;
    let network = Network::new(&[]);
    let url = format!("http://127.0.0.1:{port}/");
    let mut none = hooks(None, None);
    let sent = none.send_request(request(&url), None, Box::new(async { Ok(()) }));
    assert!(matches!(Box::into_pin(sent).await, Err(Error::HttpRequestDenied)));
    let mut granted = binding("127.0.0.1", port);
    granted.headers = Some(vec!["accept".to_owned()]);
    let mut plugin = Plugin::new(&network, granted, PathBuf::new());
    let header = |name: &str| Request::get(&url).header(name, "x").body(empty()).unwrap();
    let other = Request::delete(&url).body(empty()).unwrap();
    let secure = request(&url.replace("http:", "https:"));
    for denied in [other, secure, header("x-other"), header("host"), header("te"), header("proxy-x")] {
        assert!(matches!(plugin.send(denied).await, Err(Error::HttpRequestDenied)));
        assert!(!plugin.refusal().is_empty());
    }
    network.forbid(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    assert!(matches!(plugin.send(request(&url)).await, Err(Error::HttpRequestDenied)));
    assert!(plugin.refusal().contains("own servers"), "{}", plugin.refusal());
    assert_eq!(server.heads(), Vec::<String>::new());
}

#[tokio::test]
async fn a_secret_is_sent_and_its_echoes_are_redacted() {
    let base = std::env::temp_dir().join(format!("portcullis-secret-{}", std::process::id()));
    std::fs::File::create_new(&base).unwrap().write_all(format!("{CANARY}\n").as_bytes()).unwrap();
    let echo = format!("x-echo: {CANARY}\r\nlocation: /?t=canary%2Fsecret%2Bvalue\r\n");
    let server = Recorder::start(answer(&echo, format!("<{CANARY}> and <{CANARY}>").as_bytes()), true).await;
    let port = server.port;
    let mut granted = binding("127.0.0.1", port);
    let slot = SecretSlot::Header { name: "authorization".to_owned(), value: "Bearer {}".to_owned() };
    let from = SecretSource::File(base.display().to_string());
    granted.secret = Some(SecretBinding { host: HostPattern::new("127.0.0.1").unwrap(), slot, from });
    let mut plugin = Plugin::new(&Network::new(&[]), granted, PathBuf::from("/"));
    let url = format!("http://127.0.0.1:{port}/");
    let (parts, body) = plugin.get(&url).await.unwrap();
    rustix::fs::unlink(&base).unwrap();
    assert!(server.heads()[0].contains(&format!("authorization: Bearer {CANARY}\r\n")));
    assert_eq!(&body[..], b"<[redacted by Portcullis]> and <[redacted by Portcullis]>");
    assert_eq!(parts.headers["x-echo"], "[redacted by Portcullis]");
    assert_eq!(parts.headers["location"], "/?t=[redacted by Portcullis]");
    assert_eq!(plugin.traffic().redactions, 4);
    let own = Request::get(&url).header("authorization", "mine").body(empty()).unwrap();
    assert!(matches!(plugin.send(own).await, Err(Error::HttpRequestDenied)));
    assert!(plugin.refusal().contains("authorization"), "{}", plugin.refusal());
    plugin.get(&url).await.expect("the secret is cached");
}

#[tokio::test]
async fn a_missing_secret_refuses_the_request() {
    let server = Recorder::start(answer("", b""), true).await;
    let mut granted = binding("127.0.0.1", server.port);
    let slot = SecretSlot::Basic { user: "me".to_owned() };
    let from = SecretSource::Env("PORTCULLIS_NO_SUCH_VARIABLE".to_owned());
    granted.secret = Some(SecretBinding { host: HostPattern::new("127.0.0.1").unwrap(), slot, from });
    let mut plugin = Plugin::new(&Network::new(&[]), granted, PathBuf::from("/"));
    let refused = plugin.send(request(&format!("http://127.0.0.1:{}/", server.port))).await;
    assert!(matches!(refused, Err(Error::HttpRequestDenied)));
    assert!(plugin.refusal().contains("environment variable is not set"), "{}", plugin.refusal());
    assert!(server.heads().is_empty());
}

#[tokio::test]
async fn size_limits_and_timeouts_are_enforced() {
    let long = Recorder::start(answer("", &vec![b'a'; 200_000]), true).await;
    let network = Network::new(&[]);
    let mut plugin = Plugin::new(&network, binding("127.0.0.1", long.port), PathBuf::new());
    let url = format!("http://127.0.0.1:{}/", long.port);
    assert!(matches!(plugin.get(&url).await, Err(Error::HttpResponseBodySize(Some(100_000)))));
    assert_eq!(plugin.traffic().exchanges[0].received_bytes, 100_000);
    let body = Full::new(Bytes::from(vec![b'a'; 1001])).map_err(Into::into).boxed_unsync();
    let upload = plugin.send(Request::post(&url).body(body).unwrap()).await;
    assert!(matches!(upload, Err(Error::HttpRequestBodySize(Some(1000)))));

    let silent = Recorder::start(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".to_vec(), false).await;
    let mut granted = binding("127.0.0.1", silent.port);
    granted.limits.time = Duration::from_millis(300);
    let mut plugin = Plugin::new(&network, granted, PathBuf::new());
    let url = format!("http://127.0.0.1:{}/", silent.port);
    assert!(matches!(plugin.get(&url).await, Err(Error::HttpResponseTimeout)));
    for time in [Duration::ZERO, Duration::from_nanos(u64::MAX), Duration::MAX] {
        let time = Some(time);
        let options = RequestOptions { connect_timeout: time, first_byte_timeout: time, between_bytes_timeout: time };
        let response = plugin.send_with(request(&url), Some(options)).await;
        let ended = match response {
            Ok(response) => response.into_body().collect().await.map(|_| ()),
            Err(error) => Err(error),
        };
        assert!(matches!(ended, Err(Error::HttpResponseTimeout | Error::ConnectionTimeout)), "{time:?} {ended:?}");
    }
}

#[tokio::test]
async fn dropping_the_body_closes_the_connection() {
    let mut server = Recorder::start(b"HTTP/1.1 200 OK\r\n\r\nevent".to_vec(), false).await;
    let mut plugin = Plugin::new(&Network::new(&[]), binding("127.0.0.1", server.port), PathBuf::new());
    let response = plugin.send(request(&format!("http://127.0.0.1:{}/", server.port))).await.unwrap();
    let mut body = response.into_body();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "event");
    drop(body);
    tokio::time::timeout(Duration::from_secs(2), server.closed.take().unwrap()).await.unwrap().unwrap();
}

#[tokio::test]
async fn all_clones_of_a_client_share_its_request_limits() {
    let server = Recorder::start(answer("", b""), true).await;
    let url = format!("http://127.0.0.1:{}/", server.port);
    let mut granted = binding("127.0.0.1", server.port);
    granted.limits.requests = 2;
    granted.limits.requests_per_minute = 3;
    let network = Network::new(&[]);
    let client = Client::new(&network, Arc::new(granted), PathBuf::new()).unwrap();
    let mut first = Plugin::of(client.clone());
    for _ in 0..2 {
        first.get(&url).await.unwrap();
    }
    assert!(matches!(first.get(&url).await, Err(Error::HttpRequestDenied)));
    assert!(first.refusal().contains("2 requests"), "{}", first.refusal());
    let mut second = Plugin::of(client);
    second.get(&url).await.unwrap();
    assert!(matches!(second.get(&url).await, Err(Error::HttpRequestDenied)));
    assert!(second.refusal().contains("a minute"), "{}", second.refusal());
    assert_eq!(server.heads().len(), 3);
}

#[tokio::test]
async fn a_narrowed_client_reaches_one_origin_path_and_query() {
    let server = Recorder::start(answer("", b""), true).await;
    let origin = format!("http://127.0.0.1:{}", server.port);
    let network = Network::new(&[]);
    let client = Client::new(&network, Arc::new(binding("127.0.0.1", server.port)), PathBuf::new()).unwrap();
    let only = portcullis_policy::Destination::from_url(&format!("{origin}/a?b=1")).unwrap();
    let mut plugin = Plugin::of(client.narrowed(only));
    for path in ["/", "/a", "/a?b=2", "/a?b=1&c", "/a/b?b=1", "/b?b=1"] {
        assert!(matches!(plugin.get(&format!("{origin}{path}")).await, Err(Error::HttpRequestDenied)), "{path}");
    }
    plugin.get(&format!("{origin}/a?b=1")).await.unwrap();
    assert_eq!(server.heads().len(), 1);
    let elsewhere = portcullis_policy::Destination::from_url(&format!("http://127.0.0.2:{}/", server.port)).unwrap();
    let mut plugin = Plugin::of(client.narrowed(elsewhere));
    let unnamed = plugin.get(&format!("http://127.0.0.2:{}/", server.port)).await;
    assert!(matches!(unnamed, Err(Error::HttpRequestDenied)), "the binding does not say `unnamed = \"ask\"`");
}
