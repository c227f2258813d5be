//! What a call made of its services, for the record: bounded, however much it was.

use crate::text::{OneLine, cut, is_zero};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keys that are recorded one by one. With the bounds below, what fits beside everything else in a line of the record.
const KEYS_MAX: usize = 8;

/// Methods of one key that are counted by name; the others are counted together.
const METHODS_MAX: usize = 8;

/// The name of a method in the record, in bytes.
const METHOD_BYTES_MAX: usize = 64;

/// The first detail for the operator, in bytes.
const DETAIL_BYTES_MAX: usize = 512;

/// What a call made of its services. Clones share it; it outlives the call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses(Arc<Mutex<BTreeMap<Arc<str>, ServiceUse>>>);

/// What a call made of the service under one key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ServiceUse {
    /// The name the application gave it.
    pub(crate) name: String,
    /// Calls that reached it, by method.
    pub(crate) methods: BTreeMap<String, u32>,
    /// Calls that reached it by methods past those.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) more: u32,
    /// Calls that the host did not pass on: a method that is not granted, too many, too large, no JSON.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) refused: u32,
    /// Calls that it failed, and attempts to open it that failed.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) failed: u32,
    /// The first failure that has something to say to the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

impl Uses {
    /// Whether no service was opened.
    pub(crate) fn is_empty(&self) -> bool {
        self.uses().is_empty()
    }

    /// A guest opens a service: from now on the record tells of it.
    pub(super) fn opened(&self, key: &Arc<str>, name: &str) {
        self.change(key, name, |_| {});
    }

    /// A call is about to reach a service: whether it is among the most that a call may make, and if so, counted.
    pub(super) fn reached(&self, key: &Arc<str>, name: &str, method: &str, calls_max: u32) -> bool {
        let mut within = false;
        self.change(key, name, |used| {
            within = used.calls() < calls_max;
            if !within {
                used.refused = used.refused.saturating_add(1);
                return;
            }
            let has_room = used.methods.len() < METHODS_MAX && method.len() <= METHOD_BYTES_MAX;
            match used.methods.get_mut(method) {
                Some(times) => *times += 1,
                None if has_room => drop(used.methods.insert(method.to_owned(), 1)),
                None => used.more += 1,
            }
        });
        within
    }

    /// A call was not passed on.
    pub(super) fn refused(&self, key: &Arc<str>, name: &str) {
        self.change(key, name, |used| used.refused = used.refused.saturating_add(1));
    }

    /// The service failed, or could not be made.
    pub(super) fn failed(&self, key: &Arc<str>, name: &str, detail: Option<&str>) {
        self.change(key, name, |used| {
            used.failed = used.failed.saturating_add(1);
            if let (None, Some(detail)) = (&used.detail, detail) {
                used.detail =
                    Some(cut(&OneLine(cut(detail, DETAIL_BYTES_MAX)).to_string(), DETAIL_BYTES_MAX).to_owned());
            }
        });
    }

    fn change(&self, key: &Arc<str>, name: &str, change: impl FnOnce(&mut ServiceUse)) {
        let mut uses = self.uses();
        let used = uses.entry(Arc::clone(key)).or_default();
        if used.name.is_empty() {
            name.clone_into(&mut used.name);
        }
        change(used);
    }

    fn uses(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, ServiceUse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ServiceUse {
    fn calls(&self) -> u32 {
        self.methods.values().fold(self.more, |calls, times| calls.saturating_add(*times))
    }
}

impl Serialize for Uses {
    /// An object by key, with the first few in their order.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.uses().iter().take(KEYS_MAX).map(|(key, used)| (&**key, used)))
    }
}
