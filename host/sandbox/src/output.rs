//! The text answer that a guest writes while it runs. It is passed on in pieces, and never held as a whole.

mod characters;
mod stream;

use crate::context::{CallHost, OUTPUT_PIECE_BYTES_MAX, OutputFull};
use crate::http::{Call, OutgoingRedactor};
use crate::manifest::{Output, Success};
use characters::Characters;
use portcullis_policy::Limits;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stream::TextStream;
use wasmtime_wasi::p2::DynOutputStream;

/// The answer of one run, as far as the guest writes it while it runs.
pub(crate) struct OutputContext {
    /// The receiver of the text, or `None` if the run has no text answer.
    taker: Option<Taker>,
    text: Option<SharedText>,
}

struct Taker {
    host: Arc<dyn CallHost>,
    bytes_max: usize,
}

impl OutputContext {
    /// Returns a context for a run without a text answer: a description, a review or a preview.
    pub(crate) fn closed() -> Self {
        Self { taker: None, text: None }
    }

    /// Returns a context for a call of a tool.
    pub(crate) fn new(limits: &Limits, host: Arc<dyn CallHost>) -> Self {
        let taker = Taker { host, bytes_max: limits.kept_output_bytes };
        Self { taker: Some(taker), text: None }
    }

    /// Opens a stream that appends to the answer. It removes the secrets of `call`.
    pub(crate) fn open_text(&mut self, call: impl FnOnce() -> Arc<Call>) -> Option<DynOutputStream> {
        let taker = self.taker.as_ref()?;
        let text = self.text.get_or_insert_with(|| SharedText::new(taker, call()));
        Some(Box::new(TextStream::new(text.clone())))
    }

    /// Appends the text that the tool returned to the text that it wrote, if it wrote any. Both go through one
    /// redactor, because a secret may span them.
    pub(crate) fn append(&mut self, success: Success) -> Result<Success, OutputFull> {
        match (&self.text, success.output) {
            (Some(text), Output::Text(rest)) if text.lock().is_begun => {
                text.write(rest.as_bytes())?;
                Ok(Success { output: Output::Text(String::new()), ..success })
            }
            (_, output) => Ok(Success { output, ..success }),
        }
    }

    /// Passes on the held-back bytes at the end. Returns how many bytes were passed on in all, and whether there was
    /// room for them.
    pub(crate) fn finish(&mut self) -> (u64, Result<(), OutputFull>) {
        let Some(text) = self.text.take() else { return (0, Ok(())) };
        let mut text = text.lock();
        let finished = text.finish();
        (text.handed_on, finished)
    }
}

impl Drop for OutputContext {
    /// Passes on what the guest had written, if the run was dropped before its end.
    fn drop(&mut self) {
        // The run is over, so no one needs the error.
        let _ = self.finish();
    }
}

/// The text of an answer, shared by all streams that append to it.
#[derive(Clone)]
struct SharedText(Arc<Mutex<Text>>);

struct Text {
    redactor: OutgoingRedactor,
    characters: Characters,
    host: Arc<dyn CallHost>,
    handed_on: u64,
    left: usize,
    is_begun: bool,
    is_full: bool,
}

impl SharedText {
    fn new(taker: &Taker, call: Arc<Call>) -> Self {
        Self(Arc::new(Mutex::new(Text {
            redactor: OutgoingRedactor::new(call),
            characters: Characters::default(),
            host: Arc::clone(&taker.host),
            handed_on: 0,
            left: taker.bytes_max,
            is_begun: false,
            is_full: false,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Text> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends text of any length.
    fn write(&self, bytes: &[u8]) -> Result<(), OutputFull> {
        bytes.chunks(OUTPUT_PIECE_BYTES_MAX).try_for_each(|piece| self.lock().push(piece))
    }
}

impl Text {
    fn push(&mut self, bytes: &[u8]) -> Result<(), OutputFull> {
        self.is_begun = true;
        let certain = self.redactor.push(bytes);
        let text = self.characters.push(&certain);
        self.hand_on(&text)
    }

    fn finish(&mut self) -> Result<(), OutputFull> {
        let rest = self.redactor.finish();
        let mut text = self.characters.push(&rest).into_owned();
        text.push_str(self.characters.finish());
        self.hand_on(&text)
    }

    fn hand_on(&mut self, mut text: &str) -> Result<(), OutputFull> {
        while !self.is_full && !text.is_empty() {
            let room = self.left.min(OUTPUT_PIECE_BYTES_MAX);
            let (piece, rest) = text.split_at(text.floor_char_boundary(room));
            if piece.is_empty() || self.host.write_output(piece.as_bytes()).is_err() {
                self.is_full = true;
                break;
            }
            self.left -= piece.len();
            self.handed_on += piece.len() as u64;
            text = rest;
        }
        if self.is_full { Err(OutputFull) } else { Ok(()) }
    }
}
