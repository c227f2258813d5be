//! The text answer that a guest writes while it runs. It is passed on in pieces, and never held as a whole.

mod characters;
mod shared_text;
mod stream;

use crate::context::{CallHost, OutputFull};
use crate::http::NetworkCall;
use portcullis_definitions::manifest::{Output, Success};
use portcullis_policy::Limits;
use shared_text::{SharedText, Taker};
use std::sync::Arc;
use stream::OutputTextStream;
use wasmtime_wasi::p2::DynOutputStream;

/// The answer of one run, as far as the guest writes it while it runs.
pub(crate) struct OutputContext {
    /// The receiver of the text, or `None` if the run has no text answer.
    taker: Option<Taker>,
    text: Option<SharedText>,
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
    pub(crate) fn open_text(&mut self, call: impl FnOnce() -> Arc<NetworkCall>) -> Option<DynOutputStream> {
        let taker = self.taker.as_ref()?;
        let text = self.text.get_or_insert_with(|| SharedText::new(taker, call()));
        Some(Box::new(OutputTextStream::new(text.clone())))
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
