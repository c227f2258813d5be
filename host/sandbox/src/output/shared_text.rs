//! The text of an answer: redacted, cut at character boundaries, and limited in size.

use super::characters::Characters;
use crate::context::{CallHost, OUTPUT_PIECE_BYTES_MAX, OutputFull};
use crate::http::{NetworkCall, OutgoingRedactor};
use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex, MutexGuard};

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

    /// Locks the text. After a panic while it was locked, the redactor may have lost what it held back, so that it
    /// would miss a secret. The text then takes nothing more.
    pub(super) fn lock(&self) -> MutexGuard<'_, OutputText> {
        let mut text = self.0.lock_recovered();
        text.is_full |= self.0.is_poisoned();
        text
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
            // An empty piece means that not even one character fits.
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::context::{Ask, Progress};
    use crate::effects::Effects;
    use crate::http::Traffic;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::Pin;

    /// A host that keeps the pieces.
    #[derive(Default)]
    pub(in crate::output) struct Pieces(Mutex<Vec<u8>>);

    impl CallHost for Pieces {
        fn report(&self, _: Progress) {}

        fn ask(&self, _: Ask) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
            Box::pin(std::future::ready(Err("not approved".to_owned())))
        }

        fn write_output(&self, bytes: &[u8]) -> Result<(), OutputFull> {
            self.0.lock_recovered().extend_from_slice(bytes);
            Ok(())
        }

        fn traffic(&self, _: Traffic) {}

        fn effects(&self, _: Effects) {}
    }

    #[test]
    fn a_text_takes_nothing_after_a_panic() {
        let pieces = Arc::new(Pieces::default());
        let taker = Taker { host: Arc::clone(&pieces) as Arc<dyn CallHost>, bytes_max: 100 };
        let text = SharedText::new(&taker, Arc::new(NetworkCall::new(None)));
        assert!(text.write(b"before").is_ok());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _text = text.lock();
            panic!("while the text is redacted");
        }));
        assert!(panicked.is_err() && text.write(b" and after").is_err() && text.lock().finish().is_err());
        assert_eq!(*pieces.0.lock_recovered(), b"before");
    }
}
