//! Counts a call's use of services for the audit log, with a limited size.

use crate::text::{OneLine, cut, is_zero};
use portcullis_policy::recovery::RecoverMutex;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// Maximum keys that are recorded. With the limits below, they fit into an audit entry together with everything else.
const KEYS_MAX: usize = 8;

/// Maximum methods of one key that are counted by name. Others are counted together.
const METHODS_MAX: usize = 8;

/// Maximum length of a method's name in the audit log, in bytes.
const METHOD_BYTES_MAX: usize = 64;

/// Maximum length of the first detail for the operator, in bytes.
const DETAIL_BYTES_MAX: usize = 512;

/// A call's use of its services. Clones share it. It outlives the call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses(Arc<Mutex<BTreeMap<Arc<str>, ServiceUse>>>);

/// A call's use of the service under one key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ServiceUse {
    /// The application's name of the service.
    pub(crate) name: String,
    /// Calls that reached the service, by method.
    pub(crate) methods: BTreeMap<String, u32>,
    /// Calls that reached the service through other methods.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) more: u32,
    /// Calls that the host did not pass on, because the method was not granted, there were too many, or the input was
    /// too large or not JSON.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) refused: u32,
    /// Calls that the service failed, and failed attempts to open it.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) failed: u32,
    /// The first failure that has a detail for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) detail: Option<String>,
}

impl Uses {
    /// Returns whether no service was opened.
    pub(crate) fn is_empty(&self) -> bool {
        self.uses().is_empty()
    }

    /// Notes that the guest opened a service.
    pub(super) fn opened(&self, key: &Arc<str>, name: &str) {
        self.change(key, name, |_| {});
    }

    /// Counts a call that is about to reach a service. Returns false and does not count it if there were too many.
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

    /// Counts a call that was not passed on.
    pub(super) fn refused(&self, key: &Arc<str>, name: &str) {
        self.change(key, name, |used| used.refused = used.refused.saturating_add(1));
    }

    /// Counts a failure of the service, or of its creation.
    pub(super) fn failed(&self, key: &Arc<str>, name: &str, detail: Option<&str>) {
        self.change(key, name, |used| {
            used.failed = used.failed.saturating_add(1);
            if let (None, Some(detail)) = (&used.detail, detail) {
                // Escapes make the text longer, so it is cut once more.
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
        self.0.lock_recovered()
    }
}

impl ServiceUse {
    fn calls(&self) -> u32 {
        self.methods.values().fold(self.more, |calls, times| calls.saturating_add(*times))
    }
}

impl Serialize for Uses {
    /// Writes an object by key, with the first few keys in order.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.uses().iter().take(KEYS_MAX).map(|(key, used)| (&**key, used)))
    }
}
