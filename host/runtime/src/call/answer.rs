//! The text of an answer while the tool writes it. Its beginning stays in memory. As soon as it exceeds the size that
//! may be passed on, the whole text goes to the kept outputs, on a thread that may block.

use crate::ledger::{OutputOrigin, drop_blocking};
use crate::outputs::{KeepError, OutputKeeper, OutputWriting, Reference, WholeOutput, whole_part};
use crate::stream::Pieces;
use crate::text::cut;
use portcullis_definitions::manifest::Blob;
use std::sync::Arc;

/// The media type of text.
pub(super) const TEXT: &str = "text/plain";

/// The media type of JSON.
pub(super) const JSON: &str = "application/json";

/// Stores answers of one call in the kept outputs. Cheap to clone.
#[derive(Clone)]
pub(super) struct Keeper {
    pub(super) outputs: OutputKeeper,
    pub(super) origin: Arc<OutputOrigin>,
}

impl Keeper {
    /// Keeps all of the bytes as one output.
    pub(super) fn keep(&self, bytes: &[u8], media_type: &str, is_text: bool) -> Result<Reference, KeepError> {
        self.outputs.keep(&self.origin, WholeOutput { bytes, name: None, media_type, is_text })
    }

    /// Keeps a part of an answer as one output, under its name.
    pub(super) fn keep_part(&self, part: &Blob) -> Result<Reference, KeepError> {
        self.outputs.keep(&self.origin, whole_part(part))
    }
}

/// An output that a call is writing. If the call is dropped, a thread that may block removes the output.
struct CallOutput(Option<OutputWriting>);

impl CallOutput {
    fn take(mut self) -> Option<OutputWriting> {
        self.0.take()
    }
}

impl Drop for CallOutput {
    fn drop(&mut self) {
        if let Some(writing) = self.0.take() {
            drop_blocking(writing);
        }
    }
}

/// The part of a text that was written so far.
pub(super) struct AnswerText {
    keeper: Keeper,
    /// The listener that receives the text while it is written.
    pieces: Option<Pieces>,
    shown_max: usize,
    /// The beginning of the text, at most `shown_max` bytes.
    head: String,
    bytes: u64,
    writing: CallOutput,
    /// Why the whole text is not kept, if it should be.
    unkept: Option<&'static str>,
}

impl AnswerText {
    /// Creates an empty text without a listener.
    fn empty(keeper: Keeper, shown_max: usize) -> Self {
        let writing = CallOutput(None);
        Self { keeper, pieces: None, shown_max, head: String::new(), bytes: 0, writing, unkept: None }
    }

    /// Creates an empty text that a tool is about to write.
    pub(super) fn begin(keeper: Keeper, shown_max: usize, pieces: Option<Pieces>) -> Self {
        Self { pieces, ..Self::empty(keeper, shown_max) }
    }

    /// Takes the text that was written, and disconnects the listener.
    pub(super) fn take(&mut self) -> Self {
        let empty = Self::empty(self.keeper.clone(), self.shown_max);
        std::mem::replace(self, empty)
    }

    /// Creates a text from the whole text that a tool returned. Blocks if the text does not fit.
    pub(super) fn of(keeper: Keeper, shown_max: usize, text: String) -> Self {
        let mut whole = Self { bytes: text.len() as u64, ..Self::empty(keeper, shown_max) };
        if text.len() <= shown_max {
            return Self { head: text, ..whole };
        }
        cut(&text, shown_max).clone_into(&mut whole.head);
        whole.keep(text.as_bytes());
        whole
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn keeper(&self) -> &Keeper {
        &self.keeper
    }

    /// Returns why the whole text is not kept, if it should be.
    pub(super) fn unkept(&self) -> Option<&'static str> {
        self.unkept
    }

    /// Ends the text. Blocks if it is being kept. There is no reference if the beginning is the whole text, or if the
    /// text could not be kept.
    pub(super) fn end(self, media_type: &str) -> EndedText {
        let Self { head, bytes, writing, mut unkept, .. } = self;
        let finished = writing.take().map(|writing| writing.finish(media_type, true, unkept.is_none()));
        let reference = match finished.transpose() {
            Ok(reference) => reference,
            Err(error) => {
                unkept = Some(error.for_a_model());
                None
            }
        };
        EndedText { head, bytes, reference, unkept }
    }

    /// Keeps the text of a tool that was stopped, even if it fits the reply. Blocks if there is a text.
    pub(super) fn keep_unfinished(mut self) -> Option<Reference> {
        if self.bytes == 0 {
            return None;
        }
        if self.writing.0.is_none() && self.unkept.is_none() {
            let head = std::mem::take(&mut self.head);
            self.keep(head.as_bytes());
        }
        // Even if the last piece could not be kept, the pieces before it are.
        self.writing.0.take()?.finish(TEXT, true, false).ok()
    }

    /// Returns whether a piece of this length can be appended without blocking.
    pub(super) fn takes_in_memory(&self, length: usize) -> bool {
        self.unkept.is_some() || self.bytes + length as u64 <= self.shown_max as u64
    }

    /// Appends a piece. Blocks if the text does not fit in memory.
    pub(super) fn push(&mut self, piece: &str) {
        if self.unkept.is_some() {
            return;
        }
        let before = self.bytes;
        self.bytes += piece.len() as u64;
        if self.bytes <= self.shown_max as u64 {
            self.head.push_str(piece);
            if let Some(pieces) = &self.pieces {
                pieces.put(piece);
            }
            return;
        }
        if self.writing.0.is_none() {
            let head = std::mem::take(&mut self.head);
            self.keep(head.as_bytes());
            self.head = head;
        }
        // The head grows only as long as it is the whole text. A later piece would follow a gap.
        if before == self.head.len() as u64 {
            let fits = cut(piece, self.shown_max.saturating_sub(self.head.len()));
            // The listener gets only whole lines, because the reply is cut after its last whole line.
            let told = fits.rfind('\n').map_or(if self.head.contains('\n') { "" } else { fits }, |end| &fits[..=end]);
            if let Some(pieces) = self.pieces.take().filter(|_| !told.is_empty()) {
                pieces.put(told);
            }
            self.head.push_str(fits);
        }
        if let Some(writing) = &mut self.writing.0
            && let Err(error) = writing.write(piece.as_bytes())
        {
            self.unkept = Some(error.for_a_model());
        }
    }

    /// Begins to keep the text, starting with these bytes.
    fn keep(&mut self, bytes: &[u8]) {
        match self.keeper.outputs.begin_with(&self.keeper.origin, bytes) {
            Ok(writing) => self.writing = CallOutput(Some(writing)),
            Err(error) => self.unkept = Some(error.for_a_model()),
        }
    }
}

/// A completed text.
pub(super) struct EndedText {
    pub(super) head: String,
    pub(super) bytes: u64,
    pub(super) reference: Option<Reference>,
    /// Why the whole text is not kept, if it should be.
    pub(super) unkept: Option<&'static str>,
}

impl EndedText {
    /// Returns what the reply shows: the whole text, or its beginning up to the last whole line and a notice about the
    /// rest.
    pub(super) fn shown(mut self, shown_max: usize) -> (String, Option<Reference>) {
        if self.bytes <= shown_max as u64 && self.reference.is_none() {
            return (self.head, None);
        }
        self.head.truncate(self.head.floor_char_boundary(shown_max));
        if let Some(end) = self.head.rfind('\n') {
            self.head.truncate(end + 1);
        }
        let notice = self.notice();
        (format!("{}\n{notice}", self.head), self.reference)
    }

    fn notice(&self) -> String {
        let missing = self.bytes.saturating_sub(self.head.len() as u64);
        let shown_lines = self.head.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let Some(reference) = &self.reference else {
            let why = self.unkept.unwrap_or("it was not kept");
            return format!(
                "[Portcullis: the output was cut here. {missing} bytes of {} are lost: {why}. Request less output per \
                 call.]",
                self.bytes
            );
        };
        let lines = reference.lines.unwrap_or(0);
        let column = match self.head.rsplit('\n').next() {
            Some(begun) if !begun.is_empty() => format!(",\"column\":{}", begun.len() + 1),
            Some(_) | None => String::new(),
        };
        format!(
            "[Portcullis: the output was cut here. {missing} bytes in {} lines are missing of {} bytes in {lines} \
             lines. The whole output is kept. Read the rest with output.read \
             {{\"reference\":\"{}\",\"offset\":{}{column}}}, or search it with output.grep.]",
            lines.saturating_sub(shown_lines),
            self.bytes,
            reference.id,
            shown_lines + 1,
        )
    }
}
