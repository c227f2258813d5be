//! The queue of events for one subscriber.

use super::event::{Event, EventKind};
use super::filter::EventFilter;
use super::payload::EventPayload;
use portcullis_policy::recovery::RecoverMutex;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Maximum progress reports in a queue: a few seconds of a tool that reports often, and 2 MiB if every report has the
/// maximum length. Only the newest ones matter.
const PROGRESS_QUEUED_MAX: usize = 256;

/// Maximum states in a queue: those of about 30,000 calls, in about 20 MiB. A subscriber that is so far behind has
/// stopped reading, and must not make the host use more memory.
const STATES_QUEUED_MAX: usize = 100_000;

/// Maximum size of the arguments and results in a queue, in bytes: 256 of the maximum length. Of further ones, a
/// subscriber gets only the sizes until it has read some.
const PAYLOADS_QUEUED_BYTES_MAX: usize = 4 << 20;

/// The queue of one subscriber.
#[derive(Debug, Default)]
pub(super) struct SubscriberQueue {
    filter: EventFilter,
    waiting: Mutex<WaitingEvents>,
}

/// The queued states and progress. They are separate, so that old progress can be dropped without a search. Their
/// numbers keep the order.
#[derive(Debug, Default)]
struct WaitingEvents {
    states: VecDeque<(u64, Event)>,
    progress: VecDeque<(u64, Event)>,
    next: u64,
    over: bool,
    /// The size of the queued arguments and results.
    payload_bytes: usize,
    /// The task of the subscriber, if it waits for an event.
    subscriber: Option<Waker>,
}

impl SubscriberQueue {
    pub(super) fn new(filter: EventFilter) -> Self {
        Self { filter, waiting: Mutex::default() }
    }

    /// Returns whether the events carry arguments and results.
    pub(super) fn has_payloads(&self) -> bool {
        self.filter.has_payloads()
    }

    /// Adds an event that passes the filter, and wakes the subscriber.
    pub(super) fn put(&self, event: Event) {
        wake(self.add(event));
    }

    /// Adds an event that passes the filter. Drops the oldest progress if there is too much. Ends the subscription with
    /// a `Lagged` event if there are too many states. Returns the task of the subscriber if it waits: wake it without a
    /// lock.
    #[must_use]
    pub(super) fn add(&self, mut event: Event) -> Option<Waker> {
        if !self.filter.passes(&event) {
            return None;
        }
        if !self.has_payloads() || matches!(event.kind, EventKind::Progress(_)) {
            // Progress is limited by number and not by `payload_bytes`, so it has no payloads.
            (event.arguments, event.result) = (None, None);
        }
        let mut waiting = self.waiting();
        if waiting.over {
            return None;
        }
        waiting.put(event);
        waiting.subscriber.take()
    }

    /// Takes the oldest event.
    pub(super) fn take(&self) -> Option<Event> {
        self.waiting().take()
    }

    /// Closes the queue to new events.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting();
        waiting.over = true;
        let subscriber = waiting.subscriber.take();
        drop(waiting);
        wake(subscriber);
    }

    /// Takes the oldest event. `None` if nothing more comes. If there is no event yet, the task of `context` is woken
    /// when there is one. Only the last task that polled is woken.
    pub(super) fn poll_take(&self, context: &Context<'_>) -> Poll<Option<Event>> {
        let mut waiting = self.waiting();
        if let Some(event) = waiting.take() {
            return Poll::Ready(Some(event));
        }
        if waiting.over {
            return Poll::Ready(None);
        }
        // In the same lock as the look, so that no event falls between the two.
        let before = waiting.subscriber.replace(context.waker().clone());
        drop(waiting);
        // Dropping a waker runs code of its executor, so it happens outside the lock.
        drop(before);
        Poll::Pending
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, WaitingEvents> {
        self.waiting.lock_recovered()
    }
}

/// Wakes a subscriber. It may run at once, so this must not be called with a lock held.
fn wake(subscriber: Option<Waker>) {
    if let Some(subscriber) = subscriber {
        subscriber.wake();
    }
}

impl WaitingEvents {
    fn put(&mut self, mut event: Event) {
        let number = self.next;
        self.next += 1;
        match &event.kind {
            EventKind::Progress(_) => {
                if self.progress.len() == PROGRESS_QUEUED_MAX {
                    self.progress.pop_front();
                }
                self.progress.push_back((number, event));
            }
            EventKind::State(_) | EventKind::Lagged => {
                if self.states.len() == STATES_QUEUED_MAX {
                    event.kind = EventKind::Lagged;
                    self.over = true;
                }
                self.limit_payloads(&mut event);
                self.states.push_back((number, event));
            }
        }
    }

    fn take(&mut self) -> Option<Event> {
        let number = |queue: &VecDeque<(u64, Event)>| queue.front().map_or(u64::MAX, |(number, _)| *number);
        let oldest = if number(&self.progress) < number(&self.states) { &mut self.progress } else { &mut self.states };
        let event = oldest.pop_front().map(|(_, event)| event)?;
        self.payload_bytes = self.payload_bytes.saturating_sub(payload_bytes(&event));
        Some(event)
    }

    /// Counts the arguments and the result of an event, or removes their texts if there is no room for them.
    fn limit_payloads(&mut self, event: &mut Event) {
        let bytes = payload_bytes(event);
        if self.payload_bytes + bytes <= PAYLOADS_QUEUED_BYTES_MAX {
            self.payload_bytes += bytes;
            return;
        }
        for payload in [&mut event.arguments, &mut event.result].into_iter().flatten() {
            *payload = Arc::new(payload.without_text());
        }
    }
}

/// Returns the size of the arguments and the result of an event. Events of one call share their texts, and each counts.
fn payload_bytes(event: &Event) -> usize {
    let text = |payload: &Option<Arc<EventPayload>>| payload.as_ref().map_or(0, |payload| payload.text.len());
    text(&event.arguments) + text(&event.result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::CallState;
    use std::sync::Arc;
    use std::time::SystemTime;

    fn event(call: usize, kind: EventKind) -> Event {
        let text = || Arc::from("");
        let at = SystemTime::UNIX_EPOCH;
        let (call, principal, agent, targets, code) = (Arc::from(call.to_string()), text(), None, Arc::default(), None);
        let (session, tool, parent) = (text(), text(), None);
        let (arguments, result) = (None, None);
        Event { call, session, tool, principal, agent, parent, targets, started: at, code, arguments, result, at, kind }
    }

    fn state(call: usize) -> Event {
        event(call, EventKind::State(CallState::Pending))
    }

    fn progress(call: usize) -> Event {
        event(call, EventKind::Progress(Arc::default()))
    }

    fn drain(queue: &SubscriberQueue) -> Vec<Event> {
        std::iter::from_fn(|| queue.take()).collect()
    }

    #[test]
    fn the_oldest_progress_is_dropped_and_states_keep_their_order() {
        let queue = SubscriberQueue::default();
        queue.put(progress(0));
        queue.put(state(1));
        for call in 2..2 + PROGRESS_QUEUED_MAX {
            queue.put(progress(call));
        }
        queue.put(state(9999));
        let left: Vec<String> = drain(&queue).iter().map(|event| event.call.to_string()).collect();
        assert_eq!(left.len(), PROGRESS_QUEUED_MAX + 2);
        assert_eq!((left[0].as_str(), left[1].as_str()), ("1", "2"), "the progress before the state has gone");
        assert_eq!(left.last().map(String::as_str), Some("9999"));
    }

    #[test]
    fn a_subscriber_that_misses_a_state_gets_a_final_lagged_event() {
        let queue = SubscriberQueue::default();
        for call in 0..STATES_QUEUED_MAX + 10 {
            queue.put(state(call));
        }
        let events = drain(&queue);
        assert_eq!(events.len(), STATES_QUEUED_MAX + 1);
        let (last, before) = events.split_last().expect("there are many");
        assert!(before.iter().enumerate().all(|(call, event)| *event.call == call.to_string()));
        assert!(matches!(last.kind, EventKind::Lagged), "{last:?}");
        assert_eq!(*last.call, STATES_QUEUED_MAX.to_string());
        assert!(polled(&queue).is_ready(), "nothing more comes");
    }

    fn polled(queue: &SubscriberQueue) -> Poll<Option<String>> {
        let event = queue.poll_take(&Context::from_waker(Waker::noop()));
        event.map(|event| event.map(|event| event.call.to_string()))
    }

    #[test]
    fn what_is_left_comes_before_the_end() {
        let queue = SubscriberQueue::default();
        assert_eq!(polled(&queue), Poll::Pending);
        queue.put(state(1));
        queue.put(progress(2));
        queue.close();
        queue.put(state(3));
        let ready = |call: &str| Poll::Ready(Some(call.to_owned()));
        assert_eq!([polled(&queue), polled(&queue), polled(&queue)], [ready("1"), ready("2"), Poll::Ready(None)]);
    }

    struct Woken(std::sync::atomic::AtomicUsize);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        }
    }

    #[test]
    fn a_subscriber_that_waits_is_woken_by_an_event_and_by_the_end() {
        let queue = SubscriberQueue::default();
        let woken = Arc::new(Woken(0.into()));
        let waker = Waker::from(Arc::clone(&woken));
        let times = || woken.0.load(std::sync::atomic::Ordering::SeqCst);
        let poll = || queue.poll_take(&Context::from_waker(&waker)).is_ready();
        queue.put(state(1));
        assert!(poll() && times() == 0, "the event was there already");
        assert!(!poll());
        queue.put(state(2));
        queue.put(state(3));
        assert_eq!(times(), 1, "it is woken once and not for each event");
        assert!(poll() && poll() && !poll());
        queue.close();
        assert_eq!(times(), 2);
        assert!(poll());
    }
}
