//! What a policy binds to a store key: a key-value store and its limits. Each default and ceiling has its reason.

use super::kind::{BindingKind, KindFacts};
use super::limited::{BindingLimit, Limited};
use super::place::GrantPlaceKind;
use crate::amount::Unit;
use crate::pointer::Pointer;

/// What is true of every store.
pub(super) const FACTS: KindFacts =
    KindFacts { name: "store", noun: "the store", permissions: None, blank: "", example: |_, _| "{}".to_owned() };

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Default maximum of keys: a person's notebook. One answer can list all keys.
const KEYS: usize = 1000;
/// Listing more keys would take the database longer than a call should wait.
const KEYS_CEILING: usize = 100_000;
/// One value: a long note. A larger one belongs in a file.
const VALUE_BYTES: usize = 64 * KIB;
/// The host keeps the value in memory while it passes it on.
const VALUE_CEILING_BYTES: usize = 16 * MIB;
/// All keys and values: months of notes.
const STORE_BYTES: usize = MIB;
/// The store shares a disk and a database with the ledger.
const STORE_CEILING_BYTES: usize = 1024 * MIB;

/// A key-value store that the host keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreBinding {
    /// Which calls share the store.
    pub scope: StoreScope,
    /// Maximum number of keys.
    pub keys: u32,
    /// Maximum bytes of one value.
    pub value_bytes: u64,
    /// Maximum bytes of all keys and values.
    pub bytes: u64,
}

/// Which calls share the content of a store. Two plugins never share a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StoreScope {
    /// All calls of the plugin.
    #[default]
    Plugin,
    /// The calls of one principal, in every session.
    Principal,
    /// The calls of one session of one principal.
    Session,
}

impl StoreScope {
    /// Every scope, widest first.
    pub const ALL: [Self; 3] = [Self::Plugin, Self::Principal, Self::Session];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plugin => "plugin",
            Self::Principal => "principal",
            Self::Session => "session",
        }
    }
}

impl Default for StoreBinding {
    /// Returns the store of a policy that sets no limits.
    fn default() -> Self {
        let mut store = Self { scope: StoreScope::default(), keys: 0, value_bytes: 0, bytes: 0 };
        for &limit in StoreLimit::ALL {
            store.store(limit, limit.default());
        }
        store
    }
}

/// One of the limits of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreLimit {
    Keys,
    ValueBytes,
    Bytes,
}

impl BindingLimit for StoreLimit {
    const ALL: &'static [Self] = &[Self::Keys, Self::ValueBytes, Self::Bytes];

    fn key(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::ValueBytes => "value-bytes",
            Self::Bytes => "bytes",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Keys => Unit::Count,
            Self::ValueBytes | Self::Bytes => Unit::Bytes,
        }
    }

    fn default(self) -> usize {
        match self {
            Self::Keys => KEYS,
            Self::ValueBytes => VALUE_BYTES,
            Self::Bytes => STORE_BYTES,
        }
    }

    fn ceiling(self) -> usize {
        match self {
            Self::Keys => KEYS_CEILING,
            Self::ValueBytes => VALUE_CEILING_BYTES,
            Self::Bytes => STORE_CEILING_BYTES,
        }
    }
}

impl Limited for StoreBinding {
    type Limit = StoreLimit;

    fn store(&mut self, limit: StoreLimit, admitted: usize) {
        match limit {
            // `admit` has checked the ceiling, so the number always fits.
            StoreLimit::Keys => self.keys = u32::try_from(admitted).unwrap_or(u32::MAX),
            StoreLimit::ValueBytes => self.value_bytes = admitted as u64,
            StoreLimit::Bytes => self.bytes = admitted as u64,
        }
    }

    fn get(&self, limit: StoreLimit) -> u64 {
        match limit {
            StoreLimit::Keys => self.keys.into(),
            StoreLimit::ValueBytes => self.value_bytes,
            StoreLimit::Bytes => self.bytes,
        }
    }
}

impl BindingKind for StoreBinding {
    fn describe(&self) -> Vec<String> {
        let scope = match self.scope {
            StoreScope::Plugin => "a store of the plugin",
            StoreScope::Principal => "a store for each principal",
            StoreScope::Session => "a store for each session",
        };
        [scope.to_owned()].into_iter().chain(self.changed()).collect()
    }

    fn narrow(&self) -> Option<&Pointer> {
        None
    }

    fn places(&self) -> Vec<(GrantPlaceKind, &str)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_as_high_as_it_is_documented_and_never_off() {
        let rows = [
            (StoreLimit::Keys, 1000, 100_000),
            (StoreLimit::ValueBytes, 64 << 10, 16 << 20),
            (StoreLimit::Bytes, 1 << 20, 1 << 30),
        ];
        for (limit, default, ceiling) in rows {
            let mut store = StoreBinding::default();
            assert_eq!(store.get(limit), default, "{}", limit.key());
            assert!(store.set(limit, 0).is_err() && store.set(limit, ceiling + 1).is_err(), "{}", limit.key());
            assert_eq!(store, StoreBinding::default());
            store.set(limit, ceiling).unwrap();
            assert_eq!((store.get(limit), store.changed().count()), (ceiling, 1), "{}", limit.key());
        }
    }
}
