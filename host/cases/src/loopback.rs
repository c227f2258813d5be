//! An HTTP server on the loopback address. It gives the responses of a case and records the requests.

use super::case::ServerAnswer;
use portcullis::policy::recovery::RecoverMutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Maximum length of a line of a request, in bytes. The host does not send longer ones.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Maximum number of header lines.
const LINES_MAX: usize = 256;

/// Maximum length of a request body in bytes, which is the most that a policy can grant.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The timeout of a request. The host sends it at once.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(30);

/// A running server.
pub(super) struct Loopback {
    pub(super) address: SocketAddr,
    exchange: Arc<Mutex<ServerExchange>>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct ServerExchange {
    answers: Vec<ServerAnswer>,
    requests: Vec<Arc<ServerRequest>>,
}

/// A parsed request.
#[derive(Debug)]
pub(super) struct ServerRequest {
    pub(super) method: String,
    pub(super) target: String,
    /// The headers by lower-case name. The values of a repeated header are joined with commas, as HTTP permits.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

impl Loopback {
    /// Starts a server at a free port.
    ///
    /// # Errors
    /// The system has no free port.
    pub(super) async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, exchange) = (listener.local_addr()?, Arc::<Mutex<ServerExchange>>::default());
        let task = tokio::spawn(accept(listener, Arc::clone(&exchange)));
        Ok(Self { address, exchange, task })
    }

    /// Sets the responses and forgets the recorded requests.
    pub(super) fn answer(&self, answers: &[ServerAnswer]) {
        *self.exchange.lock_recovered() = ServerExchange { answers: answers.to_vec(), requests: Vec::new() };
    }

    /// Returns the requests since then, in order.
    pub(super) fn requests(&self) -> Vec<Arc<ServerRequest>> {
        self.exchange.lock_recovered().requests.clone()
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, exchange: Arc<Mutex<ServerExchange>>) {
    // An error of the listener cannot be reported from here. The case fails because requests are missing.
    while let Ok((stream, _)) = listener.accept().await {
        let exchange = Arc::clone(&exchange);
        tokio::spawn(async move {
            // A client that disconnects early is not an error.
            let _ = timeout(REQUEST_TIME_MAX, converse(stream, &exchange)).await;
        });
    }
}

/// Handles one request. A connection has only one.
async fn converse(mut stream: TcpStream, exchange: &Mutex<ServerExchange>) -> io::Result<()> {
    let Some(asked) = read(&mut BufReader::new(&mut stream)).await?.map(Arc::new) else { return Ok(()) };
    let answer = {
        let mut exchange = exchange.lock_recovered();
        // Record the request before the response: the call may end, and the case be checked, as soon as it has that.
        exchange.requests.push(Arc::clone(&asked));
        exchange.answers.iter().find(|answer| fits(answer, &asked)).cloned()
    };
    stream.write_all(&written(answer.as_ref(), asked.method == "HEAD")).await?;
    stream.shutdown().await
}

/// Reads a request. Returns `None` if its first line is invalid.
async fn read<R: AsyncBufReadExt + Unpin>(reader: &mut R) -> io::Result<Option<ServerRequest>> {
    let first = line(reader).await?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let (method, target) = (method.to_owned(), target.to_owned());
    let mut headers = BTreeMap::<String, String>::new();
    for _ in 0..LINES_MAX {
        let line = line(reader).await?;
        let Some((name, value)) = line.split_once(':') else { break };
        let joined = |before: &String| format!("{before}, {}", value.trim());
        let name = name.to_ascii_lowercase();
        let value = headers.get(&name).map_or_else(|| value.trim().to_owned(), joined);
        headers.insert(name, value);
    }
    let chunked = headers.get("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
    // A request without a length has no body (RFC 9112, section 6.3).
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = Vec::new();
    if chunked {
        loop {
            let length = line(reader).await?;
            let length = length.split(';').next().and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
            let Some(length) = length.filter(|length| *length > 0) else { break };
            take(reader, length, &mut body).await?;
            line(reader).await?;
        }
    } else {
        take(reader, length, &mut body).await?;
    }
    Ok(Some(ServerRequest { method, target, headers, body }))
}

/// Appends `length` bytes to the body.
async fn take<R: AsyncBufReadExt + Unpin>(reader: &mut R, length: u64, body: &mut Vec<u8>) -> io::Result<()> {
    if length > BODY_BYTES_MAX.saturating_sub(body.len() as u64) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let read = reader.take(length).read_to_end(body).await?;
    if read as u64 == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Reads a line without its line break.
async fn line<R: AsyncBufReadExt + Unpin>(reader: &mut R) -> io::Result<String> {
    let mut line = Vec::new();
    reader.take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

fn fits(answer: &ServerAnswer, asked: &ServerRequest) -> bool {
    let header = |(name, value): (&String, &String)| asked.headers.get(&name.to_ascii_lowercase()) == Some(value);
    answer.method == asked.method
        && answer.path == asked.target
        && answer.request_headers.iter().all(header)
        && answer.request_body.as_ref().is_none_or(|body| body.as_bytes() == asked.body)
}

/// Formats a response, or 404 if there is none.
fn written(answer: Option<&ServerAnswer>, head_only: bool) -> Vec<u8> {
    // The space after the status is required even without a reason (RFC 9112, section 4).
    let mut text = format!("HTTP/1.1 {} \r\nconnection: close\r\n", answer.map_or(404, |answer| answer.status));
    let mut body = String::new();
    if let Some(answer) = answer {
        let typed = answer.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
        for (name, value) in &answer.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        body = match &answer.body {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(json) => json.to_string(),
        };
        if !typed && !matches!(answer.body, None | Some(Value::String(_))) {
            text.push_str("content-type: application/json\r\n");
        }
    }
    text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    if !head_only {
        text.push_str(&body);
    }
    text.into_bytes()
}
