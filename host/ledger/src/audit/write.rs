//! Appends from async code: immediately if the files are free, and otherwise on a thread that may block.

use super::error::AuditError;
use super::line::Kind;
use super::log::AuditWriter;
use super::new_entries::{NewEntries, PreparedEntry};
use super::queue::{EntryQueue, QUEUE_BYTES_MAX, QUEUED_BYTES, QueuedAnswer, QueuedEntry};
use crate::ledger::drop_blocking;
use portcullis_policy::recovery::RecoverMutex;
use serde::Serialize;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// A future that completes when an entry is written. The entry is written even if the future is dropped.
#[must_use = "an entry that could not be written has no effect"]
pub struct WrittenEntry(EntryState);

enum EntryState {
    Ended(Option<Result<(), AuditError>>),
    Queued(QueuedAnswer),
}

/// Writes what is in the queue when it is dropped, so drop it on a thread that may block.
struct QueueWriter(Arc<AuditWriter>);

impl AuditWriter {
    /// Appends one line as [`Self::append`] does, without blocking the thread. Entries of one caller are written in
    /// the order of its calls of this function, even if it does not wait for them.
    ///
    /// # Errors
    /// The log cannot be written, is not what its head says, or too many entries wait for it.
    pub fn write(self: &Arc<Self>, kind: Kind, facts: Option<&impl Serialize>, body: &impl Serialize) -> WrittenEntry {
        self.write_together(None, PreparedEntry::of(kind, facts, body))
    }

    /// Appends an entry like [`Self::write`], and `first` before it in the same write. So either both are in the log,
    /// or only the first one after a crash, or none.
    ///
    /// # Errors
    /// The same as of [`Self::write`].
    pub fn write_together(
        self: &Arc<Self>,
        first: Option<PreparedEntry>,
        last: Result<PreparedEntry, AuditError>,
    ) -> WrittenEntry {
        WrittenEntry(match last.and_then(|last| self.begin(NewEntries { first, last })) {
            Ok(None) => EntryState::Ended(Some(Ok(()))),
            Ok(Some(queued)) => EntryState::Queued(queued),
            Err(error) => EntryState::Ended(Some(Err(error))),
        })
    }

    /// Writes an entry, or queues it and returns the receiver of its result.
    fn begin(self: &Arc<Self>, new: NewEntries) -> Result<Option<QueuedAnswer>, AuditError> {
        // An entry must not overtake queued entries of its caller, so all take the queue while a thread writes it.
        if !self.queued().writing
            && let Some(written) = self.try_enter(&new)
        {
            return written.map(|_| None);
        }
        let (written, queued) = oneshot::channel();
        let mut queue = self.queued();
        let bytes = new.len() + QUEUED_BYTES;
        if queue.bytes + bytes > QUEUE_BYTES_MAX {
            return Err(AuditError::Busy);
        }
        queue.bytes += bytes;
        queue.entries.push_back(QueuedEntry { new, written });
        if !std::mem::replace(&mut queue.writing, true) {
            // Outside of a runtime, `drop_blocking` writes the queue on this thread, which locks it again.
            drop(queue);
            drop_blocking(QueueWriter(Arc::clone(self)));
        }
        Ok(Some(queued))
    }

    fn queued(&self) -> MutexGuard<'_, EntryQueue> {
        self.queue.lock_recovered()
    }

    /// Takes the next entry to be written. Ends the writing if the queue is empty.
    fn next_queued(&self) -> Option<QueuedEntry> {
        let mut queue = self.queued();
        let next = queue.entries.pop_front();
        match &next {
            Some(entry) => queue.bytes -= entry.new.len() + QUEUED_BYTES,
            None => queue.writing = false,
        }
        next
    }
}

impl Future for WrittenEntry {
    type Output = Result<(), AuditError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The writing thread sends a result for each entry, unless it panics.
        let lost = || Err(AuditError::Io(io::Error::other("the thread that writes the entry has ended")));
        match &mut self.get_mut().0 {
            EntryState::Ended(ended) => Poll::Ready(ended.take().unwrap_or_else(lost)),
            EntryState::Queued(queued) => Pin::new(queued).poll(context).map(|sent| sent.unwrap_or_else(|_| lost())),
        }
    }
}

impl Drop for QueueWriter {
    fn drop(&mut self) {
        while let Some(entry) = self.0.next_queued() {
            // The receiver may have been dropped.
            let _ = entry.written.send(self.0.enter_new(&entry.new).map(drop));
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own directory")]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use cap_std::fs::Dir;
    use rustix::fs::{FlockOperation, flock};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts the logs of these tests, so that each has its own directory.
    static OPENED: AtomicUsize = AtomicUsize::new(0);

    fn opened() -> (Dir, Arc<AuditWriter>) {
        let name = format!("portcullis-queue-{}-{}", std::process::id(), OPENED.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        Dir::create_ambient_dir_all(&path, ambient_authority()).unwrap();
        let directory = Dir::open_ambient_dir(&path, ambient_authority()).unwrap();
        let log = Arc::new(AuditWriter::open(&directory, &[7; 32], 1).unwrap());
        (directory, log)
    }

    /// While another process holds the lock, callers may give up, but their queued entries are bounded.
    #[tokio::test]
    async fn entries_that_wait_for_the_file_are_bounded() {
        let (directory, log) = opened();
        let _other = AuditWriter::open(&directory, &[7; 32], 1).unwrap();
        let held = directory.open(super::super::log::HEAD_FILE).unwrap();
        flock(&held, FlockOperation::LockExclusive).unwrap();

        const BODY_BYTES: usize = 60 * 1024;
        let body = serde_json::json!({ "detail": "x".repeat(BODY_BYTES) });
        let written: Vec<_> = (0..400).map(|_| log.write(Kind::Plugin, None::<&()>, &body)).collect();
        flock(&held, FlockOperation::Unlock).unwrap();
        let mut refused = 0;
        for written in written {
            match written.await {
                Ok(()) => assert_eq!(refused, 0, "an entry overtook another"),
                Err(error) => {
                    assert!(matches!(error, AuditError::Busy), "{error}");
                    refused += 1;
                }
            }
        }
        // One more than fit may be with the thread that writes.
        assert!(refused >= 400 - QUEUE_BYTES_MAX / BODY_BYTES - 1, "{refused}");
        log.write(Kind::Plugin, None::<&()>, &body).await.unwrap();
        assert_eq!(log.verify().unwrap().fault, None);
        directory.remove_open_dir_all().unwrap();
    }

    /// The files are free again, and a thread has not yet written the entries before.
    #[tokio::test]
    async fn an_entry_does_not_overtake_entries_in_the_queue() {
        let (directory, log) = opened();
        log.queued().writing = true;
        let written = log.write(Kind::Plugin, None::<&()>, &serde_json::json!({}));
        assert!(matches!(written.0, EntryState::Queued(_)));
        drop(QueueWriter(Arc::clone(&log)));
        written.await.unwrap();
        assert!(matches!(log.write(Kind::Plugin, None::<&()>, &serde_json::json!({})).0, EntryState::Ended(_)));
        directory.remove_open_dir_all().unwrap();
    }
}
