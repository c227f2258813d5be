//! Calls that the console runs itself, because their own process has ended.

use portcullis::Reply;
use portcullis::policy::recovery::RecoverMutex;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Replies that are kept for their readers. The audit log has all of them.
const REPLIES_KEPT: usize = 100;

/// The calls that the console runs or ran, by the ids of their requests.
#[derive(Default)]
pub(crate) struct ResumedCalls(Mutex<VecDeque<(String, ResumedState)>>);

/// The state of a call that the console runs.
#[derive(Clone)]
pub(crate) enum ResumedState {
    Running,
    Ended(Arc<Reply>),
    /// Why it did not run.
    NotRun(String),
}

impl ResumedCalls {
    /// Returns the state of the call of a request, if the console runs it.
    pub(crate) fn find(&self, request: &str) -> Option<ResumedState> {
        let calls = self.0.lock_recovered();
        calls.iter().find(|(known, _)| known == request).map(|(_, state)| state.clone())
    }

    /// Records the state of the call of a request.
    pub(crate) fn put(&self, request: &str, state: ResumedState) {
        let mut calls = self.0.lock_recovered();
        calls.retain(|(known, _)| known != request);
        // The oldest call may still run. Its reply is then added again when it ends.
        if calls.len() == REPLIES_KEPT {
            calls.pop_front();
        }
        calls.push_back((request.to_owned(), state));
    }
}
