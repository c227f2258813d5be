//! The secrets that the host searches for. What a plugin receives is searched for the secrets bound to it. What it
//! returns or logs is searched for every secret that the host has opened.

use super::client::Client;
use super::network::Network;
use super::redact::Redactor;
use super::secret::{SecretError, Vault};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Maximum length of all spellings that a host searches for, in bytes: about 1500 ordinary tokens, or 7 secrets of the
/// maximum length. The search needs 12 times as much memory.
const SPELLED_BYTES_MAX: usize = 2 << 20;

/// The secrets that the clients of one network have opened. A secret stays in the list after its policy is gone, while
/// there is room, because it may still be valid.
#[derive(Default)]
pub(super) struct OpenedSecrets {
    known: RwLock<KnownSecrets>,
    /// Held while a secret is added. Readers do not take it, so they do not wait while the search is built.
    adding: Mutex<()>,
}

#[derive(Default)]
struct KnownSecrets {
    parts: Vec<Arc<Redactor>>,
    whole: Option<Arc<Redactor>>,
}

impl OpenedSecrets {
    /// Adds a secret before its first use. Returns its redactor.
    ///
    /// # Errors
    /// There is no room for another secret.
    pub(super) fn add(&self, redactor: Redactor) -> Result<Arc<Redactor>, SecretError> {
        self.add_within(redactor, SPELLED_BYTES_MAX)
    }

    fn add_within(&self, redactor: Redactor, bytes_max: usize) -> Result<Arc<Redactor>, SecretError> {
        let _adding = lock(&self.adding);
        let mut parts = self.known.read().unwrap_or_else(PoisonError::into_inner).parts.clone();
        if let Some(known) = parts.iter().find(|known| known.is_same(&redactor)) {
            return Ok(Arc::clone(known));
        }
        let spelled = |parts: &[Arc<Redactor>]| parts.iter().map(|part| part.spelled_bytes()).sum::<usize>();
        if spelled(&parts) + redactor.spelled_bytes() > bytes_max {
            // Only this list and its copy still refer to a secret of a policy that is gone.
            parts.retain(|part| Arc::strong_count(part) > 2);
        }
        let redactor = Arc::new(redactor);
        parts.push(Arc::clone(&redactor));
        if spelled(&parts) > bytes_max {
            return Err(SecretError::Many);
        }
        let whole = union(&parts).ok_or(SecretError::Many)?;
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = KnownSecrets { parts, whole: Some(whole) };
        Ok(redactor)
    }

    /// Returns the redactor of all opened secrets, or `None` if there are none.
    fn whole(&self) -> Option<Arc<Redactor>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).whole.clone()
    }
}

fn union(parts: &[Arc<Redactor>]) -> Option<Arc<Redactor>> {
    match parts {
        [one] => Some(Arc::clone(one)),
        parts => Redactor::union(parts).map(Arc::new),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

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
        let mut own = lock(&self.own);
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
        if count > 1 && lock(&self.own).opened != count {
            // Building the search for several secrets takes a while.
            let this = Arc::clone(self);
            let _ = tokio::task::spawn_blocking(move || this.own(count)).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_is_known_is_not_added_again() {
        let opened = OpenedSecrets::default();
        assert!(opened.whole().is_none());
        let first = opened.add(Redactor::new(&["first-secret"]).unwrap()).unwrap();
        let again = opened.add(Redactor::new(&["first-secret"]).unwrap()).unwrap();
        assert!(Arc::ptr_eq(&first, &again) && Arc::ptr_eq(&first, &opened.whole().unwrap()));
        opened.add(Redactor::new(&["other-secret"]).unwrap()).unwrap();
        assert_eq!(opened.whole().unwrap().text("first-secret, other-secret").unwrap().1, 2);
    }

    #[test]
    fn a_secret_for_which_there_is_no_room_is_not_opened() {
        let opened = OpenedSecrets::default();
        let redactor = |value: &str| Redactor::new(&[value]).unwrap();
        let bytes_max = redactor("first-secret").spelled_bytes();
        let held = opened.add_within(redactor("first-secret"), bytes_max).unwrap();
        assert!(matches!(opened.add_within(redactor("second-secret"), bytes_max), Err(SecretError::Many)));
        let whole = opened.whole().unwrap();
        assert!(whole.text("first-secret").is_some() && whole.text("second-secret").is_none());
        drop((held, whole));
    }

    #[test]
    fn a_secret_of_a_policy_that_is_gone_makes_room() {
        let opened = OpenedSecrets::default();
        let redactor = |value: &str| Redactor::new(&[value]).unwrap();
        let held = opened.add(redactor("first-secret")).unwrap();
        drop(opened.add(redactor("second-secret")).unwrap());
        let bytes_max = ["first-secret", "third-secret"].map(|value| redactor(value).spelled_bytes()).iter().sum();
        drop(opened.add_within(redactor("third-secret"), bytes_max).unwrap());
        let whole = opened.whole().unwrap();
        let found = ["first-secret", "second-secret", "third-secret"].map(|value| whole.text(value).is_some());
        assert_eq!(found, [true, false, true]);
        drop(held);
    }
}
