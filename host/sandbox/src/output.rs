//! The text answer that a guest writes while it runs. It is passed on in pieces, and never held as a whole.

mod characters;
mod shared_text;
mod stream;

use crate::context::{CallHost, OutputFull};
use crate::host_memory::{HostMemory, HostMemoryFull, MemoryCharge};
use crate::http::NetworkCall;
use portcullis_definitions::manifest::{Blob, Output, Part, Success};
use portcullis_policy::Limits;
use shared_text::{SharedText, Taker};
use std::sync::Arc;
use stream::OutputTextStream;
use wasmtime_wasi::p2::DynOutputStream;

/// Maximum files that a call keeps beside its answer. A person would not look at more.
const KEPT_FILES_MAX: usize = 8;

/// The answer of one run, as far as the guest writes it while it runs.
pub(crate) struct OutputContext {
    /// The receiver of the text, or `None` if the run has no text answer.
    taker: Option<Taker>,
    text: Option<SharedText>,
    kept: Vec<KeptFile>,
}

/// A file that the host keeps beside the answer.
struct KeptFile {
    file: Blob,
    /// Holds the file's bytes in the budget of the call.
    _charge: MemoryCharge,
}

impl OutputContext {
    /// Returns a context for a run without a text answer: a description, a review or a preview.
    pub(crate) fn closed() -> Self {
        Self { taker: None, text: None, kept: Vec::new() }
    }

    /// Returns a context for a call of a tool.
    pub(crate) fn new(limits: &Limits, host: Arc<dyn CallHost>) -> Self {
        let taker = Taker { host, bytes_max: limits.kept_output_bytes };
        Self { taker: Some(taker), text: None, kept: Vec::new() }
    }

    /// Opens a stream that appends to the answer. It removes the secrets of `call`. Returns none if the run has no text
    /// answer, or keeps a file beside its answer.
    pub(crate) fn open_text(&mut self, call: impl FnOnce() -> Arc<NetworkCall>) -> Option<DynOutputStream> {
        // As in `keep`: the host would refuse the written text only when the tool returns.
        if !self.kept.is_empty() {
            return None;
        }
        let taker = self.taker.as_ref()?;
        let text = self.text.get_or_insert_with(|| SharedText::new(taker, call()));
        Some(Box::new(OutputTextStream::new(text.clone())))
    }

    /// Appends the text that the tool returned to the text that it wrote, if it wrote any. Both go through one
    /// redactor, because a secret may span them.
    pub(crate) fn append(&mut self, success: Success) -> Result<Success, OutputFull> {
        let output = match (&self.text, success.output) {
            (Some(text), Output::Text(rest)) if text.lock().is_begun => {
                text.write(rest.as_bytes())?;
                Output::Text(String::new())
            }
            (_, output) => output,
        };
        Ok(Success { output: self.beside(output), ..success })
    }

    /// Keeps a file beside the answer. The inner error is for the model. The outer one ends the guest.
    pub(crate) fn keep(&mut self, file: Blob, memory: &HostMemory) -> Result<Result<(), String>, HostMemoryFull> {
        if self.taker.is_none() {
            return Ok(Err("there is no answer to keep a file beside".to_owned()));
        }
        // An answer that is written is one text, which has no parts to put a file beside.
        if self.text.is_some() {
            return Ok(Err("a tool that writes its answer cannot keep files".to_owned()));
        }
        // The rest of the media type is checked with the answer.
        if !file.media_type.contains('/') {
            return Ok(Err("the file has no media type, such as text/plain".to_owned()));
        }
        if self.kept.len() == KEPT_FILES_MAX {
            return Ok(Err(format!("a call can keep at most {KEPT_FILES_MAX} files")));
        }
        let name_bytes = file.name.as_ref().map_or(0, String::len);
        let charge = memory.charge(file.data.len() + file.media_type.len() + name_bytes)?;
        self.kept.push(KeptFile { file: Blob { is_kept: true, ..file }, _charge: charge });
        Ok(Ok(()))
    }

    /// Adds the kept files to an output.
    fn beside(&mut self, output: Output) -> Output {
        if self.kept.is_empty() {
            return output;
        }
        let mut parts = match output {
            Output::Text(text) | Output::Json(text) => vec![Part::Text(text)],
            Output::Parts(parts) => parts,
        };
        parts.extend(self.kept.drain(..).map(|kept| Part::File(kept.file)));
        Output::Parts(parts)
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

#[cfg(test)]
mod tests {
    use super::shared_text::tests::Pieces;
    use super::*;

    #[test]
    fn a_tool_either_writes_its_answer_or_keeps_files_beside_it() {
        let limits = Limits::default();
        let memory = HostMemory::new(&limits);
        let file = || Blob { name: None, media_type: "text/plain".to_owned(), data: b"x".to_vec(), is_kept: false };
        let output = || OutputContext::new(&limits, Arc::new(Pieces::default()));
        let call = || Arc::new(NetworkCall::new(None));
        let mut writing = output();
        assert!(writing.open_text(call).is_some());
        assert!(writing.keep(file(), &memory).unwrap().is_err());
        assert!(writing.open_text(call).is_some());
        let mut keeping = output();
        assert!(keeping.keep(file(), &memory).unwrap().is_ok());
        assert!(keeping.open_text(call).is_none());
        assert!(keeping.keep(file(), &memory).unwrap().is_ok());
    }
}
