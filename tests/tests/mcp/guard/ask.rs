//! One HTTP request, written byte by byte, and its response.

use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Timeout of every wait. It only makes a test fail; nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An HTTP request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) line: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// An HTTP response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Ask {
    /// Builds a request that has only its first line.
    pub(crate) fn new(method: &str, target: &str) -> Self {
        Self { line: format!("{method} {target} HTTP/1.1"), headers: Vec::new(), body: String::new() }
    }

    /// Adds a header, even if one with its name exists.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Removes the headers with a name.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Replaces a header.
    pub(crate) fn having(self, name: &str, value: &str) -> Self {
        self.without(name).with(name, value)
    }

    /// Sets the body and its length.
    pub(crate) fn body(self, body: String) -> Self {
        let length = body.len().to_string();
        Self { body, ..self.having("Content-Length", &length) }
    }

    /// Removes the body, so that a test can send one by hand.
    pub(crate) fn body_less(self) -> Self {
        Self { body: String::new(), ..self }
    }

    /// Returns the request's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{}\r\n{headers}\r\n{}", self.line, self.body).into_bytes()
    }

    /// Sends the request over its own connection, and reads the whole response.
    pub(crate) async fn send(&self, address: SocketAddr) -> Answer {
        let ask = self.clone().having("Connection", "close");
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&ask.bytes()).await.unwrap();
        read_to_end(stream).await
    }

    /// Sends the request like [`Ask::send`], from a task of its own.
    pub(crate) async fn send_owned(self, address: SocketAddr) -> Answer {
        self.send(address).await
    }

    /// Sends the request, and leaves the connection open after the response's head.
    pub(crate) async fn open(&self, address: SocketAddr) -> (Answer, TcpStream) {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&self.bytes()).await.unwrap();
        let head = timeout(PATIENCE, async {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            head
        });
        (parse(&head.await.unwrap()), stream)
    }
}

/// Reads a response until the server closes the connection.
pub(crate) async fn read_to_end(mut stream: TcpStream) -> Answer {
    let mut bytes = Vec::new();
    // A server that rejects a request closes the connection while the rest of the body is still in flight.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap();
    parse(&bytes)
}

impl Answer {
    /// Returns the value of a header that occurs at most once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "header {name} occurs twice: {self:?}");
        value
    }

    /// Returns whether a header's name starts with `start`.
    pub(crate) fn has_header_like(&self, beginning: &str) -> bool {
        self.headers.iter().any(|(name, _)| name.to_ascii_lowercase().starts_with(beginning))
    }

    /// Returns the messages in the body, which is one document or a stream.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let events = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let events: Vec<Value> = events.filter_map(|data| serde_json::from_str(data).ok()).collect();
        if events.is_empty() { serde_json::from_str(&self.body).into_iter().collect() } else { events }
    }

    /// Returns the result or the error at the end of the response.
    #[track_caller]
    pub(crate) fn last(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("{self:?}"))
    }

    /// Returns the values of a page's form fields with this name.
    pub(crate) fn fields(&self, name: &str) -> Vec<String> {
        let marker = format!("name=\"{name}\" value=\"");
        let values = self.body.split(&marker).skip(1);
        values.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    }

    /// Returns the value of a page's form field.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> String {
        let fields = self.fields(name);
        fields.into_iter().next().unwrap_or_else(|| panic!("no field {name}: {}", self.body))
    }

    /// Asserts the status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

/// Parses the bytes of a response.
pub(crate) fn parse(bytes: &[u8]) -> Answer {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| panic!("no answer: {bytes:?}"));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap();
    let split = |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(split).collect();
    let chunked = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("transfer-encoding"));
    let body = &bytes[end + 4..];
    let body = if chunked { unchunk(body) } else { body.to_vec() };
    Answer { status, headers, body: String::from_utf8_lossy(&body).into_owned() }
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(line) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).unwrap().trim(), 16).unwrap_or(0);
        let chunk = rest.get(line + 2..line + 2 + length).unwrap_or_default();
        if chunk.is_empty() {
            break;
        }
        body.extend_from_slice(chunk);
        rest = rest.get(line + 4 + length..).unwrap_or_default();
    }
    body
}
