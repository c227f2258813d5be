//! Batches: several calls that a model makes in one message.

use crate::call::{self, Rejection};
use crate::inner::HostState;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::steering::Steering;
use portcullis_sandbox::Cancellation;
use std::sync::Arc;

/// Default maximum of calls of a batch that run at the same time. A model rarely makes more calls in one message. The
/// number of run slots that one plugin of one principal can have is an upper limit ([`crate::HostBuilder::calls`]).
pub const BATCH_CALLS_DEFAULT: usize = 25;

/// Maximum calls of one batch. All of them are decided and held in memory at the same time. No message of a model has
/// that many.
pub const BATCH_REQUESTS_MAX: usize = 1000;

/// A batch of requests that run together.
#[derive(Clone, Debug)]
pub struct Batch {
    requests: Vec<Request>,
    at_once: usize,
    cancellation: Cancellation,
    steering: Steering,
}

impl Batch {
    /// Creates a batch, of which [`BATCH_CALLS_DEFAULT`] calls run at the same time. Each request beyond
    /// [`BATCH_REQUESTS_MAX`] gets a reply with [`Code::Busy`].
    pub fn new(requests: Vec<Request>) -> Self {
        let (cancellation, steering) = (Cancellation::new(), Steering::new());
        Self { requests, at_once: BATCH_CALLS_DEFAULT, cancellation, steering }
    }

    /// Sets how many calls run at the same time: at least one, and at most the run slots that one plugin of one
    /// principal can have.
    #[must_use]
    pub fn at_once(mut self, calls: usize) -> Self {
        self.at_once = calls;
        self
    }

    /// Sets a cancellation for the whole batch, for running and waiting calls. The cancellation of each request still
    /// works.
    #[must_use]
    pub fn cancellation(mut self, cancellation: impl Into<Cancellation>) -> Self {
        self.cancellation = cancellation.into();
        self
    }

    /// Sets how the user can supersede the batch. Calls that have not started are then not run, and running calls
    /// continue.
    #[must_use]
    pub fn steering(mut self, steering: Steering) -> Self {
        self.steering = steering;
        self
    }
}

/// Runs a batch. Returns the replies in the order of the requests.
pub(crate) async fn run(host: &Arc<HostState>, batch: Batch) -> Vec<Reply> {
    let Batch { mut requests, at_once, cancellation, steering } = batch;
    let surplus = requests.split_off(requests.len().min(BATCH_REQUESTS_MAX));
    let mut replies: Vec<Option<Reply>> = requests.iter().map(|_| None).collect();
    let replied = |index: usize, reply| replies[index] = Some(reply);
    call::together(host, requests, at_once, (&cancellation, &steering), replied).await;
    let mut replies: Vec<Reply> = replies.into_iter().flatten().collect();
    for request in &surplus {
        replies.push(too_many(host, request).await);
    }
    replies
}

async fn too_many(host: &HostState, request: &Request) -> Reply {
    let message = format!(
        "Not run: a batch has at most {BATCH_REQUESTS_MAX} calls, and this call is beyond that. Make it in a new batch."
    );
    call::refuse(host, request, Rejection::new(Code::Busy, message)).await
}
