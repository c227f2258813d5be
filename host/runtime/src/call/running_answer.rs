//! The pieces of a text between the tool that writes them and the thread that stores them. So a tool that writes more
//! than fits in memory does not block a worker of the async runtime.

use super::answer::{AnswerText, Keeper};
use crate::stream::Pieces;
use portcullis_sandbox::{OUTPUT_PIECE_BYTES_MAX, OutputFull};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;

/// Size of the waiting pieces from which they are stored and the tool waits, in bytes. Storing each short line alone
/// would start a thread for each.
const STORED_BYTES_MIN: usize = OUTPUT_PIECE_BYTES_MAX;

/// Maximum size of the waiting pieces, in bytes. A tool that writes without waiting for the stream, and so has more,
/// blocks a worker.
const WAITING_BYTES_MAX: usize = 4 * OUTPUT_PIECE_BYTES_MAX;

/// The text that a running tool writes in pieces. Clones share it.
#[derive(Clone)]
pub(crate) struct RunningAnswer(Arc<SharedAnswer>);

struct SharedAnswer {
    /// Locked before the waiting pieces, so that pieces are stored in order.
    text: Mutex<AnswerText>,
    waiting: Mutex<WaitingPieces>,
    /// Notified when a thread has stored pieces.
    stored: Notify,
}

/// The pieces that are not part of the text yet.
#[derive(Default)]
struct WaitingPieces {
    pieces: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Whether a thread stores them.
    is_storing: bool,
    /// Whether any piece was stored. The first one is stored at once, because a listener hears the beginning of it.
    has_stored: bool,
    /// Whether a piece had to be kept and could not be.
    is_full: bool,
}

impl RunningAnswer {
    pub(super) fn new(keeper: Keeper, shown_max: usize, pieces: Option<Pieces>) -> Self {
        let text = Mutex::new(AnswerText::begin(keeper, shown_max, pieces));
        Self(Arc::new(SharedAnswer { text, waiting: Mutex::default(), stored: Notify::new() }))
    }

    /// Appends a piece. Fails if an earlier piece had to be kept and could not be. Only one caller may write at a time.
    pub(super) fn write(&self, piece: &[u8]) -> Result<(), OutputFull> {
        let none_waits = self.0.waiting().pieces.is_empty();
        // A thread that still stores the piece before holds this lock, so nothing is appended ahead of that piece.
        if none_waits
            && let Ok(mut text) = self.0.text.try_lock()
            && text.takes_in_memory(piece.len())
        {
            // A piece consists of whole characters (`CallHost::write_output`), so this replaces nothing.
            text.push(&String::from_utf8_lossy(piece));
            // Stop the tool: no one could read what it writes from here on.
            return if text.unkept().is_some() { Err(OutputFull) } else { Ok(()) };
        }
        let mut waiting = self.0.waiting();
        if waiting.is_full {
            return Err(OutputFull);
        }
        waiting.bytes += piece.len();
        waiting.pieces.push_back(piece.to_vec());
        if waiting.bytes > WAITING_BYTES_MAX {
            drop(waiting);
            self.0.store();
            return if self.0.waiting().is_full { Err(OutputFull) } else { Ok(()) };
        }
        if (waiting.bytes >= STORED_BYTES_MIN || !waiting.has_stored) && !waiting.is_storing {
            (waiting.is_storing, waiting.has_stored) = (true, true);
            drop(waiting);
            self.begin_storing();
        }
        Ok(())
    }

    fn begin_storing(&self) {
        let answer = Arc::clone(&self.0);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || answer.store())),
            // Outside of a runtime, no worker is blocked.
            Err(_) => answer.store(),
        }
    }

    /// Returns whether there is room for another piece.
    pub(super) fn has_room(&self) -> bool {
        let waiting = self.0.waiting();
        waiting.is_full || waiting.bytes < STORED_BYTES_MIN
    }

    /// Waits until there is room for another piece.
    pub(super) async fn room(&self) {
        loop {
            // Created before the check, so that a notification between the check and the wait is not lost.
            let stored = self.0.stored.notified();
            if self.has_room() {
                return;
            }
            stored.await;
        }
    }

    /// Stores the last pieces, takes the text, and disconnects the listener. Returns also whether all of the text that
    /// has to be kept could be.
    pub(super) async fn finish(&self) -> (AnswerText, Result<(), OutputFull>) {
        let answer = Arc::clone(&self.0);
        if !self.0.is_settled() {
            // If the thread panics, what it had stored is still there.
            let _ = spawn_blocking(move || answer.store()).await;
        }
        let kept = if self.0.waiting().is_full { Err(OutputFull) } else { Ok(()) };
        (self.0.text().take(), kept)
    }
}

impl SharedAnswer {
    fn text(&self) -> MutexGuard<'_, AnswerText> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiting(&self) -> MutexGuard<'_, WaitingPieces> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether every piece is part of the text.
    fn is_settled(&self) -> bool {
        let waiting = self.waiting();
        waiting.pieces.is_empty() && !waiting.is_storing
    }

    /// Appends the waiting pieces to the text. It blocks.
    fn store(&self) {
        let _fault = FullOnPanic(self);
        let mut text = self.text();
        while let Some(piece) = self.next() {
            text.push(&String::from_utf8_lossy(&piece));
            if text.unkept().is_some() {
                self.waiting().is_full = true;
            }
            self.stored.notify_waiters();
        }
    }

    /// Takes the next piece. Ends the storing if there is none.
    fn next(&self) -> Option<Vec<u8>> {
        let mut waiting = self.waiting();
        let piece = waiting.pieces.pop_front();
        match &piece {
            Some(piece) => waiting.bytes -= piece.len(),
            None => waiting.is_storing = false,
        }
        piece
    }
}

/// Stops the tool if the thread that stores its text panics.
struct FullOnPanic<'a>(&'a SharedAnswer);

impl Drop for FullOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut waiting = self.0.waiting();
            (waiting.is_full, waiting.is_storing) = (true, false);
            drop(waiting);
            self.0.stored.notify_waiters();
        }
    }
}
