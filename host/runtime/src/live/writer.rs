//! Writes to one reader, which may be slow. A reader that does not read in time loses its subscription.

use super::line::LiveLine;
use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::OwnedWriteHalf;
use tokio::time::timeout;

/// How long a reader may leave its socket full. A terminal that is drawn takes a few milliseconds.
pub(super) const WRITE_TIME_MAX: Duration = Duration::from_secs(2);

/// How long the host then tries to say that changes were lost.
const NOTICE_TIME_MAX: Duration = Duration::from_secs(10);

/// Why a reader is served no longer.
pub(super) enum FeedEnd {
    /// It has closed its end.
    Closed,
    /// It does not read.
    Slow,
}

/// The end of the connection that lines are written to.
pub(super) struct FeedWriter {
    stream: OwnedWriteHalf,
    buffer: Vec<u8>,
    /// How much of the buffer was written.
    written: usize,
}

impl FeedWriter {
    pub(super) fn new(stream: OwnedWriteHalf) -> Self {
        Self { stream, buffer: Vec::new(), written: 0 }
    }

    /// Adds a line to the next flush.
    pub(super) fn add(&mut self, line: &LiveLine) {
        line.append(&mut self.buffer);
    }

    /// Returns how many bytes wait for the next flush.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.buffer.len() - self.written
    }

    /// Writes all lines.
    pub(super) async fn flush(&mut self) -> Result<(), FeedEnd> {
        match timeout(WRITE_TIME_MAX, self.write_all()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(FeedEnd::Closed),
            Err(_) => Err(FeedEnd::Slow),
        }
    }

    /// Ends the feed of a slow reader: finishes the line that was begun, and says that others were lost.
    pub(super) async fn lag(mut self) {
        let end = self.buffer[self.written..].iter().position(|byte| *byte == b'\n').map(|at| self.written + at + 1);
        // Without the beginning of a line, the next line can follow at once.
        let begun = self.written > 0 && self.buffer[self.written - 1] != b'\n';
        self.buffer.truncate(end.filter(|_| begun).unwrap_or(self.written));
        self.add(&LiveLine::Lagged);
        // An error is ignored, because the reader may never read again.
        let _ = timeout(NOTICE_TIME_MAX, self.write_all()).await;
    }

    /// Writes the rest of the buffer. Dropping the future loses nothing.
    async fn write_all(&mut self) -> io::Result<()> {
        while self.written < self.buffer.len() {
            self.written += match self.stream.write(&self.buffer[self.written..]).await? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => count,
            };
        }
        self.buffer.clear();
        self.written = 0;
        Ok(())
    }
}
