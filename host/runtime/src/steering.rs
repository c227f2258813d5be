//! Steering: the signal that a new message of the user supersedes a batch.

use crate::text::cut;
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// Maximum length of the note, in bytes. The message itself reaches the model with the conversation.
const NOTE_BYTES_MAX: usize = 1024;

/// A signal that supersedes a batch. Calls of the batch that have not started are not run, and running calls continue.
/// It cannot be reset. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Steering(Arc<SteeringState>);

#[derive(Debug, Default)]
struct SteeringState {
    note: OnceLock<String>,
    changed: Notify,
}

impl Steering {
    /// Creates a signal that is not given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the signal, with the user's message as the note. Only the first one counts.
    pub fn steer(&self, note: &str) {
        if self.0.note.set(cut(note, NOTE_BYTES_MAX).to_owned()).is_ok() {
            self.0.changed.notify_waiters();
        }
    }

    /// Returns the note, if the signal was given.
    pub fn note(&self) -> Option<&str> {
        self.0.note.get().map(String::as_str)
    }

    /// Waits until the signal is given, and returns the note.
    pub async fn steered(&self) -> &str {
        loop {
            // Register the waiter before reading the note, so that no signal is missed in between.
            let changed = self.0.changed.notified();
            if let Some(note) = self.note() {
                return note;
            }
            changed.await;
        }
    }
}
