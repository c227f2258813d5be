//! Accepts generated tools that differ from those that were accepted before.

use crate::audit::AuditError;
use crate::catalog::GeneratedChange;
use crate::host::Host;
use std::io;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Why generated tools were not accepted.
#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    /// The audit log cannot be written.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The pin cannot be written.
    #[error("cannot write the pin of the generated tools to the state directory")]
    Pin(#[from] io::Error),
}

impl Host {
    /// Returns the change of a plugin's generated tools that waits to be accepted.
    pub fn generated_change(&self, plugin: &str) -> Option<GeneratedChange> {
        self.catalog().refusal(plugin)?.error.generated_change().cloned()
    }

    /// Accepts generated tools, exactly as in the change. They take effect at the next [`reload`](Host::reload), and
    /// at the next start. Other hosts of the state directory that [watch](Host::watch) reload by themselves.
    ///
    /// # Errors
    /// The audit log or the state directory cannot be written. Nothing is accepted then.
    pub async fn accept(&self, change: &GeneratedChange) -> Result<(), AcceptError> {
        let loader = &self.0.loader;
        let event = format!("accepted the tools that it {}", change.origin.verb());
        // Write the entry first: an acceptance that the audit log does not have must not take effect.
        loader.note(change.plugin(), &change.sha256, &event).await?;
        let (pins, source, next) = (Arc::clone(&loader.pins), change.source.clone(), change.next.clone());
        let replaced = spawn_blocking(move || pins.replace(&source, &next)).await;
        Ok(replaced.map_err(io::Error::other)??)
    }
}
