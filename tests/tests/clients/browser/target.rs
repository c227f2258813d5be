//! A server without checks that records its requests. It shows what the pages of these tests can do.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Maximum length of a request's head, in bytes. A browser's head has about one kilobyte.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Lets every page send everything and read the response.
const OPEN: [&str; 3] = [
    "Access-Control-Allow-Origin: *",
    "Access-Control-Allow-Headers: *, authorization",
    "Access-Control-Allow-Methods: *",
];

/// The line and the headers of a request.
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    /// The request line and every header, without line ends.
    pub(super) lines: Vec<String>,
}

impl Head {
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
            assert!(head.len() <= HEAD_BYTES_MAX, "a browser sends no such head");
        }
        let head = String::from_utf8_lossy(&head);
        let lines: Vec<String> = head.trim_end().split("\r\n").map(str::to_owned).collect();
        let mut words = lines[0].split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        Ok(Self { method, path, lines })
    }

    /// Returns the value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&String| line.split_once(':').is_some_and(|(header, _)| header.eq_ignore_ascii_case(name));
        let line = self.lines.iter().skip(1).find(named)?;
        Some(line.split_once(':')?.1.trim())
    }

    /// Reads the body.
    pub(super) fn body(&self, stream: &mut TcpStream) -> io::Result<String> {
        let length = self.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }
}

/// Sends a response with a body, and closes.
pub(super) fn answer(stream: &mut TcpStream, kind: &str, body: &str, headers: &[&str]) -> io::Result<()> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{headers}Connection: close\r\n\r\n{body}"
    )
}

/// The server.
pub(super) struct Gullible {
    port: u16,
    arrived: Arc<Mutex<BTreeSet<String>>>,
}

impl Gullible {
    pub(super) fn listen() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let arrived = Arc::<Mutex<BTreeSet<String>>>::default();
        let seen = Arc::clone(&arrived);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let seen = Arc::clone(&seen);
                // The browser may open and drop a connection, which is not an error.
                thread::spawn(move || _ = attend(stream, &seen));
            }
        });
        Self { port, arrived }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Returns the kinds of the received requests: the method, and the fetch metadata for destination and mode.
    pub(super) fn arrived(&self) -> BTreeSet<String> {
        self.arrived.lock().unwrap().clone()
    }
}

fn attend(mut stream: TcpStream, arrived: &Mutex<BTreeSet<String>>) -> io::Result<()> {
    let head = Head::read(&mut stream)?;
    let said = |name| head.header(name).unwrap_or("-");
    let destination = said("sec-fetch-dest");
    let kind = match head.header("upgrade") {
        Some(protocol) => format!("{} {protocol}", head.method),
        None => format!("{} {destination} {}", head.method, said("sec-fetch-mode")),
    };
    arrived.lock().unwrap().insert(kind);
    head.body(&mut stream)?;
    let (kind, body) = match (destination, said("accept")) {
        ("image", _) => ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>"),
        ("script", _) => ("text/javascript", "1;"),
        (_, "text/event-stream") => ("text/event-stream", "data: 1\n\n"),
        _ => ("application/json", "{}"),
    };
    answer(&mut stream, kind, body, &OPEN)
}
