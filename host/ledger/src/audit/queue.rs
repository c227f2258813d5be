//! Entries of the audit log that wait for its files.

use super::error::AuditError;
use super::new_entries::NewEntries;
use std::collections::VecDeque;
use tokio::sync::oneshot;

/// Maximum bytes of entries that wait for the files. Entries of callers that give up stay in the queue. Without a
/// limit, a process that holds the lock forever would fill the memory of this one. Entries of thousands of calls fit.
pub(super) const QUEUE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Memory of an entry without its members, in bytes, rounded up.
pub(super) const QUEUED_BYTES: usize = 256;

/// Entries that wait for the files, in the order in which they are written.
#[derive(Default)]
pub(super) struct EntryQueue {
    pub(super) entries: VecDeque<QueuedEntry>,
    pub(super) bytes: usize,
    /// Whether a thread writes them. Until it has written the last one, new entries must go through the queue.
    pub(super) writing: bool,
}

pub(super) struct QueuedEntry {
    pub(super) new: NewEntries,
    pub(super) written: oneshot::Sender<Result<(), AuditError>>,
}

/// Receives the result of writing an entry.
pub(super) type QueuedAnswer = oneshot::Receiver<Result<(), AuditError>>;
