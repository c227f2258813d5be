//! Counts what a call does to its directories. An operation is counted when it begins, and uncounted if it fails. If
//! the call is stopped during an operation, the operation may still complete, so it stays counted.

use crate::effects::Effects;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An operation that changes a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Create,
    Change,
    Remove,
    Rename,
    MakeDirectory,
}

/// The operations of a call so far.
#[derive(Default)]
pub(super) struct Done {
    effects: Effects,
    /// Written bytes. Streams count here too.
    written_bytes: Arc<AtomicU64>,
}

impl Done {
    /// Counts an operation that begins.
    pub(super) fn begin(&mut self, deed: Deed) {
        *self.count(deed) += 1;
    }

    /// Uncounts an operation that failed.
    pub(super) fn end(&mut self, deed: Deed, is_done: bool) {
        if !is_done {
            *self.count(deed) -= 1;
        }
    }

    fn count(&mut self, deed: Deed) -> &mut u64 {
        match deed {
            Deed::Create => &mut self.effects.created,
            Deed::Change => &mut self.effects.changed,
            Deed::Remove => &mut self.effects.removed,
            Deed::Rename => &mut self.effects.renamed,
            Deed::MakeDirectory => &mut self.effects.directories,
        }
    }

    /// Returns the counter of written bytes.
    pub(super) fn written(&self) -> &Arc<AtomicU64> {
        &self.written_bytes
    }

    /// Returns the operations so far, and resets the counters.
    pub(super) fn take(&mut self) -> Effects {
        let written_bytes = self.written_bytes.swap(0, Ordering::AcqRel);
        Effects { written_bytes, ..std::mem::take(&mut self.effects) }
    }
}
