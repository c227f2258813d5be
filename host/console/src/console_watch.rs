//! What the pages know of the state directory, and who waits for a change of it.

use tokio::sync::watch;

/// What the pages know of the state directory. Each number changes with what it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConsoleSeen {
    /// Changes of the ledger so far.
    pub(crate) ledger: u64,
    /// Requests that wait for an answer.
    pub(crate) pending: usize,
    /// Remembered approvals in force.
    pub(crate) remembered: usize,
    /// Entries of the audit log.
    pub(crate) log: u64,
    /// Changes of calls so far.
    pub(crate) live: u64,
    /// Whether the policy is paused.
    pub(crate) paused: bool,
}

/// What the pages know, for everyone who waits for a change.
pub(crate) struct ConsoleWatch(watch::Sender<ConsoleSeen>);

impl Default for ConsoleWatch {
    fn default() -> Self {
        Self(watch::Sender::new(ConsoleSeen::default()))
    }
}

impl ConsoleWatch {
    /// Returns what is known now.
    pub(crate) fn now(&self) -> ConsoleSeen {
        *self.0.borrow()
    }

    /// Changes what is known, and notifies the pages.
    pub(crate) fn change(&self, change: impl FnOnce(&mut ConsoleSeen)) {
        self.0.send_modify(change);
    }

    /// Sets the number of entries of the audit log, and notifies the pages if it is another one.
    pub(crate) fn put_log(&self, entries: u64) {
        self.0.send_if_modified(|seen| std::mem::replace(&mut seen.log, entries) != entries);
    }

    /// Sets whether the policy is paused, and notifies the pages if that is new.
    pub(crate) fn put_paused(&self, paused: bool) {
        self.0.send_if_modified(|seen| std::mem::replace(&mut seen.paused, paused) != paused);
    }

    /// Returns whether a page waits for changes.
    pub(crate) fn has_page(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Subscribes to changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<ConsoleSeen> {
        self.0.subscribe()
    }

    /// Tells the pages that something changed which only this process knows.
    pub(crate) fn touch(&self) {
        self.change(|seen| seen.ledger += 1);
    }
}
