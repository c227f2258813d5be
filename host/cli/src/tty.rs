//! Reads answers from the controlling terminal, one line or one key at a time. Discards what was typed before the
//! prompt.

use crate::environment;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::time::Duration;

/// Maximum length of an answer in bytes, which is the longest line that a terminal delivers.
const ANSWER_BYTES_MAX: usize = 4096;

/// How often to poll for an answer. Short enough to seem immediate, and long enough to cost almost no CPU time.
const LOOK: Duration = Duration::from_millis(40);

/// The key that ends the input.
const END_OF_INPUT: u8 = 4;

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

    /// Makes the terminal deliver each key at once, without showing it, until the guard is dropped. Ctrl-C still sends
    /// its signal. The keys that suspend or dump the program do nothing, because they would leave the terminal so.
    ///
    /// # Errors
    /// The terminal cannot do that.
    pub(crate) fn keys(&self) -> io::Result<KeyMode<'_>> {
        let before = tcgetattr(&self.0)?;
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        // A read returns as soon as there is one byte (termios(3)).
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        for code in [SpecialCodeIndex::VSUSP, SpecialCodeIndex::VQUIT] {
            // On Linux, 0 is `_POSIX_VDISABLE`: no key has this function.
            raw.special_codes[code] = 0;
        }
        tcsetattr(&self.0, OptionalActions::Flush, &raw)?;
        Ok(KeyMode { tty: self, before })
    }

    /// Waits for a line; `None` is the end of input. It polls and blocks no thread, so that a request that is not
    /// answered in time can be dropped.
    ///
    /// # Errors
    /// The terminal was closed.
    pub(crate) async fn line(&self) -> io::Result<Option<String>> {
        let mut bytes = [0; ANSWER_BYTES_MAX];
        let read = self.read(&mut bytes).await?;
        // What is not UTF-8 becomes a character that no answer has.
        Ok((read > 0).then(|| String::from_utf8_lossy(&bytes[..read]).into_owned()))
    }

    async fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match (&self.0).read(bytes) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    tokio::time::sleep(LOOK).await;
                }
                read => return read,
            }
        }
    }
}

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A visible character or a space.
    Character(char),
    /// The end of input: Ctrl-D, or the terminal was closed.
    End,
    /// Several characters at once, as from a paste, or a key that has no character. It is never an answer.
    Other,
}

/// The mode in which the terminal delivers keys. Dropping it restores the terminal and discards what was typed since.
pub(crate) struct KeyMode<'a> {
    tty: &'a Tty,
    before: Termios,
}

impl KeyMode<'_> {
    /// Waits for a key.
    ///
    /// # Errors
    /// The terminal was closed.
    pub(crate) async fn key(&self) -> io::Result<Key> {
        let mut bytes = [0; ANSWER_BYTES_MAX];
        let read = self.tty.read(&mut bytes).await?;
        Ok(match &bytes[..read] {
            // In this mode, Ctrl-D arrives as a byte like any other.
            [] | [END_OF_INPUT] => Key::End,
            [byte] if byte.is_ascii_graphic() || *byte == b' ' => Key::Character(char::from(*byte)),
            _ => Key::Other,
        })
    }
}

impl Drop for KeyMode<'_> {
    fn drop(&mut self) {
        // If the terminal was closed, there is nothing to restore.
        let _ = tcsetattr(&self.tty.0, OptionalActions::Flush, &self.before);
    }
}
