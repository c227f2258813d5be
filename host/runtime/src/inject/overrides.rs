//! The values of one request that replace those of providers.

use super::key::{Erased, Key, KeyId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Values by key. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Overrides(Option<Arc<BTreeMap<KeyId, Erased>>>);

impl Overrides {
    pub(crate) fn set<T: ?Sized + Send + Sync + 'static>(&mut self, key: &Key<T>, value: Arc<T>) {
        let values = self.0.get_or_insert_default();
        Arc::make_mut(values).insert(key.id(), Erased::new(value));
    }

    pub(super) fn get(&self, key: KeyId) -> Option<&Erased> {
        self.0.as_ref()?.get(&key)
    }
}

impl fmt::Debug for Overrides {
    /// Shows only the names, because a value may contain anything.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.iter().flat_map(|values| values.keys()).map(|key| key.name)).finish()
    }
}
