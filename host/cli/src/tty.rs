//! Reads answers from the controlling terminal, one line at a time. Discards what was typed before the prompt.

use crate::environment;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

/// Maximum length of an answer in bytes, which is the longest line that a terminal delivers.
const ANSWER_BYTES_MAX: usize = 4096;

/// How often to poll for an answer. Short enough to seem immediate, and long enough to cost almost no CPU time.
const LOOK: Duration = Duration::from_millis(40);

/// The controlling terminal, open for reading.
pub(crate) struct Tty(File);

impl Tty {
    /// Opens the terminal with a new file description, so that its non-blocking mode does not affect other programs.
    ///
    /// # Errors
    /// There is no controlling terminal.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self(environment::open_terminal()?))
    }

    /// Discards what was typed so far, because it cannot be an answer to a prompt that was not shown yet.
    ///
    /// # Errors
    /// The terminal was closed.
    pub(crate) fn forget_typed(&self) -> io::Result<()> {
        Ok(rustix::termios::tcflush(&self.0, rustix::termios::QueueSelector::IFlush)?)
    }

    /// Waits for a line; `None` is the end of input. It polls and blocks no thread, so that a request that is not
    /// answered in time can be dropped.
    ///
    /// # Errors
    /// The terminal was closed.
    pub(crate) async fn line(&self) -> io::Result<Option<String>> {
        let mut bytes = [0; ANSWER_BYTES_MAX];
        loop {
            match (&self.0).read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(read) => return Ok(Some(String::from_utf8_lossy(&bytes[..read]).into_owned())),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    tokio::time::sleep(LOOK).await;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
