//! Several calls at once, as a model asks for them in one message.

use crate::call::{self, Rejection};
use crate::inner::Inner;
use crate::reply::{Code, Reply};
use crate::request::Request;
use crate::steering::Steering;
use crate::turn::Turns;
use portcullis_sandbox::Cancellation;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Calls of a batch that run at one time unless said otherwise: more than a model asks for in one message, as a rule.
/// No more run than one plugin of one principal may have run slots ([`crate::HostBuilder::calls`]).
pub const BATCH_CALLS_DEFAULT: usize = 25;

/// Calls of one batch. Each is looked at, decided on and held in memory at once; no message of a model asks for so
/// many.
pub const BATCH_REQUESTS_MAX: usize = 1000;

/// Requests to be run together.
#[derive(Clone, Debug)]
pub struct Batch {
    requests: Vec<Request>,
    at_once: usize,
    cancellation: Cancellation,
    steering: Steering,
}

impl Batch {
    /// These requests, [`BATCH_CALLS_DEFAULT`] at one time. Of more than [`BATCH_REQUESTS_MAX`], each that is too many
    /// gets a reply that says so.
    pub fn new(requests: Vec<Request>) -> Self {
        let (cancellation, steering) = (Cancellation::new(), Steering::new());
        Self { requests, at_once: BATCH_CALLS_DEFAULT, cancellation, steering }
    }

    /// How many run at one time: at least one, and no more than one plugin of one principal may have run slots.
    #[must_use]
    pub fn at_once(mut self, calls: usize) -> Self {
        self.at_once = calls;
        self
    }

    /// How all of it can be cancelled: what runs and what waits. That of each request works beside it.
    #[must_use]
    pub fn cancellation(mut self, cancellation: impl Into<Cancellation>) -> Self {
        self.cancellation = cancellation.into();
        self
    }

    /// How the person can steer it: what has not started is not run, and what runs goes on.
    #[must_use]
    pub fn steering(mut self, steering: Steering) -> Self {
        self.steering = steering;
        self
    }
}

/// Runs a batch. The replies stand in the order of the requests.
pub(crate) async fn run(host: &Arc<Inner>, batch: Batch) -> Vec<Reply> {
    let Batch { mut requests, at_once, cancellation, steering } = batch;
    let surplus = requests.split_off(requests.len().min(BATCH_REQUESTS_MAX));
    let turns = Turns::new(at_once.clamp(1, host.admissions.calls_of_one()));
    let names: Vec<String> = requests.iter().map(|request| request.tool.clone()).collect();
    let mut calls = JoinSet::new();
    for (index, request) in requests.into_iter().enumerate() {
        let mut request = Request { turn: Some(turns.turn(steering.clone())), ..request };
        // Here, so that a call is recorded although its task was dropped before it came to do anything.
        let record = call::begin(host, &mut request);
        let (host, cancellation) = (Arc::clone(host), cancellation.clone());
        calls.spawn(async move { (index, call::go_until(&host, request, record, &cancellation).await) });
    }
    let mut replies: Vec<Option<Reply>> = names.iter().map(|_| None).collect();
    while let Some(joined) = calls.join_next().await {
        // A call that panicked has no index: its place stays empty.
        if let Ok((index, reply)) = joined {
            replies[index] = Some(reply);
        }
    }
    let replies =
        names.into_iter().zip(replies).map(|(tool, reply)| reply.unwrap_or_else(|| call::broken(String::new(), tool)));
    let mut replies: Vec<Reply> = replies.collect();
    for request in &surplus {
        replies.push(too_many(host, request).await);
    }
    replies
}

async fn too_many(host: &Inner, request: &Request) -> Reply {
    let message = format!(
        "A batch takes at most {BATCH_REQUESTS_MAX} calls, and this one is over it: it was not looked at. Ask for it again."
    );
    call::refuse(host, request, Rejection::new(Code::Busy, message)).await
}
