//! Who publishes: hands each event to every subscriber, in one order for all of them.

use super::queue::Queue;
use super::{CallState, Event, EventKind, Events};
use portcullis_sandbox::Progress;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

/// What every event says of its call.
#[derive(Clone, Debug)]
pub(crate) struct Heading {
    pub(crate) call: Arc<str>,
    pub(crate) session: Arc<str>,
    pub(crate) tool: Arc<str>,
}

/// Where one who hears of one call alone hears of it. It is over when the last call that speaks to it is.
#[derive(Debug)]
pub(crate) struct Ear(Arc<Queue>);

impl Ear {
    /// A new one, with the subscription that hears.
    pub(crate) fn new() -> (Self, Events) {
        let queue = Arc::new(Queue::default());
        (Self(Arc::clone(&queue)), Events { queue, publisher: Weak::new() })
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Publishes the events of one host.
#[derive(Default)]
pub(crate) struct Publisher {
    /// How many there are in `queues`, to be read without the lock.
    subscribers: AtomicUsize,
    queues: Mutex<Vec<Arc<Queue>>>,
}

impl Publisher {
    pub(crate) fn subscribe(self: &Arc<Self>) -> Events {
        let queue = Arc::new(Queue::default());
        self.change(|queues| queues.push(Arc::clone(&queue)));
        Events { queue, publisher: Arc::downgrade(self) }
    }

    pub(super) fn forget(&self, queue: &Arc<Queue>) {
        self.change(|queues| queues.retain(|known| !Arc::ptr_eq(known, queue)));
    }

    /// Publishes a state. With nobody there this is one look at a number: the heading is not even made.
    pub(crate) fn state<'a>(&self, own: Option<&Ear>, heading: impl FnOnce() -> &'a Heading, state: CallState) {
        if own.is_some() || self.is_heard() {
            self.publish(own, heading(), EventKind::State(state));
        }
    }

    /// Publishes progress, at the same cost.
    pub(crate) fn progress<'a>(&self, own: Option<&Ear>, heading: impl FnOnce() -> &'a Heading, progress: Progress) {
        if own.is_some() || self.is_heard() {
            self.publish(own, heading(), EventKind::Progress(Arc::new(progress)));
        }
    }

    fn is_heard(&self) -> bool {
        self.subscribers.load(Ordering::Acquire) > 0
    }

    fn publish(&self, own: Option<&Ear>, heading: &Heading, kind: EventKind) {
        let Heading { call, session, tool } = heading.clone();
        let event = Event { call, session, tool, at: SystemTime::now(), kind };
        if let Some(Ear(queue)) = own {
            queue.put(event.clone());
        }
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        for queue in queues.iter() {
            queue.put(event.clone());
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<Queue>>)) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut queues);
        self.subscribers.store(queues.len(), Ordering::Release);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.change(|queues| queues.drain(..).for_each(|queue| queue.close()));
    }
}
