//! What the program that serves a console lets it do with the pause of the policy.

use portcullis::policy::{Pause, Principal};
use std::fmt::Debug;

/// Pauses and resumes the policy. Its functions may block on files. Each error says what happened, why, and what to do.
pub trait PauseSwitch: Debug + Send + Sync + 'static {
    /// Returns the pause of the policy files. `None` if they have none or cannot be read.
    fn pause_of_files(&self) -> Option<Pause>;

    /// Pauses the policy. The reason names `by`, who pauses, if they have signed in with a token.
    ///
    /// # Errors
    /// The policy cannot be edited. It is then unchanged.
    fn pause(&self, by: Option<&Principal>) -> Result<(), String>;

    /// Returns what resuming would do.
    ///
    /// # Errors
    /// The policy cannot be edited, or is not paused by the user's file.
    fn preview(&self) -> Result<ResumePreview, String>;

    /// Ends the pause, if the policy file still has this hash.
    ///
    /// # Errors
    /// The policy file has another hash, or cannot be edited. It is then unchanged.
    fn resume(&self, sha256: &str) -> Result<(), String>;
}

/// What resuming would do to the policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePreview {
    /// The policy file.
    pub path: String,
    /// The change of the file, as a unified diff.
    pub difference: String,
    /// The SHA-256 of the file as it is, in hexadecimal.
    pub sha256: String,
}
