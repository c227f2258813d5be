//! HTTP/2: a correct server, and malicious frames.

use super::locked;
use super::seen::Seen;
use super::wire::Wire;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::fmt::Write;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncWrite};

/// The connection preface.
const PREFACE: usize = 24;

/// The length of a frame's header.
const HEAD: usize = 9;

/// Serves HTTP/2. Each request is recorded in the form of HTTP/1.
pub(super) async fn serve<S, A>(stream: S, answer: Arc<A>, seen: Arc<Mutex<Seen>>) -> io::Result<()>
where
    A: Fn(&[u8]) -> Vec<u8> + Send + Sync + ?Sized + 'static,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| {
        let (answer, seen) = (Arc::clone(&answer), Arc::clone(&seen));
        async move {
            let request = written_down(request).await;
            let answer = response(&answer(&request));
            locked(&seen).requests.push(request);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    connection.serve_connection(TokioIo::new(stream), service).await.map_err(io::Error::other)
}

async fn written_down(request: Request<Incoming>) -> Vec<u8> {
    let (head, body) = request.into_parts();
    let mut text = format!("{} {} {:?}\r\n", head.method, head.uri, head.version);
    for (name, value) in &head.headers {
        let _ = write!(text, "{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes()));
    }
    text.push_str("\r\n");
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    [text.as_bytes(), &body].concat()
}

/// Converts an HTTP/1 response to one that hyper can send.
fn response(answer: &[u8]) -> Response<Full<Bytes>> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let mut lines = head.lines();
    let status: u16 = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let mut response = Response::builder().status(status);
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        response = response.header(name, value);
    }
    response.body(Full::new(Bytes::copy_from_slice(&answer[end + 4..]))).unwrap()
}

/// Reads a connection up to its first request, then sends `first`, and `again` endlessly.
pub(super) async fn talk<S: AsyncRead + AsyncWrite + Unpin>(
    mut wire: Wire<S>,
    first: &[u8],
    again: &[u8],
) -> io::Result<()> {
    wire.take(PREFACE).await?;
    wire.say(&frame(FrameKind::Settings, 0, 0, &[])).await?;
    loop {
        let head = wire.take(HEAD).await?;
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        wire.take(length).await?;
        if head[3] == FrameKind::Headers as u8 {
            break;
        }
    }
    wire.say(&frame(FrameKind::Settings, 1, 0, &[])).await?;
    wire.say(first).await?;
    loop {
        wire.say(again).await?;
        tokio::task::yield_now().await;
    }
}

/// The type of a frame.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub enum FrameKind {
    /// DATA.
    Data = 0,
    /// HEADERS.
    Headers = 1,
    /// RST_STREAM.
    Reset = 3,
    /// SETTINGS.
    Settings = 4,
    /// PUSH_PROMISE.
    Promise = 5,
    /// PING.
    Ping = 6,
    /// CONTINUATION.
    Continuation = 9,
}

/// Builds a frame.
pub fn frame(kind: FrameKind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind as u8, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Builds the headers of a normal response on the first stream, without the body.
pub fn opening() -> Vec<u8> {
    // 0x88 is `:status: 200` in the static table.
    frame(FrameKind::Headers, 0x4, 1, &[0x88])
}
