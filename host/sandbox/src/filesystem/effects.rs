//! What a call does to its directories, counted as it begins, and taken back where it turns out not to have been done:
//! an operation that a call is stopped in goes on without it.

use crate::effects::Effects;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One thing that can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Create,
    Change,
    Remove,
    Rename,
    MakeDirectory,
}

/// What was done until now.
#[derive(Default)]
pub(super) struct Done {
    effects: Effects,
    /// Counted by the streams as well.
    written_bytes: Arc<AtomicU64>,
}

impl Done {
    /// Counts what is about to be tried.
    pub(super) fn begin(&mut self, deed: Deed) {
        *self.count(deed) += 1;
    }

    /// Takes it back where it was not done.
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

    /// Counts the bytes that are written.
    pub(super) fn written(&self) -> &Arc<AtomicU64> {
        &self.written_bytes
    }

    /// What was done until now; from here on it is counted anew.
    pub(super) fn take(&mut self) -> Effects {
        let written_bytes = self.written_bytes.swap(0, Ordering::AcqRel);
        Effects { written_bytes, ..std::mem::take(&mut self.effects) }
    }
}
