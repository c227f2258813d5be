//! Reloads the plugin directory and the policy while calls run. New plugins are loaded and get their grants exactly as
//! when the host opens, and then the whole catalog is replaced at once. If a file cannot be loaded, the old plugin
//! stays. If a policy cannot be used, the one in force stays.

mod change;
mod look;
mod policy;

use crate::audit::AuditError;
use crate::call::redecide_left;
use crate::catalog::{BackgroundLoads, Seen};
use crate::host::Inner;
use crate::open::OpenError;
use crate::places::PlaceError;
use crate::policy_in_force::PolicyInForce;
use look::{Found, Look};
use portcullis_policy::{DependencyKey, PluginName};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::sleep;

/// How long to wait after plugins that have loaded in the background could not enter the catalog, because the audit log
/// could not be written.
const ADMIT_RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// The changes of a reload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// New plugins.
    pub added: Vec<PluginName>,
    /// Plugins whose file or description files changed. Remembered approvals do not apply to a tool that changed.
    pub replaced: Vec<PluginName>,
    /// Plugins whose file was removed.
    pub removed: Vec<PluginName>,
    /// Files that are refused now and were not before, or for another reason. Untrusted text. If such a file would
    /// replace a plugin, the old plugin stays.
    pub refused: Vec<String>,
    /// Files that are no longer refused, because they were removed or match the loaded plugin again. Untrusted text.
    pub cleared: Vec<String>,
    /// The SHA-256 of the new policy in force, if it changed.
    pub policy: Option<String>,
    /// Why a changed policy does not take effect, if the reason is new. The previous policy stays in force.
    pub policy_fault: Option<String>,
}

impl Reloaded {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a reload failed. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// The plugin directory cannot be used.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// There is a new directory at the path of the plugins, and a plugin can reach it.
    #[error(
        "the grant {plugin}.{key} overlaps with the new plugin directory, where a plugin could change its own rights. \
         Grant another directory, or put the plugins elsewhere"
    )]
    Covered {
        /// The plugin.
        plugin: PluginName,
        /// The key.
        key: DependencyKey,
    },
    /// A change cannot be recorded.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The policy in force cannot be used with the changed plugins.
    #[error(transparent)]
    Policy(Box<OpenError>),
}

/// Why a reload has no effect.
enum LookError {
    /// The plugin directory, or the audit log.
    Reload(ReloadError),
    /// The new policy is at fault.
    Policy(OpenError),
}

impl From<ReloadError> for LookError {
    fn from(error: ReloadError) -> Self {
        Self::Reload(error)
    }
}

/// Reloads, and then decides again on the approval requests that were left open.
pub(crate) async fn reload(host: &Arc<Inner>) -> Result<Reloaded, ReloadError> {
    let reloaded = look_again(host).await;
    // If this fails, the next reload tries again. Until then each call is decided again before it runs.
    let _ = redecide_left(host).await;
    reloaded
}

/// Puts plugins that load in the background into the catalog as they become ready, until the host is dropped.
pub(crate) async fn admit_loaded(host: Weak<Inner>, background: Arc<BackgroundLoads>) {
    loop {
        background.any_ended().await;
        let Some(host) = host.upgrade() else { return };
        let admitted = admit(&host).await;
        // As after every reload.
        let _ = redecide_left(&host).await;
        drop(host);
        if admitted.is_err() {
            sleep(ADMIT_RETRY_INTERVAL).await;
        }
    }
}

/// Puts what has loaded in the background into the catalog, as a reload does.
async fn admit(host: &Arc<Inner>) -> Result<(), ReloadError> {
    let mut seen = host.seen.lock().await;
    let mut look = Look::new(host, host.loader.plugins.held(), &seen, None);
    for load in host.background().iter().flat_map(|background| background.ended()) {
        look.arrive(load).await;
    }
    let (_, now) = look.take_effect().await?;
    *seen = now;
    Ok(())
}

/// Reads the policy and the files. This runs once at a time, and each run starts from the result of the previous one.
async fn look_again(host: &Arc<Inner>) -> Result<Reloaded, ReloadError> {
    let mut seen = host.seen.lock().await;
    let fault = match policy::changed(host).await {
        Ok(None) => None,
        Ok(Some(policy)) => match look(host, &seen, Some(&policy)).await {
            Ok((reloaded, now)) => {
                *seen = now;
                return Ok(reloaded);
            }
            Err(LookError::Policy(error)) => Some(error),
            Err(LookError::Reload(error)) => {
                // A new policy takes effect even if the plugin directory cannot be read.
                policy_alone(host, &seen, &policy).await?;
                return Err(error);
            }
        },
        Err(error) => Some(error),
    };
    let policy_fault = policy::note(host, fault).await?;
    match look(host, &seen, None).await {
        Ok((reloaded, now)) => {
            *seen = now;
            Ok(Reloaded { policy_fault, ..reloaded })
        }
        Err(LookError::Reload(error)) => Err(error),
        // Without a new policy, this error is about the one in force.
        Err(LookError::Policy(error)) => Err(ReloadError::Policy(Box::new(error))),
    }
}

/// Reloads the files once, under the policy in force or under a new one.
async fn look(
    host: &Arc<Inner>,
    seen: &Seen,
    policy: Option<&Arc<PolicyInForce>>,
) -> Result<(Reloaded, Seen), LookError> {
    let directory = look::directory(host)?;
    let files = look::list(&directory).await.map_err(|error| ReloadError::from(host.loader.plugins.failed(error)))?;
    let mut look = Look::new(host, directory, seen, policy);
    look.without(&files);
    for Found { file, at } in files {
        look.at(file, at).await?;
    }
    look.bind_again().await.map_err(LookError::Policy)?;
    Ok(look.take_effect().await?)
}

/// Applies a new policy to the loaded plugins, without reading the files.
async fn policy_alone(host: &Arc<Inner>, seen: &Seen, policy: &Arc<PolicyInForce>) -> Result<(), ReloadError> {
    let mut look = Look::new(host, host.loader.plugins.held(), seen, Some(policy));
    match look.bind_again().await {
        Ok(()) => look.take_effect().await.map(drop),
        Err(error) => policy::note(host, Some(error)).await.map(drop),
    }
}
