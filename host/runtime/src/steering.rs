//! A person's word that a batch is out of date, because they have written something new.

use crate::text::cut;
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// The longest note that is kept, in bytes: the message itself reaches the model with the conversation.
const NOTE_BYTES_MAX: usize = 1024;

/// Steers a batch: its calls that have not started are not run any more, and those that run go on. Cheap to clone;
/// once given it stays given.
#[derive(Clone, Debug, Default)]
pub struct Steering(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    note: OnceLock<String>,
    changed: Notify,
}

impl Steering {
    /// A steering that nobody has given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The person has written this. Only the first counts.
    pub fn steer(&self, note: &str) {
        if self.0.note.set(cut(note, NOTE_BYTES_MAX).to_owned()).is_ok() {
            self.0.changed.notify_waiters();
        }
    }

    /// What the person has written, if they have.
    pub fn note(&self) -> Option<&str> {
        self.0.note.get().map(String::as_str)
    }

    /// Waits until it is given, and tells what was written.
    pub async fn steered(&self) -> &str {
        loop {
            // The waiter is registered before the note is read, so that nothing falls between the two.
            let changed = self.0.changed.notified();
            if let Some(note) = self.note() {
                return note;
            }
            changed.await;
        }
    }
}
