//! Publishes each event to all subscribers, in the same order for all of them.

use super::event::{CallState, Event, EventKind};
use super::filter::EventFilter;
use super::payload::EventPayload;
use super::queue::SubscriberQueue;
use crate::reply::Code;
use futures_core::Stream;
use portcullis_policy::Targets;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_sandbox::Progress;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::time::SystemTime;

/// The part that all events of a call share.
#[derive(Clone, Debug)]
pub(crate) struct Heading {
    pub(crate) call: Arc<str>,
    pub(crate) session: Arc<str>,
    pub(crate) tool: Arc<str>,
    pub(crate) principal: Arc<str>,
    pub(crate) agent: Option<Arc<str>>,
    pub(crate) parent: Option<Arc<str>>,
    pub(crate) targets: Arc<Targets>,
    pub(crate) started: SystemTime,
    pub(crate) code: Option<Code>,
    pub(crate) arguments: Option<Arc<EventPayload>>,
    pub(crate) result: Option<Arc<EventPayload>>,
}

impl Heading {
    /// Makes an event of the call that happens now.
    pub(crate) fn event(self, kind: EventKind) -> Event {
        Event {
            call: self.call,
            session: self.session,
            tool: self.tool,
            principal: self.principal,
            agent: self.agent,
            parent: self.parent,
            targets: self.targets,
            started: self.started,
            code: self.code,
            arguments: self.arguments,
            result: self.result,
            at: SystemTime::now(),
            kind,
        }
    }
}

/// The listener for the events of one request. It closes when the last call of the request has ended.
#[derive(Debug)]
pub(crate) struct Ear(Arc<SubscriberQueue>);

impl Ear {
    /// Creates a listener and its subscription.
    pub(crate) fn new() -> (Self, Events) {
        let queue = Arc::new(SubscriberQueue::default());
        (Self(Arc::clone(&queue)), Events { queue, publisher: Weak::new() })
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A subscription to events from its creation on. Dropping it ends it.
///
/// It delivers all states in the order in which they happened, unless its last event is [`EventKind::Lagged`]. A slow
/// subscriber loses the oldest progress.
pub struct Events {
    queue: Arc<SubscriberQueue>,
    publisher: Weak<Publisher>,
}

impl Events {
    /// Makes a subscription that has ended.
    pub(crate) fn ended() -> Self {
        // The only ear of the queue is dropped here, which closes it.
        Ear::new().1
    }

    /// Waits for the next event. Returns `None` if no more events can come, because the host and its calls have ended
    /// or this subscriber has lagged. Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| self.queue.poll_take(context)).await
    }

    /// Returns the next event if one is queued.
    pub fn try_next(&mut self) -> Option<Event> {
        self.queue.take()
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.queue.poll_take(context)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        if let Some(publisher) = self.publisher.upgrade() {
            publisher.forget(&self.queue);
        }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Events").finish_non_exhaustive()
    }
}

/// Publishes the events of one host.
#[derive(Default)]
pub(crate) struct Publisher {
    /// The number of `queues`, which can be read without the lock.
    subscribers: AtomicUsize,
    /// The number of `queues` whose events carry payloads.
    payload_subscribers: AtomicUsize,
    queues: Mutex<Vec<Arc<SubscriberQueue>>>,
}

impl Publisher {
    pub(crate) fn subscribe(self: &Arc<Self>) -> Events {
        self.subscribe_with(EventFilter::new())
    }

    pub(crate) fn subscribe_with(self: &Arc<Self>, filter: EventFilter) -> Events {
        let queue = Arc::new(SubscriberQueue::new(filter));
        self.change(|queues| queues.push(Arc::clone(&queue)));
        Events { queue, publisher: Arc::downgrade(self) }
    }

    fn forget(&self, queue: &Arc<SubscriberQueue>) {
        self.change(|queues| queues.retain(|known| !Arc::ptr_eq(known, queue)));
    }

    /// Publishes a state. Without subscribers, this only reads a number and does not create the heading.
    pub(crate) fn state(&self, own: Option<&Ear>, heading: impl FnOnce() -> Heading, state: CallState) {
        if own.is_some() || self.is_heard() {
            self.publish(own, heading(), EventKind::State(state));
        }
    }

    /// Publishes progress, with the same low cost.
    pub(crate) fn progress(
        &self,
        own: Option<&Ear>,
        heading: impl FnOnce() -> Heading,
        progress: impl FnOnce() -> Progress,
    ) {
        if own.is_some() || self.is_heard() {
            self.publish(own, heading(), EventKind::Progress(Arc::new(progress())));
        }
    }

    /// Returns whether a subscriber receives arguments and results. Without one, nothing prepares them.
    pub(crate) fn wants_payloads(&self) -> bool {
        self.payload_subscribers.load(Ordering::Acquire) > 0
    }

    fn is_heard(&self) -> bool {
        // A subscription that begins at this moment may miss the event. It only promises those from its creation on.
        self.subscribers.load(Ordering::Acquire) > 0
    }

    fn publish(&self, own: Option<&Ear>, heading: Heading, kind: EventKind) {
        let event = heading.event(kind);
        if let Some(Ear(queue)) = own {
            queue.put(event.clone());
        }
        // The lock is held for all queues, so that concurrent events have the same order in each. No `add` waits.
        let queues = self.queues.lock_recovered();
        let woken: Vec<Waker> = queues.iter().filter_map(|queue| queue.add(event.clone())).collect();
        drop(queues);
        // A subscriber may run at once and drop its subscription, which takes the lock.
        woken.into_iter().for_each(Waker::wake);
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Arc<SubscriberQueue>>)) {
        let mut queues = self.queues.lock_recovered();
        change(&mut queues);
        // The numbers are stored under the lock, so that an older one cannot replace a newer one.
        self.subscribers.store(queues.len(), Ordering::Release);
        let with_payloads = queues.iter().filter(|queue| queue.has_payloads()).count();
        self.payload_subscribers.store(with_payloads, Ordering::Release);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let queues = std::mem::take(&mut *self.queues.lock_recovered());
        // Closing wakes the subscribers, so it happens outside the lock.
        queues.iter().for_each(|queue| queue.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::session_name;

    fn heading() -> Heading {
        Heading {
            call: Arc::from("c"),
            session: Arc::from("s"),
            tool: Arc::from("t"),
            principal: Arc::from("local"),
            agent: None,
            parent: None,
            targets: Arc::default(),
            started: SystemTime::UNIX_EPOCH,
            code: None,
            arguments: None,
            result: None,
        }
    }

    fn polled(events: &mut Events) -> Poll<Option<String>> {
        let event = Pin::new(events).poll_next(&mut Context::from_waker(Waker::noop()));
        event.map(|event| event.map(|event| event.call.to_string()))
    }

    #[test]
    fn events_are_a_stream_that_ends_with_the_host() {
        let publisher = Arc::new(Publisher::default());
        let mut events = publisher.subscribe();
        assert_eq!(polled(&mut events), Poll::Pending);
        publisher.state(None, heading, CallState::Pending);
        drop(publisher);
        assert_eq!(polled(&mut events), Poll::Ready(Some("c".to_owned())));
        assert_eq!(polled(&mut events), Poll::Ready(None));
    }

    #[test]
    fn a_filter_passes_no_session_whose_long_name_begins_alike() {
        let publisher = Arc::new(Publisher::default());
        let long = |last: &str| format!("{}{last}", "s".repeat(500));
        let mut events = publisher.subscribe_with(EventFilter::new().session(&long("a")));
        let of = |session: &str| Heading { session: session_name(session).into(), ..heading() };
        publisher.state(None, || of(&long("b")), CallState::Pending);
        assert_eq!(polled(&mut events), Poll::Pending);
        publisher.state(None, || of(&long("a")), CallState::Pending);
        assert!(polled(&mut events).is_ready());
    }

    /// A task that runs where it is woken, and then drops its subscription.
    struct InlineTask {
        publisher: Arc<Publisher>,
        events: Mutex<Option<Events>>,
    }

    impl std::task::Wake for InlineTask {
        fn wake(self: Arc<Self>) {
            // Otherwise the drop would wait forever.
            assert!(self.publisher.queues.try_lock().is_ok(), "a subscriber was woken with the lock held");
            self.events.lock_recovered().take();
        }
    }

    #[test]
    fn a_subscriber_can_drop_its_subscription_where_it_is_woken() {
        let publisher = Arc::new(Publisher::default());
        let task = Arc::new(InlineTask { publisher: Arc::clone(&publisher), events: Mutex::default() });
        let (waker, mut events) = (Waker::from(Arc::clone(&task)), publisher.subscribe());
        assert!(Pin::new(&mut events).poll_next(&mut Context::from_waker(&waker)).is_pending());
        *task.events.lock_recovered() = Some(events);
        publisher.state(None, heading, CallState::Pending);
        assert!(task.events.lock_recovered().is_none(), "the subscriber was not woken");
        assert!(!publisher.is_heard());
    }
}
