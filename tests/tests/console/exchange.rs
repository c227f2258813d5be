//! One HTTP exchange, byte by byte.

use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Timeout of every wait. It only makes a test fail; nothing else depends on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct PageRequest {
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// A response.
#[derive(Clone, Debug)]
pub(crate) struct PageResponse {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl PageRequest {
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
    pub(crate) fn body(self, body: &str) -> Self {
        Self { body: body.to_owned(), ..self.having("Content-Length", &body.len().to_string()) }
    }

    fn bytes(&self) -> Vec<u8> {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{}\r\n{headers}\r\n{}", self.line, self.body).into_bytes()
    }

    /// Sends the request over its own connection, and reads the whole response.
    pub(crate) async fn send(&self, address: SocketAddr) -> PageResponse {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&self.clone().having("Connection", "close").bytes()).await.unwrap();
        let mut bytes = Vec::new();
        // A server that rejects a request may close the connection while the rest of the body is in flight.
        let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap();
        PageResponse::parse(&bytes)
    }

    /// Sends the request, and returns the connection for its stream.
    pub(crate) async fn open(&self, address: SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(&self.bytes()).await.unwrap();
        stream
    }
}

impl PageResponse {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no response: {text:?}"));
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap();
        let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { status, headers: lines.filter_map(header).collect(), body: body.to_owned() }
    }

    /// Returns the value of a header that occurs at most once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let value = values.next().map(|(_, value)| value.as_str());
        assert!(values.next().is_none(), "header {name} occurs twice: {self:?}");
        value
    }

    /// Asserts the status.
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    /// Returns the values of a form's fields with this name, decoded.
    pub(crate) fn fields(&self, name: &str) -> Vec<String> {
        let marker = format!("name=\"{name}\" value=\"");
        let values = self.body.split(&marker).skip(1);
        values.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    }

    /// Returns the value of a form's field.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> String {
        let fields = self.fields(name);
        fields.into_iter().next().unwrap_or_else(|| panic!("no field {name}: {}", self.body))
    }
}
