//! The requests of a client that have not been answered yet.

use portcullis::policy::recovery::RecoverMutex;
use rmcp::model::RequestId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Maximum requests in flight: more than any client makes. Each costs a task.
pub(super) const REQUESTS_MAX: usize = 4096;

/// The requests in flight. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<InFlightState>);

#[derive(Debug, Default)]
struct InFlightState {
    requests: Mutex<RequestTable>,
    /// Notified when the last call of this transport has ended.
    calls_ended: Notify,
}

#[derive(Debug, Default)]
struct RequestTable {
    runners: HashMap<RequestId, RequestRunner>,
    /// The number of the last call. A client can use the id of a cancelled request again while the call still ends.
    last: u64,
    /// The calls of this transport that have not ended, whether their clients wait for them or not.
    calls: usize,
}

/// What runs a request.
#[derive(Debug)]
enum RequestRunner {
    /// The protocol library.
    Library,
    /// This transport, as the call of this number, which the token cancels.
    Transport(u64, CancellationToken),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotLetIn {
    /// Too many requests are in flight.
    Full,
    /// A request with the same id is in flight.
    Twice,
}

/// A call of this transport. It counts until this is dropped.
#[derive(Debug)]
pub(super) struct CallInFlight {
    in_flight: InFlight,
    id: RequestId,
    number: u64,
}

impl InFlight {
    /// Registers a request that the library runs.
    pub(super) fn begin(&self, id: &RequestId) -> Result<(), NotLetIn> {
        self.requests().register(id, RequestRunner::Library)
    }

    /// Registers a call that this transport runs. `cancellation` is cancelled with the request.
    pub(super) fn begin_call(
        &self,
        id: &RequestId,
        cancellation: &CancellationToken,
    ) -> Result<CallInFlight, NotLetIn> {
        let mut requests = self.requests();
        let number = requests.last + 1;
        requests.register(id, RequestRunner::Transport(number, cancellation.clone()))?;
        (requests.last, requests.calls) = (number, requests.calls + 1);
        Ok(CallInFlight { in_flight: self.clone(), id: id.clone(), number })
    }

    /// Removes a request, because its response is ready.
    pub(super) fn end(&self, id: &RequestId) {
        self.requests().runners.remove(id);
    }

    /// Removes a request that its client has cancelled. It gets no response.
    pub(super) fn cancel(&self, id: &RequestId) {
        let cancelled = self.requests().runners.remove(id);
        if let Some(RequestRunner::Transport(_, cancellation)) = cancelled {
            cancellation.cancel();
        }
    }

    /// Cancels every call of this transport. Their clients no longer wait.
    pub(super) fn cancel_calls(&self) {
        for runner in self.requests().runners.values() {
            match runner {
                RequestRunner::Library => {}
                RequestRunner::Transport(_, cancellation) => cancellation.cancel(),
            }
        }
    }

    /// Returns whether every request was answered.
    pub(super) fn is_empty(&self) -> bool {
        self.requests().runners.is_empty()
    }

    /// Waits until no call of this transport runs.
    pub(super) async fn calls_ended(&self) {
        loop {
            // Created before the count is read: `notify_waiters` reaches a future that exists, even if it was not
            // polled yet.
            let ended = self.0.calls_ended.notified();
            if self.requests().calls == 0 {
                return;
            }
            ended.await;
        }
    }

    fn requests(&self) -> MutexGuard<'_, RequestTable> {
        self.0.requests.lock_recovered()
    }
}

impl RequestTable {
    fn register(&mut self, id: &RequestId, runner: RequestRunner) -> Result<(), NotLetIn> {
        if self.runners.len() >= REQUESTS_MAX {
            return Err(NotLetIn::Full);
        }
        match self.runners.entry(id.clone()) {
            Entry::Vacant(place) => {
                place.insert(runner);
                Ok(())
            }
            Entry::Occupied(_) => Err(NotLetIn::Twice),
        }
    }

    /// Removes a call. Returns whether its client still waited for it.
    fn remove(&mut self, id: &RequestId, number: u64) -> bool {
        let waits = matches!(self.runners.get(id), Some(RequestRunner::Transport(own, _)) if *own == number);
        if waits {
            self.runners.remove(id);
        }
        waits
    }
}

impl CallInFlight {
    /// Removes the request, because its response is ready. Returns whether the client still waits for it.
    pub(super) fn answer(&self) -> bool {
        self.in_flight.requests().remove(&self.id, self.number)
    }
}

impl Drop for CallInFlight {
    fn drop(&mut self) {
        let mut requests = self.in_flight.requests();
        requests.remove(&self.id, self.number);
        requests.calls -= 1;
        let is_last = requests.calls == 0;
        drop(requests);
        if is_last {
            self.in_flight.0.calls_ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_cancelled_call_counts_until_it_has_ended_but_its_id_is_free() {
        let (in_flight, id) = (InFlight::default(), RequestId::Number(1));
        let (first, second) = (CancellationToken::new(), CancellationToken::new());
        let cancelled = in_flight.begin_call(&id, &first).unwrap();
        assert_eq!(in_flight.begin(&id), Err(NotLetIn::Twice));
        in_flight.cancel(&id);
        assert!(first.is_cancelled() && in_flight.is_empty());
        let call = in_flight.begin_call(&id, &second).unwrap();
        assert!(!cancelled.answer(), "the response would be that of the second call");
        drop(cancelled);
        assert!(!in_flight.is_empty() && !second.is_cancelled());
        assert!(call.answer() && in_flight.is_empty());
        let ended = in_flight.calls_ended();
        drop(call);
        ended.await;
    }

    #[test]
    fn the_number_of_requests_is_limited() {
        let in_flight = InFlight::default();
        for id in 0..REQUESTS_MAX {
            in_flight.begin(&RequestId::Number(i64::try_from(id).unwrap())).unwrap();
        }
        assert_eq!(in_flight.begin(&RequestId::Number(-1)), Err(NotLetIn::Full));
        assert_eq!(in_flight.begin_call(&RequestId::Number(-1), &CancellationToken::new()).err(), Some(NotLetIn::Full));
        in_flight.end(&RequestId::Number(0));
        assert!(in_flight.begin(&RequestId::Number(-1)).is_ok());
    }
}
