//! A store for calls that wait for their client to come back. Each entry has an unguessable id, belongs to one
//! principal, and expires. The number of entries is limited.

use data_encoding::HEXLOWER;
use portcullis::policy::Principal;
use portcullis::policy::recovery::RecoverMutex;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use tokio::task::AbortHandle;

/// Maximum entries of one principal: more calls than one person's agents have waiting at one time.
const PRINCIPAL_ENTRIES_MAX: usize = 64;

/// Maximum entries in all. Each holds a waiting call, or a reply of at most the maximum output size.
const ENTRIES_MAX: usize = 256;

/// A map of expiring entries by id.
pub(crate) struct TimedShelf<T>(Arc<Mutex<HashMap<String, ShelfEntry<T>>>>);

struct ShelfEntry<T> {
    principal: Principal,
    value: T,
    /// Removes the entry when it expires.
    _timer: Timer,
}

struct Timer(AbortHandle);

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Default for TimedShelf<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Send + 'static> TimedShelf<T> {
    /// Stores a value for a principal until `lifetime` is over, changed by `kept`. Returns its id, or the unchanged
    /// value if there is no room or the system's random number generator fails.
    pub(crate) fn put(
        &self,
        principal: &Principal,
        mut value: T,
        lifetime: Duration,
        kept: impl FnOnce(&mut T),
    ) -> Result<String, T> {
        let Some(id) = random_id() else { return Err(value) };
        let mut entries = self.lock();
        let own = entries.values().filter(|entry| entry.principal == *principal).count();
        if entries.len() >= ENTRIES_MAX || own >= PRINCIPAL_ENTRIES_MAX {
            return Err(value);
        }
        kept(&mut value);
        // A weak reference, so that a timer does not keep the calls of a server that has ended.
        let timer = Timer(tokio::spawn(expire(Arc::downgrade(&self.0), id.clone(), lifetime)).abort_handle());
        entries.insert(id.clone(), ShelfEntry { principal: principal.clone(), value, _timer: timer });
        Ok(id)
    }

    /// Removes and returns a value of this principal.
    pub(crate) fn take(&self, principal: &Principal, id: &str) -> Option<T> {
        let mut entries = self.lock();
        entries.get(id).filter(|entry| entry.principal == *principal)?;
        entries.remove(id).map(|entry| entry.value)
    }

    /// Reads or changes a value of this principal.
    pub(crate) fn look<R>(&self, principal: &Principal, id: &str, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.lock().get_mut(id).filter(|entry| entry.principal == *principal).map(|entry| look(&mut entry.value))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, ShelfEntry<T>>> {
        self.0.lock_recovered()
    }
}

/// Drops an entry when it expires.
async fn expire<T>(entries: Weak<Mutex<HashMap<String, ShelfEntry<T>>>>, id: String, lifetime: Duration) {
    tokio::time::sleep(lifetime).await;
    let Some(entries) = entries.upgrade() else { return };
    let expired = entries.lock_recovered().remove(&id);
    // Dropped after the lock is released, because dropping a call may take time.
    drop(expired);
}

/// Returns 128 random bits in hexadecimal.
fn random_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(HEXLOWER.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(name: &str) -> Principal {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn an_entry_belongs_to_its_principal_and_is_taken_once() {
        let (shelf, alice, bob) = (TimedShelf::default(), principal("alice"), principal("bob"));
        let id = shelf.put(&alice, 7, Duration::from_secs(60), |_| ()).unwrap();
        assert_eq!((id.len(), shelf.look(&bob, &id, |value| *value), shelf.take(&bob, &id)), (32, None, None));
        assert_eq!((shelf.look(&alice, &id, |value| *value), shelf.take(&alice, &id)), (Some(7), Some(7)));
        assert_eq!((shelf.look(&alice, &id, |value| *value), shelf.take(&alice, &id)), (None, None));
    }

    #[tokio::test]
    async fn entries_are_limited_per_principal_and_in_all() {
        let shelf = TimedShelf::default();
        let mut kept = 0;
        for name in 0.. {
            let principal = principal(&format!("p{name}"));
            let mut own = 0;
            while shelf.put(&principal, (), Duration::from_secs(60), |_| ()).is_ok() {
                own += 1;
            }
            kept += own;
            if own < PRINCIPAL_ENTRIES_MAX {
                assert_eq!(own, 0);
                break;
            }
        }
        assert_eq!(kept, ENTRIES_MAX);
    }

    #[tokio::test]
    async fn an_entry_is_dropped_when_it_expires() {
        let (shelf, alice) = (TimedShelf::default(), principal("alice"));
        let value = Arc::new(());
        let stays = shelf.put(&alice, Arc::default(), Duration::from_secs(3600), |_| ()).unwrap();
        let id = shelf.put(&alice, Arc::clone(&value), Duration::from_millis(1), |_| ()).unwrap();
        // The value is dropped, not only hidden.
        while Arc::strong_count(&value) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(shelf.look(&alice, &id, |_| ()).is_none());
        assert!(shelf.look(&alice, &stays, |_| ()).is_some());
    }
}
