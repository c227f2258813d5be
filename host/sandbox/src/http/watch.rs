//! The secrets that the host searches for. What a plugin receives is searched for the secrets bound to it. What it
//! returns or logs is searched for every secret that the host has opened.

use super::client::Client;
use super::network::Network;
use super::opened_secrets::{OpenedSecrets, union};
use super::redact::Redactor;
use super::secret::Vault;
use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Arc, Mutex};

/// The secrets of one plugin. All calls of the plugin share it.
#[derive(Default)]
pub struct PluginSecrets {
    vaults: Vec<Arc<Vault>>,
    opened: Arc<OpenedSecrets>,
    own: Mutex<OwnRedactor>,
}

/// The redactors of the plugin's own secrets that are open.
#[derive(Default)]
struct OwnRedactor {
    opened: usize,
    whole: Option<Arc<Redactor>>,
}

impl PluginSecrets {
    /// Collects the secrets of all clients that are bound to a plugin, whether or not a call gets them.
    pub fn new<'a>(network: &Network, clients: impl IntoIterator<Item = &'a Client>) -> Self {
        let vaults = clients.into_iter().filter_map(Client::any_vault).map(Arc::clone).collect();
        Self { vaults, opened: Arc::clone(network.opened_secrets()), own: Mutex::default() }
    }

    /// Returns the redactor for what the plugin receives.
    pub(super) fn incoming(&self) -> Option<Arc<Redactor>> {
        match self.opened_count() {
            0 => None,
            count => self.own(count),
        }
    }

    fn opened_count(&self) -> usize {
        self.vaults.iter().filter(|vault| vault.redactor().is_some()).count()
    }

    /// Returns the redactor of the `count` open secrets. It is rebuilt only if their number changed.
    fn own(&self, count: usize) -> Option<Arc<Redactor>> {
        let mut own = self.own.lock_recovered();
        if own.opened != count {
            let mut parts: Vec<Arc<Redactor>> = Vec::new();
            for redactor in self.vaults.iter().filter_map(|vault| vault.redactor()) {
                if !parts.iter().any(|known| Arc::ptr_eq(known, redactor)) {
                    parts.push(Arc::clone(redactor));
                }
            }
            // If there are too many, search for all secrets of the host, which include the plugin's.
            own.whole = union(&parts).or_else(|| self.opened.whole());
            own.opened = count;
        }
        own.whole.clone()
    }

    /// Returns the redactor for what the plugin returns or logs. It searches for every secret of the host.
    pub(super) fn outgoing(&self) -> Option<Arc<Redactor>> {
        self.opened.whole()
    }

    /// Opens the plugin's secrets that need no program.
    pub(crate) async fn open_at_hand(self: &Arc<Self>) {
        self.open(|vault| !vault.is_from_command()).await;
    }

    /// Opens the plugin's secrets before the first byte of a response can arrive. A secret that cannot be opened cannot
    /// be searched for, and is not sent either.
    pub(super) async fn open_all(self: &Arc<Self>) {
        self.open(|_| true).await;
    }

    async fn open(self: &Arc<Self>, wanted: impl Fn(&Vault) -> bool) {
        let due = self.vaults.iter().filter(|vault| vault.is_due() && wanted(vault));
        // In separate tasks, so that a caller that stops waiting does not make the next one start again.
        let tasks: Vec<_> = due.map(|vault| tokio::spawn(Arc::clone(vault).look_up())).collect();
        for task in tasks {
            // The vault stores the result, also a failure.
            let _ = task.await;
        }
        let count = self.opened_count();
        if count > 1 && self.own.lock_recovered().opened != count {
            // Building the search for several secrets takes a while.
            let this = Arc::clone(self);
            let _ = tokio::task::spawn_blocking(move || this.own(count)).await;
        }
    }
}
