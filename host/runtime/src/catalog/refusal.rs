//! Remembered refusals: why a file could not be compiled or described, so that the next start does not pay for it
//! again.
//!
//! A refusal is kept under the same seal as code, and for the same bytes, engine and version of the host. It applies
//! until the limits change or the file is touched. The machine may be to blame for some refusals: such a file is tried
//! again after a time that doubles with each attempt.

use super::file::Sighting;
use super::load_error::LoadError;
use super::loader::{self, Loader};
use super::plugin_file::PluginBytes;
use crate::audit::AuditError;
use crate::ledger::blocking;
use crate::open::OpenError;
use crate::places::{self, HostDirectories};
use portcullis_policy::PluginName;
use portcullis_sandbox::{CodeStore, CompileError, Engine, Entry, Fetched, Refusal};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::spawn_blocking;

/// How long the first refusal applies that the machine may have caused. An overloaded machine has recovered by then.
const RETRY_AFTER_MIN: Duration = Duration::from_secs(10 * 60);

/// Maximum time that such a refusal applies. A file that exhausts the compiler costs minutes, but only once a day.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A stored refusal.
#[derive(Serialize, Deserialize)]
struct KeptRefusal {
    /// The limits of the attempt.
    limits: String,
    /// When the attempt began, in milliseconds since 1970.
    began_ms: u64,
    /// How many attempts in a row ended in a refusal.
    attempts: u32,
    reason: RefusalReason,
}

/// Why a file was refused.
#[derive(Serialize, Deserialize)]
enum RefusalReason {
    Uncompilable(String),
    Mismatch(String),
    Exhausted,
    Undescribed(String),
    Unstable,
}

impl RefusalReason {
    /// Returns the reason to store, if compiling or describing the file was expensive and would be again.
    fn of(error: &LoadError) -> Option<Self> {
        match error {
            LoadError::Refused(Refusal::Mismatch(text)) => Some(Self::Mismatch(text.clone())),
            LoadError::Compile(CompileError::Refused(Refusal::Uncompilable(text))) => {
                Some(Self::Uncompilable(text.clone()))
            }
            LoadError::Compile(CompileError::Exhausted) => Some(Self::Exhausted),
            LoadError::Describe(text) => Some(Self::Undescribed(text.clone())),
            LoadError::Unstable => Some(Self::Unstable),
            // The host finds these without compiling, or the file did not cause them.
            LoadError::Refused(_) | LoadError::Compile(CompileError::Refused(_)) => None,
            LoadError::Compile(CompileError::Worker(_) | CompileError::NoWorker(_)) => None,
            // Another program may compile it at any time.
            LoadError::Compile(CompileError::NoCompiler) => None,
            LoadError::File(_) | LoadError::Definition(_) | LoadError::Descriptions(_) => None,
            LoadError::Changed | LoadError::Altered => None,
            LoadError::Grants(_) | LoadError::Generation(_) | LoadError::Preparation(_) | LoadError::Audit(_) => None,
            LoadError::Server(_) => None,
        }
    }

    fn into_error(self) -> LoadError {
        match self {
            Self::Uncompilable(text) => CompileError::Refused(Refusal::Uncompilable(text)).into(),
            Self::Mismatch(text) => Refusal::Mismatch(text).into(),
            Self::Exhausted => CompileError::Exhausted.into(),
            Self::Undescribed(text) => LoadError::Describe(text),
            Self::Unstable => LoadError::Unstable,
        }
    }

    /// Returns whether another attempt with the same bytes may end differently, because time and memory depend on other
    /// load.
    fn is_transient(&self) -> bool {
        match self {
            Self::Exhausted | Self::Undescribed(_) | Self::Unstable => true,
            Self::Uncompilable(_) | Self::Mismatch(_) => false,
        }
    }
}

impl KeptRefusal {
    /// Returns whether the refusal still applies to a file that was last changed at `changed_ms`. Both times are in
    /// milliseconds since 1970.
    fn counts(&self, limits: &str, changed_ms: u64, now_ms: u64) -> bool {
        let touched = changed_ms > self.began_ms;
        // A clock that was set back must not make a refusal apply for years.
        let age = now_ms.checked_sub(self.began_ms).map(Duration::from_millis);
        let fresh = age.is_some_and(|age| !self.reason.is_transient() || age < self.retry_after());
        self.limits == limits && !touched && fresh
    }

    fn retry_after(&self) -> Duration {
        let doublings = self.attempts.saturating_sub(1).min(u32::BITS - 1);
        RETRY_AFTER_MIN.saturating_mul(1 << doublings).min(RETRY_AFTER_MAX)
    }
}

/// Returns whether a refusal with this error is remembered.
pub(super) fn is_remembered(error: &LoadError) -> bool {
    RefusalReason::of(error).is_some()
}

/// An attempt to compile and describe a file.
pub(super) struct Attempt {
    began_ms: u64,
    /// Number of earlier attempts in a row that were refused.
    earlier: u32,
}

impl Loader {
    /// Begins an attempt to compile and describe a file.
    ///
    /// # Errors
    /// The file was refused, and that refusal still applies.
    pub(super) async fn attempt(&self, name: &PluginName, content: &PluginBytes) -> Result<Attempt, LoadError> {
        let began_ms = now_ms();
        let kept = self.kept_refusal(name, content).await?;
        match kept {
            Some(kept) if kept.counts(&self.limits(), content.sighting.changed_ms(), began_ms) => {
                Err(kept.reason.into_error())
            }
            Some(kept) => Ok(Attempt { began_ms, earlier: kept.attempts }),
            None => Ok(Attempt { began_ms, earlier: 0 }),
        }
    }

    /// Returns why a file is refused, if its last refusal still applies. The bytes are not needed for that. Blocks.
    pub(super) fn refusal_in_force(&self, sighting: &Sighting) -> Option<LoadError> {
        let Fetched::Hit(kept) = self.store.fetch(Entry::Refusal, &sighting.sha256) else { return None };
        let kept: KeptRefusal = serde_json::from_slice(&kept).ok()?;
        kept.counts(&self.limits(), sighting.changed_ms(), now_ms()).then(|| kept.reason.into_error())
    }

    /// Stores the result of an attempt. If that fails, the next start tries again.
    pub(super) async fn conclude(&self, attempt: &Attempt, content: &PluginBytes, made: Result<(), &LoadError>) {
        let (store, plugin) = (Arc::clone(&self.store), content.sha256);
        let _ = match made.map_err(RefusalReason::of) {
            Ok(()) if attempt.earlier > 0 => spawn_blocking(move || store.remove(Entry::Refusal, &plugin)).await,
            Ok(()) | Err(None) => return,
            Err(Some(reason)) => {
                let attempts = attempt.earlier.saturating_add(1);
                let kept = KeptRefusal { limits: self.limits(), began_ms: attempt.began_ms, attempts, reason };
                let Ok(bytes) = serde_json::to_vec(&kept) else { return };
                spawn_blocking(move || store.put(Entry::Refusal, &plugin, &bytes)).await
            }
        };
    }

    async fn kept_refusal(&self, name: &PluginName, content: &PluginBytes) -> Result<Option<KeptRefusal>, LoadError> {
        let (store, plugin) = (Arc::clone(&self.store), content.sha256);
        match loader::blocking(move || Ok(store.fetch(Entry::Refusal, &plugin))).await? {
            Fetched::Hit(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Fetched::Miss => Ok(None),
            Fetched::Rejected(reason) => {
                self.note(name, &content.sha256, &format!("cached refusal not used: {reason}")).await?;
                Ok(None)
            }
        }
    }

    /// Describes everything that a refusal depends on, apart from the bytes, the engine and the version of the host.
    fn limits(&self) -> String {
        format!("{}; {}; {}", self.compiler.limits(), self.engine.limits(), super::describing::limits_text())
    }
}

/// Forgets why a plugin was refused, so that the next host of a state directory tries it again. Call it after
/// [`check`](crate::plugins::check) has found that the plugin loads.
///
/// # Errors
/// The state directory cannot be used, or the entry cannot be removed.
pub async fn forget_refusal(state: &Path, plugin: &[u8], engine: &Engine) -> Result<(), OpenError> {
    let (state, sha256, engine) = (state.to_owned(), Sha256::digest(plugin).into(), engine.clone());
    blocking(move || {
        if places::stamp(&state).is_none() {
            // A missing state directory has no refusals, so do not create it.
            return Ok(());
        }
        let state = HostDirectories::open(&state.into())?;
        let store = CodeStore::new(state.cache, &state.key, engine.fingerprint());
        let removed = store.remove(Entry::Refusal, &sha256);
        removed.map_err(|error| AuditError::Io(io::Error::other(error)).into())
    })
    .await
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60 * 1000;
    const DAY: u64 = 24 * 60 * MINUTE;
    const BEGAN: u64 = 1000 * DAY;

    fn kept(attempts: u32, reason: RefusalReason) -> KeptRefusal {
        KeptRefusal { limits: "limits".to_owned(), began_ms: BEGAN, attempts, reason }
    }

    #[test]
    fn a_refusal_for_its_bytes_counts_until_the_file_is_touched_or_the_limits_change() {
        let kept = kept(1, RefusalReason::Uncompilable(String::new()));
        assert!(kept.counts("limits", BEGAN - 1, BEGAN + 1000 * DAY));
        assert!(!kept.counts("limits", BEGAN + 1, BEGAN + MINUTE), "touched");
        assert!(!kept.counts("others", BEGAN - 1, BEGAN + MINUTE), "other limits");
        assert!(!kept.counts("limits", BEGAN - 1, BEGAN - 1), "from the future");
    }

    #[test]
    fn a_refusal_that_the_machine_may_have_caused_is_retried_with_growing_delays() {
        for (attempts, minutes) in [(1, 10), (2, 20), (3, 40), (8, 1280), (9, 24 * 60), (u32::MAX, 24 * 60)] {
            for reason in [RefusalReason::Exhausted, RefusalReason::Undescribed(String::new()), RefusalReason::Unstable]
            {
                let kept = kept(attempts, reason);
                assert!(kept.counts("limits", BEGAN, BEGAN + minutes * MINUTE - 1), "{attempts}");
                assert!(!kept.counts("limits", BEGAN, BEGAN + minutes * MINUTE), "{attempts}");
            }
        }
    }
}
