//! Reloads the policy: whether it changed, what the audit log records, and why a policy cannot be used.

use super::error::ReloadError;
use crate::audit::{AuditError, Kind};
use crate::catalog::Plugin;
use crate::grants;
use crate::inner::HostState;
use crate::ledger::blocking;
use crate::open::OpenError;
use crate::places::OwnPlace;
use crate::policy_in_force::{PolicyInForce, PolicyStatus};
use crate::text::{WithCauses, cut};
use serde::Serialize;
use std::sync::Arc;

/// Maximum bytes of a fault that the audit log and the host keep: a message with a line of the policy.
const FAULT_BYTES_MAX: usize = 2048;

/// A policy that took effect, or that could not.
#[derive(Serialize)]
struct PolicyLine<'a> {
    event: &'a str,
    /// The SHA-256 of the policy in force from this line on.
    sha256: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_sha256: Option<&'a str>,
    /// The parts that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// Reads the policy if it is not the one in force.
///
/// # Errors
/// It cannot be read or parsed, or needs more than the host has reserved.
pub(super) async fn changed(host: &Arc<HostState>) -> Result<Option<Arc<PolicyInForce>>, OpenError> {
    let host = Arc::clone(host);
    blocking(move || {
        let read = host.sources.read(&host.approvals)?;
        let before = host.policy();
        if before.is(&read) {
            return Ok(None);
        }
        host.reserved.check(&read.policy)?;
        if before.has_text_of(&read) {
            // A changed policy takes effect even with a bad secret. The call that needs the secret then fails.
            before.check_secrets(&read)?;
        }
        // A network of its own would lose the addresses that the application has forbidden.
        let network = before.network.with_name_servers(read.policy.name_servers());
        Ok(Some(Arc::new(PolicyInForce::new(read, network))))
    })
    .await
}

/// Binds a loaded plugin to the grants of a policy.
pub(super) fn bound(
    host: &HostState,
    policy: &PolicyInForce,
    directories: &[OwnPlace],
    plugin: &Plugin,
) -> Result<Plugin, OpenError> {
    let mut plugin = plugin.unbound();
    grants::check_services(&policy.policy, &plugin, &host.injection)?;
    policy.opening(&host.state, directories).bind(&mut plugin)?;
    host.loader.describe(&mut plugin)?;
    Ok(plugin)
}

/// Records that a new policy takes effect. If this fails, the policy does not take effect.
pub(super) async fn record(host: &HostState, before: &PolicyInForce, policy: &PolicyInForce) -> Result<(), AuditError> {
    let line = PolicyLine {
        event: "replaced",
        sha256: &policy.sha256,
        previous_sha256: Some(&before.sha256),
        changed: before.differences(policy),
        reason: None,
    };
    host.audit.write(Kind::Policy, None::<&()>, &line).await
}

/// Applies what depends on the policy in force.
pub(super) fn took_effect(host: &HostState, policy: &PolicyInForce) {
    host.audit.keep(policy.policy.record().durable);
    host.policy_status.send_replace(PolicyStatus { sha256: policy.sha256.clone(), fault: None });
}

/// Notes why the policy in the files is not in force, or that it is again. Returns a new fault after it is recorded.
pub(super) async fn note(host: &HostState, fault: Option<OpenError>) -> Result<Option<String>, ReloadError> {
    let fault = fault.map(|fault| cut(&WithCauses(&fault).to_string(), FAULT_BYTES_MAX).to_owned());
    let status = host.policy_status.borrow().clone();
    if status.fault == fault {
        return Ok(None);
    }
    let event = if fault.is_some() { "refused" } else { "no longer refused" };
    let (sha256, reason) = (status.sha256.as_str(), fault.as_deref());
    let line = PolicyLine { event, sha256, previous_sha256: None, changed: Vec::new(), reason };
    host.audit.write(Kind::Policy, None::<&()>, &line).await?;
    host.policy_status.send_replace(PolicyStatus { fault: fault.clone(), ..status });
    Ok(fault)
}
