//! Runs several calls at the same time, in the order that their tools allow.

use super::steps;
use crate::inner::HostState;
use crate::reply::Reply;
use crate::request::Request;
use crate::steering::Steering;
use crate::turn::Turns;
use portcullis_sandbox::Cancellation;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Runs calls like [`together`], for a batch: a call whose own step makes calls.
pub(crate) fn together_boxed<'a>(
    host: &'a Arc<HostState>,
    requests: Vec<Request>,
    at_once: usize,
    ended: (&'a Cancellation, &'a Steering),
    replied: Box<dyn FnMut(usize, Reply) + Send + 'a>,
) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>> {
    Box::pin(together(host, requests, at_once, ended, replied))
}

/// Runs calls, at most `at_once` of them at the same time. Passes on each reply with the index of its request as soon
/// as there is one.
pub(crate) async fn together(
    host: &Arc<HostState>,
    requests: Vec<Request>,
    at_once: usize,
    (cancellation, steering): (&Cancellation, &Steering),
    mut replied: impl FnMut(usize, Reply),
) {
    let turns = Turns::new(at_once.clamp(1, host.admissions.calls_of_one()));
    let names: Vec<String> = requests.iter().map(|request| request.tool.clone()).collect();
    // Dropping the set aborts its tasks, so no call outlives this future.
    let mut calls = JoinSet::new();
    for (index, request) in requests.into_iter().enumerate() {
        let mut request = Request { turn: Some(turns.turn(steering.clone())), ..request };
        // Begin the record here, so that a call is recorded even if its task is dropped before its first poll.
        let record = steps::begin(host, &mut request);
        let (host, cancellation) = (Arc::clone(host), cancellation.clone());
        calls.spawn(async move { (index, steps::go_until(&host, request, record, &cancellation).await) });
    }
    let mut is_open: Vec<bool> = names.iter().map(|_| true).collect();
    while let Some(joined) = calls.join_next().await {
        // A task that panicked returns no index.
        if let Ok((index, reply)) = joined {
            is_open[index] = false;
            replied(index, reply);
        }
    }
    for (index, tool) in names.into_iter().enumerate().filter(|(index, _)| is_open[*index]) {
        replied(index, steps::broken(String::new(), tool));
    }
}
