//! The policy that decides calls: one immutable snapshot, which a call takes together with the catalog.
//!
//! A reload makes a new snapshot and never changes one, so a running call keeps the policy that decided it.

use crate::grants::{Bases, Opening, Own};
use crate::places::{HostDirectories, OwnPlace, PolicyFile};
use crate::policy_change::PolicyChangeError;
use crate::policy_source::Read;
use crate::secret_file::SecretFile;
use portcullis_policy::{
    Binding, ClockResolution, InstanceLifetime, Leniency, Limit, Limits, PluginName, Policy, StoreBinding,
};
use portcullis_sandbox::{EngineConfig, Network};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// One policy, with everything that its grants need.
pub(crate) struct PolicyInForce {
    pub(crate) policy: Arc<Policy>,
    /// The SHA-256 of its text, as the audit log names it.
    pub(crate) sha256: String,
    /// A hash of where it was read from. Every version of one policy has the same.
    pub(crate) source: String,
    pub(crate) bases: Bases,
    /// The files it was read from. No grant may contain them.
    pub(crate) files: Vec<PolicyFile>,
    /// The directories where the user's policies are kept. No plugin may change them.
    pub(crate) policy_directories: Vec<OwnPlace>,
    /// The project's policy, if it is not trusted.
    pub(crate) untrusted: Option<PathBuf>,
    /// The files of its secrets, with their stamps from when the policy was read. A changed secret needs new clients.
    pub(crate) secrets: Vec<SecretFile>,
    /// The state that its clients share. All policies of the host share the forbidden addresses.
    pub(crate) network: Network,
}

/// The policy in force, and why it is not the one in the files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyStatus {
    /// The SHA-256 of the policy in force, as decisions of the audit log name it.
    pub sha256: String,
    /// Why the policy in the files cannot be used, if they changed.
    pub fault: Option<String>,
}

/// The limits that the engine reserved memory for when the host opened. A later policy must stay below them.
#[derive(Clone, Copy)]
pub(crate) struct Reserved {
    limits: Limits,
    /// The longest value of any store, in bytes.
    store_value_bytes: u64,
}

/// The limits that determine reserved memory, and how much the transports read.
const RESERVED_LIMITS: [Limit; 12] = [
    Limit::Memory,
    Limit::TableElements,
    Limit::CoreInstances,
    Limit::Tables,
    Limit::Memories,
    Limit::Transfer,
    Limit::Log,
    Limit::Output,
    Limit::HostMemory,
    Limit::Resources,
    Limit::Handles,
    Limit::Arguments,
];

impl PolicyInForce {
    /// Makes a snapshot from a policy that was read and the network that it names.
    pub(crate) fn new(read: Read, network: Network) -> Self {
        let Read { policy, sha256, bases, files, policy_directories, untrusted, secrets, source } = read;
        let policy = Arc::new(policy);
        Self { policy, sha256, source, bases, files, policy_directories, untrusted, secrets, network }
    }

    /// Returns what is needed to open its grants.
    pub(crate) fn opening<'a>(&'a self, state: &'a HostDirectories, plugins: &'a [OwnPlace]) -> Opening<'a> {
        let own = Own { state, plugins, policies: &self.files, policy_directories: &self.policy_directories };
        Opening { policy: &self.policy, bases: &self.bases, own, network: &self.network }
    }

    /// Returns whether the policy that was read is this one, with the same secrets and with the same places of a
    /// trusted project's grants.
    pub(crate) fn is(&self, read: &Read) -> bool {
        self.has_text_of(read) && self.secrets == read.secrets
    }

    /// Returns whether the policy that was read has the same text, trust and places. Its secrets may differ.
    pub(crate) fn has_text_of(&self, read: &Read) -> bool {
        // The grants of an untrusted project have no effect, so their places do not matter.
        let same_places = self.untrusted.is_some() || self.bases.project_grants == read.bases.project_grants;
        self.sha256 == read.sha256 && self.untrusted == read.untrusted && same_places
    }

    /// Checks the secrets whose files changed. A new file is checked by the call that needs it, as after opening a
    /// host.
    pub(crate) fn check_secrets(&self, read: &Read) -> Result<(), PolicyChangeError> {
        let known = |new: &&SecretFile| self.secrets.iter().any(|old| old.path == new.path && old.stamp != new.stamp);
        read.secrets.iter().filter(known).try_for_each(SecretFile::check)
    }

    /// Returns the parts in which two policies differ, in the words of the audit log.
    pub(crate) fn differences(&self, other: &Self) -> Vec<&'static str> {
        let (one, two) = (&*self.policy, &*other.policy);
        let plugins = || one.plugins().chain(two.plugins());
        let parts = [
            ("rules", one.rules() != two.rules() || one.default_decision() != two.default_decision()),
            ("pause", one.paused() != two.paused()),
            ("grants", plugins().any(|plugin| one.bindings(plugin) != two.bindings(plugin))),
            (
                "limits",
                one.default_limits() != two.default_limits() || plugins().any(|p| one.limits(p) != two.limits(p)),
            ),
            ("rate-limits", !same_rate_limits(one, two)),
            ("settings", plugins().any(|plugin| settings(one, plugin) != settings(two, plugin))),
            ("approvals", one.approvals() != two.approvals() || one.notify() != two.notify()),
            ("record", one.record() != two.record()),
            ("network", one.name_servers() != two.name_servers()),
            ("secrets", self.secrets != other.secrets),
            ("trust", self.untrusted != other.untrusted),
        ];
        parts.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part).collect()
    }

    #[cfg(test)]
    pub(crate) fn deny_all() -> Arc<Self> {
        let base = || PathBuf::from(".");
        let bases = Bases {
            user: base().into(),
            user_file: base(),
            project: base().into(),
            project_file: base(),
            project_grants: Vec::new(),
        };
        let network = Network::new(&[]);
        Arc::new(Self {
            policy: Arc::new(Policy::deny_all()),
            sha256: String::new(),
            source: String::new(),
            bases,
            files: Vec::new(),
            policy_directories: Vec::new(),
            untrusted: None,
            secrets: Vec::new(),
            network,
        })
    }
}

impl fmt::Debug for PolicyInForce {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PolicyInForce").field("sha256", &self.sha256).finish_non_exhaustive()
    }
}

impl Reserved {
    /// Returns, for each limit, the largest value that a call under this policy can have.
    pub(crate) fn of(policy: &Policy) -> Self {
        let of_plugins = policy.plugins().map(|plugin| policy.limits(plugin));
        let limits = of_plugins.fold(policy.default_limits(), |largest, limits| largest.max(&limits));
        let bindings = policy.plugins().flat_map(|plugin| policy.bindings(plugin).values());
        let values = bindings.filter_map(|binding| {
            let Binding::Store(store) = binding else { return None };
            Some(store.value_bytes)
        });
        // A later policy may bind a first store.
        Self { limits, store_value_bytes: values.fold(StoreBinding::default().value_bytes, u64::max) }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the engine configuration for this many concurrent calls.
    pub(crate) fn engine(&self, calls: u32) -> EngineConfig {
        let store_value_bytes = usize::try_from(self.store_value_bytes).unwrap_or(usize::MAX);
        EngineConfig { calls, largest: self.limits, store_value_bytes }
    }

    /// Refuses a policy whose calls need more than was reserved: memory that the engine does not have, more than
    /// [`crate::Host::footprint`] returns, or arguments that the transports cut off.
    pub(crate) fn check(&self, policy: &Policy) -> Result<(), PolicyChangeError> {
        let wanted = Self::of(policy);
        let is_above = |limit: &Limit| wanted.limits.get(*limit) > self.limits.get(*limit);
        match RESERVED_LIMITS.into_iter().find(is_above) {
            Some(limit) => Err(PolicyChangeError::Unreserved { limit: format!("limits.{}", limit.key()) }),
            None if wanted.store_value_bytes > self.store_value_bytes => {
                Err(PolicyChangeError::Unreserved { limit: "`value-bytes` of a store".to_owned() })
            }
            None => Ok(()),
        }
    }
}

/// Returns whether two policies have the same rate limits, on whatever lines.
fn same_rate_limits(one: &Policy, two: &Policy) -> bool {
    let texts = |policy: &Policy| policy.rate_limits().iter().map(|limit| Arc::clone(limit.text())).collect::<Vec<_>>();
    texts(one) == texts(two)
}

/// Returns a policy's settings of a plugin other than its grants and its limits.
fn settings<'a>(
    policy: &'a Policy,
    plugin: &PluginName,
) -> (&'a BTreeMap<String, String>, ClockResolution, InstanceLifetime, Leniency, Leniency) {
    let (clock, instance) = (policy.clock(plugin), policy.instance(plugin));
    (policy.config(plugin), clock, instance, policy.repair(plugin), policy.unvalidated(plugin))
}
