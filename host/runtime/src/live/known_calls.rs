//! The calls of a host that a new reader receives. Adding one costs a lock and a pointer.

use crate::events::{CallState, Event};
use portcullis_policy::recovery::RecoverMutex;
use std::sync::{Mutex, Weak};

/// Calls up to which ended ones stay in the list. More are searched for ended calls whenever the list has doubled.
const UNSEARCHED_MAX: usize = 64;

/// A call that can tell what it is and in which state.
pub(crate) trait ObservedCall: Send + Sync {
    /// Returns the event that would be published if the call entered its state now. `None` if it has ended.
    fn observe(&self) -> Option<(Event, CallState)>;
}

/// The calls of a host that may be under way.
#[derive(Default)]
pub(crate) struct KnownCalls(Mutex<KnownCallList>);

#[derive(Default)]
struct KnownCallList {
    calls: Vec<Weak<dyn ObservedCall>>,
    /// The length at which ended calls are removed.
    search_at: usize,
}

impl KnownCalls {
    /// Adds a call.
    pub(crate) fn add(&self, call: Weak<dyn ObservedCall>) {
        let mut list = self.0.lock_recovered();
        if list.calls.len() >= list.search_at.max(UNSEARCHED_MAX) {
            list.calls.retain(|known| known.strong_count() > 0);
            list.search_at = list.calls.len() * 2;
        }
        list.calls.push(call);
    }

    /// Returns the calls under way.
    pub(super) fn under_way(&self) -> Vec<(Event, CallState)> {
        // The calls are observed without this lock, which every call needs to begin.
        let calls = self.0.lock_recovered().calls.clone();
        calls.iter().filter_map(Weak::upgrade).filter_map(|call| call.observe()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    struct Never;

    impl ObservedCall for Never {
        fn observe(&self) -> Option<(Event, CallState)> {
            None
        }
    }

    #[test]
    fn ended_calls_do_not_pile_up() {
        let known = KnownCalls::default();
        let held: Vec<Arc<Never>> = (0..100).map(|_| Arc::new(Never)).collect();
        held.iter().for_each(|call| known.add(Arc::downgrade(call) as Weak<dyn ObservedCall>));
        for _ in 0..10_000 {
            known.add(Arc::downgrade(&Arc::new(Never)) as Weak<dyn ObservedCall>);
        }
        let list = known.0.lock_recovered();
        assert!(list.calls.len() <= 201, "{}", list.calls.len());
        assert_eq!(list.calls.iter().filter(|call| call.strong_count() > 0).count(), 100);
    }
}
