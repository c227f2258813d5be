//! Reading answers from the controlling terminal: one line at a time, nothing that was typed before the question.

use crate::environment;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

/// The longest answer that is looked at, in bytes: the longest line a terminal hands over.
const ANSWER_BYTES_MAX: usize = 4096;

/// How often an answer is looked for: at once to a person, and next to nothing to the processor.
const LOOK: Duration = Duration::from_millis(40);

/// The controlling terminal, open for reading.
pub(crate) struct Tty(File);

impl Tty {
    /// Opens it. It is opened anew, so that not waiting on it changes nothing for the programs that share it.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self(environment::open_terminal()?))
    }

    /// Forgets what was typed so far: nobody answers a question before it is asked.
    ///
    /// # Errors
    /// The terminal has gone.
    pub(crate) fn forget_typed(&self) -> io::Result<()> {
        Ok(rustix::termios::tcflush(&self.0, rustix::termios::QueueSelector::IFlush)?)
    }

    /// Waits for a line; `None` is the end of input. No thread waits in the terminal, so that a question that nobody
    /// answers in time can be dropped.
    ///
    /// # Errors
    /// The terminal has gone.
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
