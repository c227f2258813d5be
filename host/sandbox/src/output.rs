//! The text answer that a guest writes while it runs: handed on piece by piece, never held whole.

mod characters;
mod shared_text;
mod stream;

use crate::context::{CallHost, OutputFull};
use crate::http::Call;
use crate::manifest::{Output, Success};
use portcullis_policy::Limits;
use shared_text::{SharedText, Taker};
use std::sync::Arc;
use stream::TextStream;
use wasmtime_wasi::p2::DynOutputStream;

/// The answer of one run, as far as the guest writes it itself.
pub(crate) struct OutputContext {
    /// Who takes it; nobody where there is no answer to write.
    taker: Option<Taker>,
    text: Option<SharedText>,
}

impl OutputContext {
    /// For a run whose answer is another: a description, a review or a preview.
    pub(crate) fn closed() -> Self {
        Self { taker: None, text: None }
    }

    /// For a call of a tool.
    pub(crate) fn new(limits: &Limits, host: Arc<dyn CallHost>) -> Self {
        let taker = Taker { host, bytes_max: limits.kept_output_bytes };
        Self { taker: Some(taker), text: None }
    }

    /// A stream into the answer, without the secrets of `call`; each goes on where the text ends.
    pub(crate) fn open_text(&mut self, call: impl FnOnce() -> Arc<Call>) -> Option<DynOutputStream> {
        let taker = self.taker.as_ref()?;
        let text = self.text.get_or_insert_with(|| SharedText::new(taker, call()));
        Some(Box::new(TextStream::new(text.clone())))
    }

    /// Adds what the tool returned to what it had written, where it had: the two are one text, and a secret may lie
    /// across the seam.
    pub(crate) fn append(&mut self, success: Success) -> Result<Success, OutputFull> {
        match (&self.text, success.output) {
            (Some(text), Output::Text(rest)) if text.lock().is_begun => {
                text.write(rest.as_bytes())?;
                Ok(Success { output: Output::Text(String::new()), ..success })
            }
            (_, output) => Ok(Success { output, ..success }),
        }
    }

    /// Hands on what was held back, since nothing more comes. Returns how many bytes were handed on in all, and whether
    /// there was room for them.
    pub(crate) fn finish(&mut self) -> (u64, Result<(), OutputFull>) {
        let Some(text) = self.text.take() else { return (0, Ok(())) };
        let mut text = text.lock();
        let finished = text.finish();
        (text.handed_on, finished)
    }
}

impl Drop for OutputContext {
    /// A run that was dropped in its middle: what it had written until then is handed on.
    fn drop(&mut self) {
        // There is nobody left to be told that it was too much.
        let _ = self.finish();
    }
}
