//! The files that a policy reads secrets from.

use crate::grants::Bases;
use crate::places::{self, FileStamp};
use crate::policy_change::PolicyChangeError;
use portcullis_policy::{Binding, DependencyKey, HttpBinding, PluginName, Policy, SecretSlot, SecretSource};
use portcullis_sandbox::{PathBase, check_secret_file};
use std::path::PathBuf;

/// A file that contains a secret.
pub(crate) struct SecretFile {
    plugin: PluginName,
    key: DependencyKey,
    base: PathBase,
    /// The path in the policy.
    written: String,
    pub(crate) path: PathBuf,
    slot: SecretSlot,
    pub(crate) stamp: Option<FileStamp>,
}

impl PartialEq for SecretFile {
    fn eq(&self, other: &Self) -> bool {
        // `path` consists of `base` and `written`.
        (&self.plugin, &self.key, &self.path, &self.slot, &self.stamp)
            == (&other.plugin, &other.key, &other.path, &other.slot, &other.stamp)
    }
}

impl SecretFile {
    /// Returns the secrets that a policy reads from files, as they are now.
    pub(crate) fn of(policy: &Policy, bases: &Bases) -> Vec<Self> {
        let mut secrets = Vec::new();
        for plugin in policy.plugins() {
            for (key, binding) in policy.bindings(plugin) {
                let Binding::Http(http) = binding else { continue };
                let HttpBinding { secret: Some(secret), .. } = &**http else { continue };
                let SecretSource::File(written) = &secret.from else { continue };
                let base = bases.of(policy.binding_layer(plugin, key)).clone();
                let path = base.join(written);
                secrets.push(Self {
                    plugin: plugin.clone(),
                    key: key.clone(),
                    base,
                    written: written.clone(),
                    stamp: places::stamp(&path),
                    path,
                    slot: secret.slot.clone(),
                });
            }
        }
        secrets
    }

    pub(crate) fn check(&self) -> Result<(), PolicyChangeError> {
        check_secret_file(&self.base, &self.written, &self.slot).map_err(|why| PolicyChangeError::Secret {
            plugin: self.plugin.clone(),
            key: self.key.clone(),
            why,
        })
    }
}
