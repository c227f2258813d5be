//! An HTTP client for servers on the loopback address.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use portcullis_upstream::{
    ConnectError, ExchangeError, ExchangeFuture, HttpBody, HttpExchange, RefuseRequests, ServerClient, ServerEra,
    ServerLimits, ServerRequests, connect_over_http,
};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;

/// A client without checks. It records what it sends.
#[derive(Default)]
pub(crate) struct LoopbackExchange {
    /// The method of each request, and its headers.
    pub(crate) sent: Mutex<Vec<(http::Method, http::HeaderMap)>>,
}

impl LoopbackExchange {
    async fn send(&self, request: http::Request<Bytes>) -> Result<http::Response<HttpBody>, ExchangeError> {
        self.sent.lock().unwrap().push((request.method().clone(), request.headers().clone()));
        let (mut parts, body) = request.into_parts();
        let address = parts.uri.authority().expect("the address has a host").to_string();
        parts.headers.insert("host", address.parse().expect("a host is a header"));
        parts.uri = parts.uri.path().parse().expect("a path is an address");
        let stream = connect(&address).await.map_err(ExchangeError::new)?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(ExchangeError::new)?;
        tokio::spawn(connection);
        let request = http::Request::from_parts(parts, Full::new(body));
        let response = sender.send_request(request).await.map_err(ExchangeError::new)?;
        Ok(response.map(|body| Box::pin(BodyParts(body)) as HttpBody))
    }
}

impl HttpExchange for LoopbackExchange {
    fn exchange(&self, request: http::Request<Bytes>) -> ExchangeFuture<'_> {
        Box::pin(self.send(request))
    }
}

/// The parts of a body.
struct BodyParts(Incoming);

impl futures_core::Stream for BodyParts {
    type Item = Result<Bytes, ExchangeError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut frame = self.0.frame();
        match Pin::new(&mut frame).poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| match frame {
                Ok(frame) => Ok(frame.into_data().unwrap_or_default()),
                Err(error) => Err(ExchangeError::new(error)),
            })),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test reaches the server that it started")]
async fn connect(address: &str) -> std::io::Result<TcpStream> {
    TcpStream::connect(address).await
}

/// Returns a port that is free now.
pub(crate) async fn free_port() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("the loopback address has ports");
    listener.local_addr().expect("it is bound").port()
}

/// Waits until a server listens.
pub(crate) async fn wait_for(port: u16) {
    let listens = async {
        while connect(&format!("127.0.0.1:{port}")).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), listens).await.expect("the server listens");
}

/// Connects to the server at a port.
pub(crate) async fn connect_to(
    port: u16,
    limits: ServerLimits,
    era: ServerEra,
) -> Result<(ServerClient, Arc<LoopbackExchange>), ConnectError> {
    connect_for(port, limits, era, Arc::new(RefuseRequests::default())).await
}

/// Connects to the server at a port, with something that replies to it.
pub(crate) async fn connect_for(
    port: u16,
    limits: ServerLimits,
    era: ServerEra,
    requests: Arc<dyn ServerRequests>,
) -> Result<(ServerClient, Arc<LoopbackExchange>), ConnectError> {
    let exchange = Arc::new(LoopbackExchange::default());
    let address = format!("http://127.0.0.1:{port}/mcp");
    let client =
        connect_over_http(Arc::clone(&exchange) as Arc<dyn HttpExchange>, &address, limits, requests, era).await?;
    Ok((client, exchange))
}
