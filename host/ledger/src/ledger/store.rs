//! Stores of plugins: keys and values that survive the process. The transaction that writes checks the quotas.

use super::backend::{Row, SqlValue, params};
use super::database::{LedgerChange, milliseconds};
use super::error::LedgerError;
use std::time::Duration;

/// Maximum keys of one page of a listing. Such a page takes a few milliseconds.
pub(crate) const PAGE_KEYS_MAX: usize = 1000;

/// Maximum bytes of the keys of one page. A page always has at least one key.
pub(crate) const PAGE_KEY_BYTES_MAX: usize = 64 * 1024;

/// Maximum session stores of one principal, its sub-agents included, for one key of one plugin. A caller can open
/// sessions without end. One more deletes the principal's own store that was unused for longest.
const SESSION_STORES_PER_PRINCIPAL_MAX: i64 = 1024;

/// Maximum session stores of all principals for one key of one plugin. One more deletes a store of the principal that
/// has the largest number, so no principal can take the stores of the others.
const SESSION_STORES_MAX: i64 = 4096;

/// Maximum principal stores for one key of one plugin. They never expire, so one more is refused.
const PRINCIPAL_STORES_MAX: i64 = 1024;

/// The root of the column `principal`. The stores of a sub-agent count for its root principal.
pub(super) const ROOT_OF_PRINCIPAL: &str = "substr(principal || '/', 1, instr(principal || '/', '/') - 1)";

/// Returns the root of a principal: itself, or the principal that a sub-agent acts for.
pub fn root_of_principal(principal: &str) -> &str {
    principal.split('/').next().unwrap_or(principal)
}

/// Minimum age of the noted time of the last use before a read notes it again. This applies to stores that are never
/// deleted for being unused.
const USE_NOTED_EVERY: Duration = Duration::from_hours(24);

/// The name of a store. No part of it comes from a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreName {
    /// The name of the plugin.
    pub plugin: String,
    /// The dependency key of the plugin.
    pub key: String,
    /// Who shares the store.
    pub sharing: Sharing,
}

/// Who shares a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// All calls of the plugin.
    Plugin,
    /// The calls of one principal.
    Principal(String),
    /// The calls of one session of one principal.
    Session {
        /// The session.
        session: String,
        /// The principal.
        principal: String,
    },
}

/// The quota of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreQuota {
    /// Maximum number of keys.
    pub keys: i64,
    /// Maximum bytes of all keys and values.
    pub bytes: i64,
}

/// Why an entry was not written.
#[derive(Debug, thiserror::Error)]
pub enum Unstored {
    /// The quota of entries would be exceeded.
    #[error("too many keys")]
    Keys,
    /// The quota of bytes would be exceeded.
    #[error("too many bytes")]
    Bytes,
    /// The sum would exceed the maximum length of a value.
    #[error("the value is too long")]
    Value,
    /// There would be too many principal stores for one key of one plugin.
    #[error("too many stores")]
    Stores,
    /// The value to increment is not a decimal number.
    #[error("not a number")]
    NotANumber,
    /// The sum does not fit 64 bits.
    #[error("the number is too large")]
    Overflow,
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// A value that was read, and whether the use of its store has to be noted.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundValue<T> {
    /// The value.
    pub value: T,
    /// Whether the use has to be noted.
    pub note_use: bool,
}

/// Keys of a store, and the position of the next page.
pub type Page = (Vec<Vec<u8>>, Option<i64>);

/// A store that exists.
struct BegunStore {
    id: i64,
    entries: i64,
    bytes: i64,
    next: i64,
    used_at: i64,
}

impl StoreName {
    /// Returns the scope, the session and the principal of its row. In a row, the scope says how long the store is
    /// kept: `session` until it was unused for too long, `plugin` without limit.
    fn shared(&self) -> (&'static str, &str, &str) {
        match &self.sharing {
            Sharing::Plugin => ("plugin", "", ""),
            Sharing::Principal(principal) => ("plugin", "", principal),
            Sharing::Session { session, principal } => ("session", session, principal),
        }
    }
}

impl BegunStore {
    /// Returns a value that was read, and whether to note the use. A read counts as a use. For a session store the time
    /// decides which store is deleted, so it is noted to the millisecond.
    fn found<T>(&self, name: &StoreName, value: T, now: i64) -> FoundValue<T> {
        let every = match name.sharing {
            Sharing::Session { .. } => 0,
            Sharing::Plugin | Sharing::Principal(_) => milliseconds(USE_NOTED_EVERY),
        };
        FoundValue { value, note_use: now.saturating_sub(self.used_at) > every }
    }
}

impl<T> FoundValue<T> {
    fn nothing(value: T) -> Self {
        Self { value, note_use: false }
    }
}

impl LedgerChange<'_> {
    /// Returns the value of a key.
    pub fn stored(&self, name: &StoreName, key: &[u8], now: i64) -> Result<FoundValue<Option<Vec<u8>>>, LedgerError> {
        let Some(store) = self.begun(name)? else { return Ok(FoundValue::nothing(None)) };
        let select = "SELECT value FROM entry WHERE store = ?1 AND key = ?2";
        let value = self.transaction.row(select, params![store.id, key], |row| row.get(0))?;
        Ok(store.found(name, value, now))
    }

    /// Returns whether a key exists.
    pub fn is_stored(&self, name: &StoreName, key: &[u8], now: i64) -> Result<FoundValue<bool>, LedgerError> {
        let Some(store) = self.begun(name)? else { return Ok(FoundValue::nothing(false)) };
        Ok(store.found(name, self.value_bytes(&store, key)?.is_some(), now))
    }

    /// Sets the value of a key. A store that exceeds its quota because the policy was tightened can still shrink.
    pub fn store(
        &self,
        name: &StoreName,
        key: &[u8],
        value: &[u8],
        quota: StoreQuota,
        now: i64,
    ) -> Result<(), Unstored> {
        let store = match self.begun(name)? {
            Some(store) => store,
            None => self.begin_store(name, now)?,
        };
        let entry_bytes = length(key).saturating_add(length(value));
        let (entries, bytes) = match self.value_bytes(&store, key)? {
            Some(old) => (store.entries, store.bytes - length(key) - old + entry_bytes),
            None => (store.entries + 1, store.bytes.saturating_add(entry_bytes)),
        };
        if entries > quota.keys && entries > store.entries {
            return Err(Unstored::Keys);
        }
        if bytes > quota.bytes && bytes > store.bytes {
            return Err(Unstored::Bytes);
        }
        // A key keeps its position when its value changes, so that a listing under way neither repeats nor misses it.
        let insert = "INSERT INTO entry (store, position, key, value) VALUES (?1, ?2, ?3, ?4) \
                      ON CONFLICT (store, key) DO UPDATE SET value = ?4";
        self.run(insert, params![store.id, store.next, key, value])?;
        Ok(self.amount(&BegunStore { entries, bytes, next: store.next + 1, used_at: now, ..store })?)
    }

    /// Adds to the decimal number under a key, in this transaction, and returns the sum. A missing key counts as 0.
    pub fn increment(
        &self,
        name: &StoreName,
        key: &[u8],
        delta: u64,
        quota: StoreQuota,
        now: i64,
    ) -> Result<u64, Unstored> {
        let old = match self.stored(name, key, now)?.value {
            Some(value) => decimal(&value).ok_or(Unstored::NotANumber)?,
            None => 0,
        };
        let sum = old.checked_add(delta).ok_or(Unstored::Overflow)?;
        self.store(name, key, sum.to_string().as_bytes(), quota, now)?;
        Ok(sum)
    }

    /// Removes a key if it exists.
    pub fn unstore(&self, name: &StoreName, key: &[u8], now: i64) -> Result<(), LedgerError> {
        let Some(store) = self.begun(name)? else { return Ok(()) };
        let Some(old) = self.value_bytes(&store, key)? else { return Ok(()) };
        self.run("DELETE FROM entry WHERE store = ?1 AND key = ?2", params![store.id, key])?;
        let bytes = store.bytes - length(key) - old;
        self.amount(&BegunStore { entries: store.entries - 1, bytes, used_at: now, ..store })
    }

    /// Returns keys after a position, in the order in which they were first set.
    pub fn stored_keys(&self, name: &StoreName, behind: i64, now: i64) -> Result<FoundValue<Page>, LedgerError> {
        let Some(store) = self.begun(name)? else { return Ok(FoundValue::nothing((Vec::new(), None))) };
        let select = "SELECT position, key FROM entry WHERE store = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
        // Read one key more than a page has, to know whether there is another page.
        let limit = i64::try_from(PAGE_KEYS_MAX + 1).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows: Vec<(i64, Vec<u8>)> = self.transaction.rows(select, params![store.id, behind, limit], read)?;
        let (mut keys, mut bytes, mut last) = (Vec::new(), 0, behind);
        for (position, key) in rows {
            bytes += key.len();
            if !keys.is_empty() && (keys.len() == PAGE_KEYS_MAX || bytes > PAGE_KEY_BYTES_MAX) {
                return Ok(store.found(name, (keys, Some(last)), now));
            }
            last = position;
            keys.push(key);
        }
        Ok(store.found(name, (keys, None), now))
    }

    /// Notes that a store was used.
    pub fn note_use_of_store(&self, name: &StoreName, now: i64) -> Result<(), LedgerError> {
        match self.begun(name)? {
            Some(store) => self.amount(&BegunStore { used_at: now, ..store }),
            None => Ok(()),
        }
    }

    /// Returns whether a session store was last used before this time.
    pub fn has_unused_stores(&self, before: i64) -> Result<bool, LedgerError> {
        let select = "SELECT 1 FROM store WHERE scope = 'session' AND used_at < ?1 LIMIT 1";
        Ok(self.transaction.exists(select, params![before])?)
    }

    /// Deletes at most `at_most` session stores that were last used before this time, oldest first.
    pub fn empty_unused_stores(&self, before: i64, at_most: i64) -> Result<(), LedgerError> {
        let delete = "DELETE FROM store WHERE id IN (SELECT id FROM store WHERE scope = 'session' AND used_at < ?1 \
                      ORDER BY used_at LIMIT ?2)";
        self.run(delete, params![before, at_most])
    }

    fn begun(&self, name: &StoreName) -> Result<Option<BegunStore>, LedgerError> {
        let select = "SELECT id, entries, bytes, next, used_at FROM store \
                      WHERE plugin = ?1 AND key = ?2 AND scope = ?3 AND session = ?4 AND principal = ?5";
        let (scope, session, principal) = name.shared();
        let read = |row: &Row<'_>| {
            let (id, entries, bytes) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(BegunStore { id, entries, bytes, next: row.get(3)?, used_at: row.get(4)? })
        };
        let values = params![&name.plugin, &name.key, scope, session, principal];
        Ok(self.transaction.row(select, values, read)?)
    }

    fn begin_store(&self, name: &StoreName, now: i64) -> Result<BegunStore, Unstored> {
        let (scope, session, principal) = name.shared();
        match &name.sharing {
            Sharing::Session { principal, .. } => self.make_room_for_session(name, principal)?,
            Sharing::Principal(_) => self.check_room_for_principal(name)?,
            Sharing::Plugin => {}
        }
        let insert = "INSERT INTO store (plugin, key, scope, session, principal, entries, bytes, next, used_at) \
                      VALUES (?1, ?2, ?3, ?4, ?5, 0, 0, 1, ?6) RETURNING id";
        let values = params![&name.plugin, &name.key, scope, session, principal, now];
        let id = self.transaction.only(insert, values, |row| row.get(0)).map_err(LedgerError::from)?;
        Ok(BegunStore { id, entries: 0, bytes: 0, next: 1, used_at: now })
    }

    /// Deletes session stores to make room for one more: the principal's own if it has too many, otherwise one of the
    /// principal with the largest number.
    fn make_room_for_session(&self, name: &StoreName, principal: &str) -> Result<(), LedgerError> {
        let root = root_of_principal(principal);
        let own = format!(
            "DELETE FROM store \
             WHERE plugin = ?1 AND key = ?2 AND scope = 'session' AND {ROOT_OF_PRINCIPAL} = ?3 AND id NOT IN \
             (SELECT id FROM store \
              WHERE plugin = ?1 AND key = ?2 AND scope = 'session' AND {ROOT_OF_PRINCIPAL} = ?3 \
              ORDER BY used_at DESC, id DESC LIMIT ?4)"
        );
        self.run(&own, params![&name.plugin, &name.key, root, SESSION_STORES_PER_PRINCIPAL_MAX - 1])?;
        let count = "SELECT count(*) FROM store WHERE plugin = ?1 AND key = ?2 AND scope = 'session'";
        if self.count(count, name)? < SESSION_STORES_MAX {
            return Ok(());
        }
        let of_most = format!(
            "DELETE FROM store WHERE id = (SELECT id FROM store \
             WHERE plugin = ?1 AND key = ?2 AND scope = 'session' AND {ROOT_OF_PRINCIPAL} = \
             (SELECT {ROOT_OF_PRINCIPAL} FROM store WHERE plugin = ?1 AND key = ?2 AND scope = 'session' \
              GROUP BY {ROOT_OF_PRINCIPAL} ORDER BY count(*) DESC, min(used_at) LIMIT 1) \
             ORDER BY used_at, id LIMIT 1)"
        );
        self.run(&of_most, params![&name.plugin, &name.key])
    }

    fn check_room_for_principal(&self, name: &StoreName) -> Result<(), Unstored> {
        let count =
            "SELECT count(*) FROM store WHERE plugin = ?1 AND key = ?2 AND scope = 'plugin' AND principal <> ''";
        if self.count(count, name)? < PRINCIPAL_STORES_MAX { Ok(()) } else { Err(Unstored::Stores) }
    }

    /// Counts the stores with the same key and plugin.
    fn count(&self, select: &str, name: &StoreName) -> Result<i64, LedgerError> {
        Ok(self.transaction.only(select, params![&name.plugin, &name.key], |row| row.get(0))?)
    }

    /// Returns the length of a key's value, if the key exists.
    fn value_bytes(&self, store: &BegunStore, key: &[u8]) -> Result<Option<i64>, LedgerError> {
        let select = "SELECT length(value) FROM entry WHERE store = ?1 AND key = ?2";
        Ok(self.transaction.row(select, params![store.id, key], |row| row.get(0))?)
    }

    fn amount(&self, store: &BegunStore) -> Result<(), LedgerError> {
        let update = "UPDATE store SET entries = ?2, bytes = ?3, next = ?4, used_at = ?5 WHERE id = ?1";
        self.run(update, params![store.id, store.entries, store.bytes, store.next, store.used_at])
    }

    fn run(&self, sql: &str, values: &[SqlValue<'_>]) -> Result<(), LedgerError> {
        self.transaction.execute(sql, values)?;
        Ok(())
    }
}

/// Reads a decimal number without sign, space or leading zeros, as [`LedgerChange::increment`] writes it.
fn decimal(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value).ok()?;
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

fn length(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX)
}
