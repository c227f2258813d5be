//! The text of an answer: redacted, cut at character boundaries, and limited in size.

use super::characters::Characters;
use crate::context::{CallHost, OUTPUT_PIECE_BYTES_MAX, OutputFull};
use crate::http::{NetworkCall, OutgoingRedactor};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(super) struct Taker {
    pub(super) host: Arc<dyn CallHost>,
    pub(super) bytes_max: usize,
}

/// The text of an answer, shared by all streams that append to it.
#[derive(Clone)]
pub(super) struct SharedText(Arc<Mutex<OutputText>>);

pub(super) struct OutputText {
    redactor: OutgoingRedactor,
    characters: Characters,
    host: Arc<dyn CallHost>,
    pub(super) handed_on: u64,
    left: usize,
    pub(super) is_begun: bool,
    is_full: bool,
}

impl SharedText {
    pub(super) fn new(taker: &Taker, call: Arc<NetworkCall>) -> Self {
        Self(Arc::new(Mutex::new(OutputText {
            redactor: OutgoingRedactor::new(call),
            characters: Characters::default(),
            host: Arc::clone(&taker.host),
            handed_on: 0,
            left: taker.bytes_max,
            is_begun: false,
            is_full: false,
        })))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, OutputText> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn host(&self) -> Arc<dyn CallHost> {
        Arc::clone(&self.lock().host)
    }

    /// Appends text of any length.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), OutputFull> {
        bytes.chunks(OUTPUT_PIECE_BYTES_MAX).try_for_each(|piece| self.lock().push(piece))
    }
}

impl OutputText {
    fn push(&mut self, bytes: &[u8]) -> Result<(), OutputFull> {
        self.is_begun = true;
        let certain = self.redactor.push(bytes);
        let text = self.characters.push(&certain);
        self.hand_on(&text)
    }

    pub(super) fn finish(&mut self) -> Result<(), OutputFull> {
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
