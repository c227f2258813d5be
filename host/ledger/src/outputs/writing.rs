//! Writes an output in pieces. Room is reserved before each write.

use super::cursor::MARK_BYTES;
use super::kept::{OutputKeeper, Outputs, Reference, signed};
use super::layout::new_id;
use super::place::ContentWriter;
use crate::ledger::{LedgerError, OutputOrigin, OutputRow, Owner, is_disk_full};
use std::io;
use std::sync::Arc;

/// Maximum room that is reserved ahead, in bytes. A growing output reserves a quarter more than it has, so that it
/// rarely has to ask. The limit avoids removing other outputs for room that is never used.
const AHEAD_BYTES_MAX: u64 = 1024 * 1024;

/// Why an output is not kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The output is larger than the quota of all outputs, or outputs that are being written take the room.
    #[error("there is no room for it among the kept outputs")]
    NoRoom,
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The file cannot be written.
    #[error("the output cannot be kept")]
    Io(#[from] io::Error),
}

impl KeepError {
    /// Returns the error of a write of content. That of a place is as if the disk had reported it.
    fn from_content(error: LedgerError) -> Self {
        match error {
            LedgerError::Io(error) => Self::Io(error),
            error => Self::Ledger(error),
        }
    }

    /// Returns the reason for a model, without paths of the host.
    pub fn for_a_model(&self) -> &'static str {
        match self {
            Self::NoRoom => "there is no room for it among the kept outputs",
            Self::Io(error) if error.kind() == io::ErrorKind::StorageFull => "the host's disk is full",
            Self::Ledger(error) if is_disk_full(error) => "the host's disk is full",
            Self::Ledger(_) | Self::Io(_) => "the host could not write it",
        }
    }
}

/// An output that is being written. If it is dropped before it is finished, it is removed.
pub struct OutputWriting {
    outputs: Outputs,
    id: String,
    name: Option<String>,
    /// Whose it is, and when it was begun. The row is not asked, because others could have changed it.
    origin: OutputOrigin,
    kept_at: i64,
    content: ContentWriter,
    /// Shows other processes that this one still runs.
    _owner: Arc<Owner>,
    bytes: u64,
    claimed: u64,
    breaks: u64,
    ends_a_line: bool,
    /// The line breaks before each piece of [`MARK_BYTES`], encoded as in the ledger.
    marks: Vec<u8>,
    finished: bool,
}

/// An output that is kept whole.
#[derive(Clone, Copy, Debug)]
pub struct WholeOutput<'a> {
    /// Its content.
    pub bytes: &'a [u8],
    /// The file name, if the tool gave one.
    pub name: Option<&'a str>,
    /// Its media type.
    pub media_type: &'a str,
    /// Whether its lines can be read.
    pub is_text: bool,
}

impl OutputKeeper {
    /// Keeps a whole output. Reserves room for it before it is written.
    ///
    /// # Errors
    /// The output cannot be kept.
    pub fn keep(&self, origin: &OutputOrigin, output: WholeOutput<'_>) -> Result<Reference, KeepError> {
        let mut writing = self.begin_with(origin, output.bytes)?;
        writing.name = output.name.map(str::to_owned);
        writing.finish(output.media_type, output.is_text, true)
    }

    /// Begins an output with these bytes, and reserves room for them first.
    ///
    /// # Errors
    /// The output cannot be kept.
    pub fn begin_with(&self, origin: &OutputOrigin, bytes: &[u8]) -> Result<OutputWriting, KeepError> {
        let mut writing = self.begin(origin)?;
        writing.reserve(bytes.len() as u64)?;
        writing.write(bytes)?;
        Ok(writing)
    }

    fn begin(&self, origin: &OutputOrigin) -> Result<OutputWriting, KeepError> {
        self.sweep_sometimes();
        let (id, owner) = (new_id()?, self.owner()?);
        let kept_at = self.change(|change| change.begin_output(&id, origin, owner.id()))?;
        let content = match self.0.place.begin(&id) {
            Ok(content) => content,
            Err(error) => {
                // If this fails too, a sweep removes the row after this process has ended.
                let _ = self.change(|change| change.forget_output(&id));
                return Err(error.into());
            }
        };
        Ok(OutputWriting {
            outputs: self.outputs.clone(),
            id,
            name: None,
            origin: origin.clone(),
            kept_at,
            content,
            _owner: owner,
            bytes: 0,
            claimed: 0,
            breaks: 0,
            ends_a_line: true,
            marks: Vec::new(),
            finished: false,
        })
    }
}

impl OutputWriting {
    /// Writes the next piece. If that fails, the earlier pieces stay.
    ///
    /// # Errors
    /// The piece cannot be kept.
    pub fn write(&mut self, piece: &[u8]) -> Result<(), KeepError> {
        let after = self.bytes.saturating_add(piece.len() as u64);
        if after > self.claimed {
            self.claim(after)?;
        }
        self.content.append(&self.outputs.0.ledger, piece, self.bytes).map_err(KeepError::from_content)?;
        self.count(piece);
        Ok(())
    }

    /// Finishes the output, so that it can be read.
    ///
    /// # Errors
    /// The output cannot be kept.
    pub fn finish(mut self, media_type: &str, is_text: bool, complete: bool) -> Result<Reference, KeepError> {
        let lines = is_text.then(|| self.lines());
        // Write to the place of large outputs before the transaction, because other hosts wait for its end.
        self.content.flush();
        let finished = OutputRow {
            id: self.id.clone(),
            call: self.origin.call.clone(),
            tool: self.origin.tool.clone(),
            name: self.name.take(),
            media_type: media_type.to_owned(),
            bytes: signed(self.bytes),
            lines: lines.map(signed),
            complete,
            marks: std::mem::take(&mut self.marks),
            kept_at: self.kept_at,
        };
        self.outputs.change(|change| {
            let hashes = self.content.finish(change)?;
            change.finish_output(&finished)?;
            hashes.map_or(Ok(()), |hashes| change.seal_output(&self.origin, &finished, hashes))
        })?;
        self.finished = true;
        let (id, bytes) = (std::mem::take(&mut self.id), self.bytes);
        Ok(Reference { id, bytes, lines, media_type: media_type.to_owned(), complete })
    }

    /// Returns the number of lines so far. Text after the last line break counts as a line.
    fn lines(&self) -> u64 {
        self.breaks + u64::from(!self.ends_a_line)
    }

    fn claim(&mut self, needed: u64) -> Result<(), KeepError> {
        let ahead_min = self.outputs.0.place.ahead_bytes_min();
        let ahead = needed.saturating_add((needed / 4).clamp(ahead_min, AHEAD_BYTES_MAX));
        match self.reserve(ahead) {
            // The room ahead only saves later requests. Without it, the output may still fit.
            Err(KeepError::NoRoom) => self.reserve(needed),
            claimed => claimed,
        }
    }

    /// Reserves room for an output of this size.
    ///
    /// # Errors
    /// There is no room, or the ledger cannot be changed.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), KeepError> {
        let (id, room, claimed) = (&self.id, self.outputs.0.room, signed(bytes));
        let forgotten = self.outputs.change(|change| {
            // An error rolls back the removal of other outputs.
            change.claim_output(id, claimed, room)?.ok_or(KeepError::NoRoom)
        })?;
        self.outputs.0.place.remove(&forgotten);
        self.claimed = bytes;
        Ok(())
    }

    fn count(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while let Some(last) = rest.last() {
            if self.bytes.is_multiple_of(MARK_BYTES) {
                self.marks.extend_from_slice(&self.breaks.to_le_bytes());
            }
            let to_mark = usize::try_from(MARK_BYTES - self.bytes % MARK_BYTES).unwrap_or(usize::MAX);
            self.ends_a_line = *last == b'\n';
            let (counted, after) = rest.split_at(to_mark.min(rest.len()));
            self.breaks += breaks(counted);
            self.bytes += counted.len() as u64;
            rest = after;
        }
    }
}

/// Counts the line breaks in a piece.
fn breaks(piece: &[u8]) -> u64 {
    piece.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

impl Drop for OutputWriting {
    fn drop(&mut self) {
        if !self.finished {
            // Leftovers are swept when the next host opens.
            let _ = self.outputs.change(|change| change.forget_output(&self.id));
            self.outputs.0.place.remove(std::slice::from_ref(&self.id));
        }
    }
}
