//! The audit log for embedders. It is a file that other processes lock and that can be long, so every function reads it
//! on a thread that may block.

use crate::audit::{AnchorFault, AuditAnchor, AuditError, AuditWriter, Entry, LogPlace, Verified};
use std::fmt;
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

/// Maximum entries that are read ahead of the caller.
const READ_AHEAD_MAX: usize = 16;

/// Reads the audit log of a state directory. Clones share it.
#[derive(Clone)]
pub struct AuditReader(Arc<AuditWriter>);

impl fmt::Debug for AuditReader {
    /// Leaves out the key of the chain.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditReader").finish_non_exhaustive()
    }
}

impl AuditReader {
    pub(crate) fn new(log: Arc<AuditWriter>) -> Self {
        Self(log)
    }

    /// Checks every line, from the first. A fault is part of the result, not an error.
    ///
    /// # Errors
    /// The audit log cannot be read.
    pub async fn verify(&self) -> Result<Verified, AuditError> {
        let log = Arc::clone(&self.0);
        spawn_blocking(move || log.verify()).await.unwrap_or_else(|error| Err(lost(error)))
    }

    /// Calls `each` with every valid entry, from the first. Returns the fault after them, if there is one.
    ///
    /// ```no_run
    /// # async fn example(host: &portcullis::Host) -> Result<(), portcullis::audit::AuditError> {
    /// let mut outcomes = 0;
    /// let counted = |entry: portcullis::audit::Entry| {
    ///     outcomes += usize::from(entry.document["kind"] == "outcome");
    ///     Ok(())
    /// };
    /// let verified = host.audit().read(counted).await?;
    /// println!("{outcomes} calls have ended in {} valid entries", verified.lines);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The audit log cannot be read, or `each` fails.
    pub async fn read(&self, each: impl FnMut(Entry) -> io::Result<()>) -> Result<Verified, AuditError> {
        self.read_after(&mut LogPlace::default(), each).await
    }

    /// Returns what identifies this log among those of other state directories: digits that follow from its key.
    pub fn chain_id(&self) -> String {
        self.0.chain_id()
    }

    /// Calls `each` with every valid entry, and compares the log with its anchors in a shared ledger. Returns the fault
    /// after the entries, and how the log differs from its anchors.
    ///
    /// # Errors
    /// The audit log cannot be read, or `each` fails.
    pub async fn read_anchored(
        &self,
        anchors: Vec<AuditAnchor>,
        each: impl FnMut(Entry) -> io::Result<()> + Send + 'static,
    ) -> Result<(Verified, Option<AnchorFault>), AuditError> {
        let log = Arc::clone(&self.0);
        let read = spawn_blocking(move || log.read_anchored(&anchors, each));
        read.await.unwrap_or_else(|error| Err(lost(error)))
    }

    /// Calls `each` with every valid entry after a place, and moves the place behind the last one. Use it to follow a
    /// log without reading all of it again: the entries before the place were checked when they were read.
    ///
    /// # Errors
    /// The audit log cannot be read, or `each` fails. The place is then unchanged.
    pub async fn read_after(
        &self,
        place: &mut LogPlace,
        mut each: impl FnMut(Entry) -> io::Result<()>,
    ) -> Result<Verified, AuditError> {
        let (log, mut end) = (Arc::clone(&self.0), *place);
        // `each` may borrow from its caller, so it runs here and only the reading runs on the other thread.
        let (sender, mut entries) = mpsc::channel(READ_AHEAD_MAX);
        let reading = spawn_blocking(move || {
            // If the receiver is dropped, its caller has failed or was dropped itself, so the error reaches no one.
            let sent = |entry| sender.blocking_send(entry).map_err(|_| io::ErrorKind::BrokenPipe.into());
            log.read_after(&mut end, sent).map(|verified| (verified, end))
        });
        while let Some(entry) = entries.recv().await {
            each(entry)?;
        }
        let (verified, end) = reading.await.unwrap_or_else(|error| Err(lost(error)))?;
        *place = end;
        Ok(verified)
    }
}

/// Returns the error for a reading thread that has panicked, or was stopped because the runtime shuts down.
fn lost(error: tokio::task::JoinError) -> AuditError {
    AuditError::Io(io::Error::other(error))
}
