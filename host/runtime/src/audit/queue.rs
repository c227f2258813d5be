//! Entries of the audit log that wait for its files.

use super::error::AuditError;
use super::line::{Kind, LineMembers};
use std::collections::VecDeque;
use tokio::sync::oneshot;

/// Maximum bytes of entries that wait for the files. Callers that give up leave theirs behind, so that a process that
/// holds the lock for ever would otherwise fill the memory of this one. Thousands of calls have room.
pub(super) const QUEUE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What an entry takes beside its members, in bytes; rounded up.
pub(super) const QUEUED_BYTES: usize = 256;

/// Entries that wait for the files, in the order in which they are written.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) entries: VecDeque<QueuedEntry>,
    pub(super) bytes: usize,
    /// Whether a thread writes them. Until it has written the last one, no entry overtakes the queue.
    pub(super) writing: bool,
}

pub(super) struct QueuedEntry {
    pub(super) kind: Kind,
    pub(super) members: LineMembers,
    pub(super) written: oneshot::Sender<Result<(), AuditError>>,
}

/// What hears that an entry is in the file, or why not.
pub(super) type QueuedAnswer = oneshot::Receiver<Result<(), AuditError>>;
