//! The pause of the policy, as the pages use it: on a thread that may block.

use crate::pause_switch::{PauseSwitch, ResumePreview};
use portcullis::policy::{Pause, Principal};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The pause of the policy.
pub(crate) struct PolicyPause {
    pub(crate) switch: Arc<dyn PauseSwitch>,
    /// Whether this console may end the pause.
    pub(crate) may_resume: bool,
}

impl PolicyPause {
    /// Returns the pause of the policy files.
    pub(crate) async fn of_files(&self) -> Option<Pause> {
        // The look itself cannot fail. An error means that the console stops, and then no page shows the pause.
        self.blocking(|switch| Ok(switch.pause_of_files())).await.unwrap_or_default()
    }

    /// Pauses the policy.
    ///
    /// # Errors
    /// The policy cannot be edited.
    pub(crate) async fn pause(&self, by: Option<&Principal>) -> Result<(), String> {
        let by = by.cloned();
        self.blocking(move |switch| switch.pause(by.as_ref())).await
    }

    /// Returns what resuming would do.
    ///
    /// # Errors
    /// The policy cannot be edited, or is not paused by the user's file.
    pub(crate) async fn preview(&self) -> Result<ResumePreview, String> {
        self.blocking(PauseSwitch::preview).await
    }

    /// Ends the pause, if the policy file still has this hash.
    ///
    /// # Errors
    /// The policy file has another hash, or cannot be edited.
    pub(crate) async fn resume(&self, sha256: &str) -> Result<(), String> {
        let sha256 = sha256.to_owned();
        self.blocking(move |switch| switch.resume(&sha256)).await
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn PauseSwitch) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let switch = Arc::clone(&self.switch);
        let stopped = || "the console is stopping: use `portcullis pause` or `portcullis resume`".to_owned();
        spawn_blocking(move || work(&*switch)).await.map_err(|_| stopped())?
    }
}
