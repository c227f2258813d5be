//! Reloads the plugin directories and the policy while calls run. New plugins are loaded and get their grants exactly
//! as when the host opens, and then the whole catalog is replaced at once. If a file cannot be loaded, the old plugin
//! stays. If a policy cannot be used, the one in force stays.

mod change;
mod error;
mod look;
mod policy;
mod register;
mod reloaded;
mod verify;

pub use error::ReloadError;
pub(crate) use look::grant;
pub use register::{ComponentPlugin, RegisterError, Registration, UnregisterError};
pub(crate) use register::{register, unregister};
pub use reloaded::Reloaded;
pub(crate) use verify::verify;

use crate::call::redecide_left;
use crate::catalog::{BackgroundLoads, Seen};
use crate::inner::HostState;
use crate::open::OpenError;
use crate::policy_in_force::PolicyInForce;
use look::ReloadLook;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::sleep;

/// How long to wait after plugins that have loaded in the background could not enter the catalog, because the audit log
/// could not be written.
const ADMIT_RETRY_INTERVAL: Duration = Duration::from_secs(2);

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
pub(crate) async fn reload(host: &Arc<HostState>) -> Result<Reloaded, ReloadError> {
    let reloaded = look_again(host).await;
    // If this fails, the next reload tries again. Until then each call is decided again before it runs.
    let _ = redecide_left(host).await;
    reloaded
}

/// Puts plugins that load in the background into the catalog as they become ready, until the host is dropped.
pub(crate) async fn admit_loaded(host: Weak<HostState>, background: Arc<BackgroundLoads>) {
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
async fn admit(host: &Arc<HostState>) -> Result<(), ReloadError> {
    let mut seen = host.seen.lock().await;
    let mut look = ReloadLook::new(host, host.loader.plugins.held(), &seen, None);
    for load in host.background().iter().flat_map(|background| background.ended()) {
        look.arrive(load).await;
    }
    let (_, now) = look.take_effect().await?;
    *seen = now;
    Ok(())
}

/// Reads the policy and the files. This runs once at a time, and each run starts from the result of the previous one.
async fn look_again(host: &Arc<HostState>) -> Result<Reloaded, ReloadError> {
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
    // A policy at fault does not keep changed plugins from being loaded, under the policy in force.
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
    host: &Arc<HostState>,
    seen: &Seen,
    policy: Option<&Arc<PolicyInForce>>,
) -> Result<(Reloaded, Seen), LookError> {
    let directories = look::directories(host)?;
    let files = look::list(&directories).await?;
    let mut look = ReloadLook::new(host, directories, seen, policy);
    look.without(&files);
    for file in files {
        look.at(file).await?;
    }
    // This comes before `bind_again`, after which every plugin is a new one.
    let old = look.old();
    look.bind_again().await.map_err(LookError::Policy)?;
    look.generate_again(old).await?;
    look.serve().await?;
    Ok(look.take_effect().await?)
}

/// Applies a new policy to the loaded plugins, without reading the files.
async fn policy_alone(host: &Arc<HostState>, seen: &Seen, policy: &Arc<PolicyInForce>) -> Result<(), ReloadError> {
    let mut look = ReloadLook::new(host, host.loader.plugins.held(), seen, Some(policy));
    let old = look.old();
    match look.bind_again().await {
        Ok(()) => {
            look.generate_again(old).await?;
            look.serve().await?;
            look.take_effect().await.map(drop)
        }
        Err(error) => policy::note(host, Some(error)).await.map(drop),
    }
}
