//! The text of an answer while the tool writes it. Its beginning stays in memory. As soon as it exceeds the size that
//! may be passed on, the whole text goes to the kept outputs.

use crate::ledger::OutputOrigin;
use crate::outputs::{KeepError, OutputKeeper, OutputWriting, Reference};
use crate::stream::Pieces;
use crate::text::cut;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_sandbox::OutputFull;
use std::sync::Mutex;

/// The media type of text.
pub(super) const TEXT: &str = "text/plain";

/// The media type of JSON.
pub(super) const JSON: &str = "application/json";

/// Stores answers of one call in the kept outputs.
#[derive(Clone)]
pub(super) struct Keeper {
    pub(super) outputs: OutputKeeper,
    pub(super) origin: OutputOrigin,
}

impl Keeper {
    /// Keeps all of the bytes as one output.
    pub(super) fn keep(&self, bytes: &[u8], media_type: &str, is_text: bool) -> Result<Reference, KeepError> {
        self.begin(bytes)?.finish(media_type, is_text, true)
    }

    /// Begins a kept output with these bytes, and reserves room for them first.
    fn begin(&self, bytes: &[u8]) -> Result<OutputWriting, KeepError> {
        let mut writing = self.outputs.begin(&self.origin)?;
        writing.reserve(bytes.len() as u64)?;
        writing.write(bytes)?;
        Ok(writing)
    }
}

/// The text that a running tool writes in pieces.
pub(crate) struct RunningAnswer(Mutex<AnswerText>);

/// The part of a text that was written so far.
pub(super) struct AnswerText {
    keeper: Keeper,
    /// The listener that receives the text while it is written.
    pieces: Option<Pieces>,
    shown_max: usize,
    /// The beginning of the text, at most `shown_max` bytes.
    head: String,
    bytes: u64,
    writing: Option<OutputWriting>,
    /// Why the whole text is not kept, if it should be.
    unkept: Option<&'static str>,
}

impl RunningAnswer {
    pub(super) fn new(keeper: Keeper, shown_max: usize, pieces: Option<Pieces>) -> Self {
        Self(Mutex::new(AnswerText { pieces, ..AnswerText::empty(keeper, shown_max) }))
    }

    /// Appends a piece. Fails if the text must be kept and cannot be.
    pub(super) fn write(&self, piece: &[u8]) -> Result<(), OutputFull> {
        let mut text = self.0.lock_recovered();
        text.push(&String::from_utf8_lossy(piece));
        // Stop the tool: no one could read what it writes from here on.
        if text.unkept.is_some() { Err(OutputFull) } else { Ok(()) }
    }

    /// Takes the text that was written, and disconnects the listener.
    pub(super) fn take(&self) -> AnswerText {
        let mut text = self.0.lock_recovered();
        let empty = AnswerText::empty(text.keeper.clone(), text.shown_max);
        std::mem::replace(&mut *text, empty)
    }
}

impl AnswerText {
    /// Creates an empty text without a listener.
    fn empty(keeper: Keeper, shown_max: usize) -> Self {
        Self { keeper, pieces: None, shown_max, head: String::new(), bytes: 0, writing: None, unkept: None }
    }

    /// Creates a text from the whole text that a tool returned.
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

    /// Ends the text. There is no reference if the beginning is the whole text, or if the text could not be kept.
    pub(super) fn end(self, media_type: &str) -> EndedText {
        let Self { head, bytes, writing, mut unkept, .. } = self;
        let reference = match writing.map(|writing| writing.finish(media_type, true, unkept.is_none())).transpose() {
            Ok(reference) => reference,
            Err(error) => {
                unkept = Some(error.for_a_model());
                None
            }
        };
        EndedText { head, bytes, reference, unkept }
    }

    /// Keeps the text of a tool that was stopped, even if it fits the reply.
    pub(super) fn keep_unfinished(mut self) -> Option<Reference> {
        if self.bytes == 0 {
            return None;
        }
        if self.writing.is_none() && self.unkept.is_none() {
            let head = std::mem::take(&mut self.head);
            self.keep(head.as_bytes());
        }
        // Even if the last piece could not be kept, the pieces before it are.
        self.writing.take()?.finish(TEXT, true, false).ok()
    }

    fn push(&mut self, piece: &str) {
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
        if self.writing.is_none() {
            let head = std::mem::take(&mut self.head);
            self.keep(head.as_bytes());
            self.head = head;
        }
        if before == self.head.len() as u64 {
            let fits = cut(piece, self.shown_max.saturating_sub(self.head.len()));
            // The listener gets only whole lines, because the reply is cut after its last whole line.
            let told = fits.rfind('\n').map_or(if self.head.contains('\n') { "" } else { fits }, |end| &fits[..=end]);
            if let Some(pieces) = self.pieces.take().filter(|_| !told.is_empty()) {
                pieces.put(told);
            }
            self.head.push_str(fits);
        }
        if let Some(writing) = &mut self.writing
            && let Err(error) = writing.write(piece.as_bytes())
        {
            self.unkept = Some(error.for_a_model());
        }
    }

    /// Begins to keep the text, starting with these bytes.
    fn keep(&mut self, bytes: &[u8]) {
        match self.keeper.begin(bytes) {
            Ok(writing) => self.writing = Some(writing),
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
