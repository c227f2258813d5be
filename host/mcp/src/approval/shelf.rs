//! A place for what waits for a client to come back: under an id that nobody guesses, for the principal that it belongs
//! to and for no other, only so many of them, and only for so long.

use portcullis::policy::Principal;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::task::AbortHandle;

/// The most entries of one principal: more calls than one person's agents have waiting at one time.
const PRINCIPAL_ENTRIES_MAX: usize = 64;

/// The most entries in all. Each holds a call that waits, or its reply, of the size of an output at the most.
const ENTRIES_MAX: usize = 256;

/// Things by id. Clones share them.
pub(crate) struct Shelf<T>(Arc<Mutex<HashMap<String, Entry<T>>>>);

struct Entry<T> {
    principal: Principal,
    value: T,
    /// Takes it away when its time is over.
    _timer: Timer,
}

struct Timer(AbortHandle);

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Send + 'static> Shelf<T> {
    /// Keeps a thing for a principal and for a time, after which it is dropped. Answers its id, or gives the thing back
    /// where there is no room, or no randomness for an id.
    pub(crate) fn put(&self, principal: &Principal, value: T, lifetime: Duration) -> Result<String, T> {
        let Some(id) = random_id() else { return Err(value) };
        let mut entries = self.lock();
        let own = entries.values().filter(|entry| entry.principal == *principal).count();
        if entries.len() >= ENTRIES_MAX || own >= PRINCIPAL_ENTRIES_MAX {
            return Err(value);
        }
        let timer = Timer(tokio::spawn(expire(Arc::downgrade(&self.0), id.clone(), lifetime)).abort_handle());
        entries.insert(id.clone(), Entry { principal: principal.clone(), value, _timer: timer });
        Ok(id)
    }

    /// Takes a thing of this principal away.
    pub(crate) fn take(&self, principal: &Principal, id: &str) -> Option<T> {
        let mut entries = self.lock();
        entries.get(id).filter(|entry| entry.principal == *principal)?;
        entries.remove(id).map(|entry| entry.value)
    }

    /// Looks at a thing of this principal.
    pub(crate) fn look<R>(&self, principal: &Principal, id: &str, look: impl FnOnce(&T) -> R) -> Option<R> {
        self.lock().get(id).filter(|entry| entry.principal == *principal).map(|entry| look(&entry.value))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops an entry when its time is over.
async fn expire<T>(entries: Weak<Mutex<HashMap<String, Entry<T>>>>, id: String, lifetime: Duration) {
    tokio::time::sleep(lifetime).await;
    let Some(entries) = entries.upgrade() else { return };
    let expired = entries.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    // Dropped after the lock is given back: what a dropped call does is not for this lock to wait for.
    drop(expired);
}

/// 128 random bits in hexadecimal.
fn random_id() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(name: &str) -> Principal {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn what_is_kept_is_its_principals_alone_and_taken_once() {
        let (shelf, alice, bob) = (Shelf::default(), principal("alice"), principal("bob"));
        let id = shelf.put(&alice, 7, Duration::from_secs(60)).unwrap();
        assert_eq!((id.len(), shelf.look(&bob, &id, |value| *value), shelf.take(&bob, &id)), (32, None, None));
        assert_eq!((shelf.look(&alice, &id, |value| *value), shelf.take(&alice, &id)), (Some(7), Some(7)));
        assert_eq!((shelf.look(&alice, &id, |value| *value), shelf.take(&alice, &id)), (None, None));
    }

    #[tokio::test]
    async fn there_is_room_for_so_many_of_a_principal_and_in_all() {
        let shelf = Shelf::default();
        let mut kept = 0;
        for name in 0.. {
            let principal = principal(&format!("p{name}"));
            let mut own = 0;
            while shelf.put(&principal, (), Duration::from_secs(60)).is_ok() {
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
    async fn what_is_kept_goes_when_its_time_is_over() {
        let (shelf, alice) = (Shelf::default(), principal("alice"));
        let value = Arc::new(());
        let stays = shelf.put(&alice, Arc::default(), Duration::from_secs(3600)).unwrap();
        let id = shelf.put(&alice, Arc::clone(&value), Duration::from_millis(1)).unwrap();
        // It is dropped, and not only hidden.
        while Arc::strong_count(&value) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(shelf.look(&alice, &id, |_| ()).is_none());
        assert!(shelf.look(&alice, &stays, |_| ()).is_some());
    }
}
