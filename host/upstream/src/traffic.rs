//! What passes between the host and one server: the requests that are open, and the counts that have limits.

use crate::closing::CloseReason;
use crate::in_flight::CallInFlight;
use crate::progress::ServerProgress;
use portcullis_policy::recovery::RecoverMutex;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, ProgressNotificationParam};
use rmcp::model::{GetExtensions, GetMeta, JsonRpcMessage, NumberOrString, ProgressToken, RequestId};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;

/// Maximum requests of a server that it has not read the reply to.
const UNREAD_REPLIES_MAX: usize = 64;

/// Maximum requests of a server between two requests of the host. Pings do not count.
const UNASKED_REQUESTS_MAX: usize = 100;

/// The traffic with one server.
pub(crate) struct Traffic {
    open: Mutex<OpenRequests>,
    /// How often the server has said that its tools changed.
    changes: watch::Sender<u64>,
    closed: watch::Sender<Option<CloseReason>>,
    unread_replies: AtomicUsize,
    unasked_requests: AtomicUsize,
}

/// What the answer to a request of the host must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedAnswer {
    Discovery,
    Handshake,
    Tools,
    Call,
    Subscription,
    Task,
    Resources,
    Templates,
    Resource,
    Prompts,
    Prompt,
    Other,
}

/// The requests of the host that have no answer yet.
#[derive(Default)]
struct OpenRequests {
    by_id: HashMap<RequestId, OpenRequest>,
    calls: HashMap<ProgressToken, CallInFlight>,
}

struct OpenRequest {
    expected: ExpectedAnswer,
    token: Option<ProgressToken>,
}

impl Traffic {
    pub(crate) fn new() -> Self {
        Self {
            open: Mutex::default(),
            changes: watch::Sender::new(0),
            closed: watch::Sender::new(None),
            unread_replies: AtomicUsize::new(0),
            unasked_requests: AtomicUsize::new(0),
        }
    }

    /// Records a message that is about to be sent.
    pub(crate) fn note_sent(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => self.note_request(&request.id, &request.request),
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.open.lock_recovered().close(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    fn note_request(&self, id: &RequestId, request: &ClientRequest) {
        self.unasked_requests.store(0, Ordering::Relaxed);
        let expected = expected_answer(request);
        let mut open = self.open.lock_recovered();
        if expected == ExpectedAnswer::Handshake {
            // A late answer to discovery must not be taken for one to the handshake.
            open.by_id.retain(|_, request| request.expected != ExpectedAnswer::Discovery);
        }
        let call = request.extensions().get::<CallInFlight>();
        let token = call.and_then(|_| request.get_meta().get_progress_token());
        if let (Some(call), Some(token)) = (call, &token) {
            open.calls.insert(token.clone(), call.clone());
        }
        open.by_id.insert(id.clone(), OpenRequest { expected, token });
    }

    /// Returns what the answer to an open request must be.
    pub(crate) fn expected(&self, id: &RequestId) -> Option<ExpectedAnswer> {
        self.open.lock_recovered().find(id).map(|(_, request)| request.expected)
    }

    /// Closes a request, because it has its answer or will get none. Returns whether it was open. For a second answer,
    /// it is not.
    pub(crate) fn close_request(&self, id: &RequestId) -> bool {
        self.open.lock_recovered().close(id)
    }

    /// Closes a subscription that the server has cancelled. It gets no answer.
    pub(crate) fn close_subscription(&self, id: &RequestId) {
        let mut open = self.open.lock_recovered();
        // A server can cancel no other request of the host. In the handshake era, the id is one of its own requests.
        if open.find(id).is_some_and(|(_, request)| request.expected == ExpectedAnswer::Subscription) {
            open.close(id);
        }
    }

    /// Returns the open request for discovery.
    pub(crate) fn open_discovery(&self) -> Option<RequestId> {
        self.open_with(ExpectedAnswer::Discovery)
    }

    /// Returns whether the connection is still being made.
    pub(crate) fn is_starting(&self) -> bool {
        self.open_discovery().or_else(|| self.open_with(ExpectedAnswer::Handshake)).is_some()
    }

    fn open_with(&self, expected: ExpectedAnswer) -> Option<RequestId> {
        let open = self.open.lock_recovered();
        open.by_id.iter().find(|(_, request)| request.expected == expected).map(|(id, _)| id.clone())
    }

    /// Records a report about a call.
    pub(crate) fn note_progress(&self, params: &ProgressNotificationParam) {
        // A report about a call that has ended is dropped.
        if let Some(call) = self.open.lock_recovered().calls.get(&params.progress_token) {
            call.report(ServerProgress::of(params));
        }
    }

    /// Records that the server's tools have changed.
    pub(crate) fn note_change(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    /// Returns how often the server's tools have changed. A slow reader only sees the newest number.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Records a request of the server, and the request of the host that it belongs to, if the transport knows it.
    /// Returns whether it gets a reply.
    pub(crate) fn note_server_request(&self, is_ping: bool, origin: Option<&RequestId>) -> bool {
        if self.unread_replies.fetch_add(1, Ordering::Relaxed) >= UNREAD_REPLIES_MAX {
            self.close(CloseReason::UnreadReplies { max: UNREAD_REPLIES_MAX });
            return false;
        }
        if is_ping || self.count_for_calls(origin) {
            return true;
        }
        self.note_reply_read();
        false
    }

    /// Returns the call that a request of the server belongs to: the one that the transport knows, or the only one.
    pub(crate) fn call_of(&self, origin: Option<&RequestId>) -> Option<CallInFlight> {
        let open = self.open.lock_recovered();
        if let Some(id) = origin {
            return open.call(id).cloned();
        }
        let mut calls = open.calls.values();
        calls.next().filter(|_| calls.next().is_none()).cloned()
    }

    /// Counts a request of the server for its call. Over pipes that is each call in flight, because no call can be told
    /// from another.
    fn count_for_calls(&self, origin: Option<&RequestId>) -> bool {
        let open = self.open.lock_recovered();
        if let Some(call) = origin.and_then(|id| open.call(id)) {
            return call.count_request();
        }
        if open.calls.is_empty() {
            drop(open);
            let is_within = self.unasked_requests.fetch_add(1, Ordering::Relaxed) < UNASKED_REQUESTS_MAX;
            if !is_within {
                self.close(CloseReason::UnaskedRequests { max: UNASKED_REQUESTS_MAX });
            }
            return is_within;
        }
        // Every call counts, so no short circuit.
        open.calls.values().filter(|call| !call.count_request()).count() == 0
    }

    /// Records that the server has read a reply, or that there is none.
    pub(crate) fn note_reply_read(&self) {
        let _ =
            self.unread_replies.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |replies| replies.checked_sub(1));
    }

    /// Records that the connection is made. The library leaves earlier requests of the server without a reply.
    pub(crate) fn note_start(&self) {
        self.unread_replies.store(0, Ordering::Relaxed);
    }

    /// Ends the connection. Only the first reason counts.
    pub(crate) fn close(&self, reason: CloseReason) {
        self.closed.send_if_modified(|closed| {
            let is_first = closed.is_none();
            if is_first {
                *closed = Some(reason);
            }
            is_first
        });
    }

    /// Waits until the connection has ended.
    pub(crate) async fn closed(&self) -> CloseReason {
        let mut closed = self.closed.subscribe();
        match closed.wait_for(Option::is_some).await.map(|reason| reason.clone()) {
            Ok(Some(reason)) => reason,
            // The sender is in `self`, so it outlives this future.
            Ok(None) | Err(_) => CloseReason::Broken,
        }
    }

    /// Returns why the connection has ended, if it has.
    pub(crate) fn close_reason(&self) -> Option<CloseReason> {
        self.closed.borrow().clone()
    }
}

impl OpenRequests {
    /// Returns the request that an answer is for. Some servers answer the number 5 with the text "5".
    fn find(&self, id: &RequestId) -> Option<(RequestId, &OpenRequest)> {
        let number = || match id {
            NumberOrString::Number(_) => None,
            NumberOrString::String(text) => text.parse().ok().map(NumberOrString::Number),
        };
        let found = |id: RequestId| self.by_id.get(&id).map(|request| (id, request));
        found(id.clone()).or_else(|| number().and_then(found))
    }

    /// Returns the call that a request is for.
    fn call(&self, id: &RequestId) -> Option<&CallInFlight> {
        self.calls.get(self.by_id.get(id)?.token.as_ref()?)
    }

    fn close(&mut self, id: &RequestId) -> bool {
        let Some(id) = self.find(id).map(|(id, _)| id) else { return false };
        if let Some(token) = self.by_id.remove(&id).and_then(|request| request.token) {
            self.calls.remove(&token);
        }
        true
    }
}

fn expected_answer(request: &ClientRequest) -> ExpectedAnswer {
    match request {
        ClientRequest::DiscoverRequest(_) => ExpectedAnswer::Discovery,
        ClientRequest::InitializeRequest(_) => ExpectedAnswer::Handshake,
        ClientRequest::ListToolsRequest(_) => ExpectedAnswer::Tools,
        ClientRequest::CallToolRequest(_) => ExpectedAnswer::Call,
        ClientRequest::SubscriptionsListenRequest(_) => ExpectedAnswer::Subscription,
        ClientRequest::GetTaskRequest(_) => ExpectedAnswer::Task,
        ClientRequest::ListResourcesRequest(_) => ExpectedAnswer::Resources,
        ClientRequest::ListResourceTemplatesRequest(_) => ExpectedAnswer::Templates,
        ClientRequest::ReadResourceRequest(_) => ExpectedAnswer::Resource,
        ClientRequest::ListPromptsRequest(_) => ExpectedAnswer::Prompts,
        ClientRequest::GetPromptRequest(_) => ExpectedAnswer::Prompt,
        _ => ExpectedAnswer::Other,
    }
}
