//! A connection that records what it receives.

use super::locked;
use super::seen::Seen;
use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Maximum length of a request. No test has a larger body.
const REQUEST: usize = 64 << 20;

pub(super) struct Wire<S> {
    stream: S,
    seen: Arc<Mutex<Seen>>,
    index: usize,
    /// Received bytes that are not yet part of a request.
    buffer: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(super) fn new(stream: S, seen: Arc<Mutex<Seen>>, index: usize) -> Self {
        Self { stream, seen, index, buffer: Vec::new() }
    }

    /// Reads more bytes. Fails at the end of the stream.
    pub(super) async fn hear(&mut self) -> io::Result<()> {
        let mut piece = vec![0; 64 * 1024];
        let count = self.stream.read(&mut piece).await?;
        if count == 0 || self.buffer.len() > REQUEST {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        locked(&self.seen).heard[self.index].extend_from_slice(&piece[..count]);
        self.buffer.extend_from_slice(&piece[..count]);
        Ok(())
    }

    pub(super) async fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await?;
        locked(&self.seen).said += bytes.len() as u64;
        Ok(())
    }

    /// Reads an exact number of bytes.
    pub(super) async fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < count {
            self.hear().await?;
        }
        Ok(self.buffer.drain(..count).collect())
    }

    /// Reads one complete HTTP/1 request: its head, and a body with a length or in chunks.
    pub(super) async fn request(&mut self) -> io::Result<Vec<u8>> {
        let head = self.until(b"\r\n\r\n", 0).await?;
        let text = String::from_utf8_lossy(&self.buffer[..head]).to_ascii_lowercase();
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let end = match (value("content-length:"), value("transfer-encoding:")) {
            (_, Some("chunked")) => self.chunked(head).await?,
            (Some(length), _) => head + length.parse::<usize>().unwrap_or(0),
            _ => head,
        };
        let request = self.take(end).await?;
        locked(&self.seen).requests.push(request.clone());
        Ok(request)
    }

    /// Returns the end of a chunked body that begins at `start`.
    async fn chunked(&mut self, start: usize) -> io::Result<usize> {
        let mut at = start;
        loop {
            let line = self.until(b"\r\n", at).await?;
            let size = String::from_utf8_lossy(&self.buffer[at..line]).trim().to_owned();
            let size = usize::from_str_radix(size.split(';').next().unwrap_or("0"), 16).unwrap_or(0);
            at = line;
            if size == 0 {
                // Trailers, one per line, up to an empty line.
                loop {
                    let line = self.until(b"\r\n", at).await?;
                    if line == at + 2 {
                        return Ok(line);
                    }
                    at = line;
                }
            }
            at += size + 2;
        }
    }

    /// Returns the end of the first `mark` at or after `from`.
    async fn until(&mut self, mark: &[u8], from: usize) -> io::Result<usize> {
        loop {
            let rest = self.buffer.get(from..).unwrap_or_default();
            if let Some(at) = memchr::memmem::find(rest, mark) {
                return Ok(from + at + mark.len());
            }
            self.hear().await?;
        }
    }
}
