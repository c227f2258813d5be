//! Handles to stores of plugins, which a call gets for keys that the policy binds to a store.
//!
//! Stores are in the ledger. A store belongs to the name of a plugin. So an update keeps its data, and any other plugin
//! of that name gets the data too, but only the user can install one. A guest can only name keys in its store.

use crate::ledger::{
    CallLedger, Durable, FoundValue, LedgerChange, LedgerError, Page, Sharing, StoreName, StoreQuota, Unstored,
    blocking, is_busy, is_disk_full, milliseconds,
};
use portcullis_policy::{Access, DependencyKey, PluginName, StoreBinding, StoreScope};
use portcullis_sandbox::{BoxFuture, Store, StoreFault, StorePage};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a session's store is kept after its last use. A conversation that was not continued for a month has ended.
const SESSION_KEPT: Duration = Duration::from_hours(30 * 24);

/// Maximum stores that are deleted when a host opens, so that it opens quickly. The next host deletes more.
const EMPTIED_MAX: i64 = 128;

/// The stores of a state directory. Clones share them.
#[derive(Clone)]
pub(crate) struct Stores(Arc<CallLedger>);

impl Stores {
    /// Opens the stores in a ledger, and deletes stores of sessions that have not been used for long.
    ///
    /// # Errors
    /// The ledger cannot be read or written.
    pub(crate) fn new(ledger: Arc<CallLedger>) -> Result<Self, LedgerError> {
        let before = |change: &LedgerChange<'_>| change.now().saturating_sub(milliseconds(SESSION_KEPT));
        // Check first with a read, because opening a host for one call should not wait for other writers.
        if ledger.look(|change| change.has_unused_stores(before(change)))? {
            ledger.change(Durable::Process, |change| change.empty_unused_stores(before(change), EMPTIED_MAX))?;
        }
        Ok(Self(ledger))
    }

    /// Returns the store that a call of a plugin gets for a key.
    pub(crate) fn grant(
        &self,
        (plugin, key): (&PluginName, &DependencyKey),
        binding: &StoreBinding,
        usage: StoreUsage,
        (session, principal): (&str, &str),
    ) -> Arc<dyn Store> {
        let sharing = match binding.scope {
            StoreScope::Plugin => Sharing::Plugin,
            StoreScope::Principal => Sharing::Principal(principal.to_owned()),
            StoreScope::Session => Sharing::Session { session: session.to_owned(), principal: principal.to_owned() },
        };
        let name = StoreName { plugin: plugin.to_string(), key: key.to_string(), sharing };
        // A review is not a use. Otherwise calls that never run would keep the store alive.
        let use_noted = Arc::new(AtomicBool::new(usage == StoreUsage::Review));
        Arc::new(GrantedStore {
            ledger: Arc::clone(&self.0),
            name: Arc::new(name),
            binding: *binding,
            usage,
            use_noted,
        })
    }
}

/// What a store is granted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreUsage {
    /// A tool.
    Call(Access),
    /// A reviewer or a hook, which read it before the call runs.
    Review,
}

/// A store, granted to one call.
struct GrantedStore {
    ledger: Arc<CallLedger>,
    name: Arc<StoreName>,
    binding: StoreBinding,
    usage: StoreUsage,
    /// Whether this call has noted its use, so that a call with many reads writes only once.
    use_noted: Arc<AtomicBool>,
}

impl GrantedStore {
    /// Changes the store on a thread that may block.
    fn change<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(&crate::ledger::LedgerChange<'_>, &StoreName) -> Result<T, Unstored> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, Unstored>> {
        let (ledger, name) = (Arc::clone(&self.ledger), Arc::clone(&self.name));
        Box::pin(blocking(move || ledger.change(Durable::Process, |change| work(change, &name))))
    }

    /// Reads the store without blocking writers, and then notes the use.
    fn look<'a, T: Send + 'static>(
        &self,
        work: impl FnOnce(&crate::ledger::LedgerChange<'_>, &StoreName) -> Result<FoundValue<T>, LedgerError>
        + Send
        + 'static,
    ) -> BoxFuture<'a, Result<T, StoreFault>> {
        let (ledger, name, use_noted) = (Arc::clone(&self.ledger), Arc::clone(&self.name), Arc::clone(&self.use_noted));
        let looked = blocking(move || {
            let found = ledger.look(|change| work(change, &name))?;
            if found.note_use && !use_noted.swap(true, Ordering::Relaxed) {
                ledger.change(Durable::Process, |change| change.note_use_of_store(&name, change.now()))?;
            }
            Ok(found.value)
        });
        Box::pin(async move { looked.await.map_err(|error| unavailable(&error)) })
    }

    fn fault(&self, unstored: &Unstored) -> StoreFault {
        match unstored {
            Unstored::Keys => StoreFault::Quota(format!("it may have {} keys", self.binding.keys)),
            Unstored::Bytes => StoreFault::Quota(format!("it may have {} bytes in all", self.binding.bytes)),
            Unstored::Value => StoreFault::Quota(format!("a value may have {} bytes", self.binding.value_bytes)),
            Unstored::Stores => StoreFault::Quota("too many principals already have a store".to_owned()),
            Unstored::NotANumber => StoreFault::NotANumber("the value is not a whole number".to_owned()),
            Unstored::Overflow => StoreFault::NotANumber("the sum is larger than 64 bits hold".to_owned()),
            Unstored::Ledger(error) => unavailable(error),
        }
    }

    /// Refuses a change if the store is read-only for this call.
    fn check_writable(&self) -> Result<(), StoreFault> {
        match self.usage {
            StoreUsage::Call(Access::ReadWrite) => Ok(()),
            StoreUsage::Call(Access::ReadOnly) => Err(StoreFault::ReadOnly),
            StoreUsage::Review => Err(StoreFault::Reviewed),
        }
    }

    fn quota(&self) -> StoreQuota {
        let bytes = i64::try_from(self.binding.bytes).unwrap_or(i64::MAX);
        StoreQuota { keys: i64::from(self.binding.keys), bytes }
    }
}

impl Store for GrantedStore {
    fn get(&self, key: String) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreFault>> {
        self.look(move |change, name| change.stored(name, key.as_bytes(), change.now()))
    }

    fn exists(&self, key: String) -> BoxFuture<'_, Result<bool, StoreFault>> {
        self.look(move |change, name| change.is_stored(name, key.as_bytes(), change.now()))
    }

    fn set(&self, key: String, value: Vec<u8>) -> BoxFuture<'_, Result<(), StoreFault>> {
        if let Err(fault) = self.check_writable() {
            return Box::pin(async { Err(fault) });
        }
        if value.len() as u64 > self.binding.value_bytes {
            let fault = self.fault(&Unstored::Value);
            return Box::pin(async { Err(fault) });
        }
        let quota = self.quota();
        let set = self.change(move |change, name| change.store(name, key.as_bytes(), &value, quota, change.now()));
        Box::pin(async move { set.await.map_err(|unstored| self.fault(&unstored)) })
    }

    fn increment(&self, key: String, delta: u64) -> BoxFuture<'_, Result<u64, StoreFault>> {
        if let Err(fault) = self.check_writable() {
            return Box::pin(async { Err(fault) });
        }
        let (quota, value_bytes) = (self.quota(), self.binding.value_bytes);
        let incremented = self.change(move |change, name| {
            let sum = change.increment(name, key.as_bytes(), delta, quota, change.now())?;
            // An error rolls the change back.
            if sum.to_string().len() as u64 > value_bytes { Err(Unstored::Value) } else { Ok(sum) }
        });
        Box::pin(async move { incremented.await.map_err(|unstored| self.fault(&unstored)) })
    }

    fn delete(&self, key: String) -> BoxFuture<'_, Result<(), StoreFault>> {
        if let Err(fault) = self.check_writable() {
            return Box::pin(async { Err(fault) });
        }
        let deleted = self.change(move |change, name| Ok(change.unstore(name, key.as_bytes(), change.now())?));
        Box::pin(async move { deleted.await.map_err(|unstored| self.fault(&unstored)) })
    }

    fn keys(&self, cursor: Option<u64>) -> BoxFuture<'_, Result<StorePage, StoreFault>> {
        // A cursor after the last position returns no keys, whatever number a guest passes.
        let behind = cursor.map_or(0, |cursor| i64::try_from(cursor).unwrap_or(i64::MAX));
        let page = self.look(move |change, name| change.stored_keys(name, behind, change.now()));
        Box::pin(async move { page.await.and_then(readable) })
    }
}

/// Converts a page for a guest.
fn readable((keys, next): Page) -> Result<StorePage, StoreFault> {
    let keys = keys.into_iter().map(String::from_utf8).collect::<Result<_, _>>();
    let keys = keys.map_err(|_| StoreFault::Unavailable("it contains a key that is not text".to_owned()))?;
    Ok((keys, next.and_then(|next| u64::try_from(next).ok())))
}

/// Describes an error of the ledger for a guest, without its path.
fn unavailable(error: &LedgerError) -> StoreFault {
    StoreFault::Unavailable(String::from(if is_busy(error) {
        "others are writing to it; try again"
    } else if is_disk_full(error) {
        "the host's disk is full"
    } else {
        "the host cannot read or write it"
    }))
}
