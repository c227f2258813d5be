//! The instances of sessions that this process runs.
//!
//! If other hosts serve the same sessions, each request and event of an instance has its tag, and only what has the tag
//! of an instance reaches it. Otherwise this changes nothing about the library's sessions.

use super::instance_tag::{HostName, InstanceTag, TaggedText};
use crate::identity::TransportIdentity;
use crate::server::Server;
use futures_core::Stream;
use portcullis::policy::recovery::RecoverMutex;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, InitializeRequest, InitializeRequestParams,
    InitializedNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerNotification,
    ToolListChangedNotification,
};
use rmcp::service::serve_server_with_ct;
use rmcp::transport::TransportAdapterIdentity;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{RestoreOutcome, ServerSseMessage, SessionId, SessionManager};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;

/// How many of a client's last requests an instance remembers. A client cancels one that it still waits for, and it has
/// fewer open.
const REQUESTS_REMEMBERED_MAX: usize = 1024;

type Transport = <LocalSessionManager as SessionManager>::Transport;
type Result<T> = std::result::Result<T, LocalSessionManagerError>;

/// The instances of sessions in this process.
#[derive(Default)]
pub(crate) struct SessionInstances {
    local: LocalSessionManager,
    /// This host's name, if other hosts serve the same sessions.
    host: Option<HostName>,
    shared: Mutex<HashMap<SessionId, SharedInstance>>,
    next: AtomicU64,
    // Keyed at random, so that a client cannot choose two ids with one hash.
    hasher: RandomState,
}

/// An instance of a session that other hosts serve too.
struct SharedInstance {
    tag: InstanceTag,
    /// Hashes of the ids of the last requests.
    requests: VecDeque<u64>,
}

/// Where a stream is that a client wants to resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamPlace {
    /// On this host, or it is a stream for notifications, of which every host has one.
    Here,
    /// It was a stream of a request that ran on another host.
    Elsewhere,
    /// It was a stream of an instance of this host that has ended.
    Ended,
}

impl SessionInstances {
    /// Creates the instances of a process. With a name, other hosts serve the same sessions.
    pub(crate) fn new(host: Option<HostName>) -> Self {
        let mut local = LocalSessionManager::default();
        // Disabled, because a session with a long quiet call is not idle. `sessions` knows the open requests and
        // decides.
        local.session_config.keep_alive = None;
        Self { local, host, ..Self::default() }
    }

    /// Returns the ids of the instances that run.
    pub(crate) async fn ids(&self) -> HashSet<SessionId> {
        self.local.sessions.read().await.keys().cloned().collect()
    }

    /// Continues a session of this client that another host began.
    ///
    /// # Errors
    /// It does not begin.
    pub(crate) async fn restore(
        self: &Arc<Self>,
        (id, identity): (&SessionId, TransportIdentity),
        parameters: InitializeRequestParams,
        server: Server,
        over: CancellationToken,
    ) -> Result<()> {
        // There is nothing to do if the library has the session already.
        let RestoreOutcome::Restored(transport) = self.local.restore_session(id.clone()).await? else { return Ok(()) };
        self.tag(id);
        let (instances, ending) = (Arc::clone(self), id.clone());
        tokio::spawn(async move {
            let served = serve_server_with_ct::<_, Transport, _, TransportAdapterIdentity>(server, transport, over);
            if let Ok(running) = served.await {
                let _ = running.waiting().await;
            }
            // An error means that it has already ended.
            drop(instances.close_session(&ending).await);
        });
        let mut begin = InitializeRequest::new(parameters);
        begin.extensions.insert(identity);
        // The response goes to no client, so any id will do.
        let begin = ClientJsonRpcMessage::request(ClientRequest::InitializeRequest(begin), RequestId::Number(0));
        self.initialize_session(id, begin).await.map(drop)
    }

    /// Returns whether one of the last requests to this instance of a session had this id.
    pub(crate) fn has_request(&self, id: &str, request: &RequestId) -> bool {
        let hash = self.hasher.hash_one(request);
        self.shared.lock_recovered().get(id).is_some_and(|instance| instance.requests.contains(&hash))
    }

    /// Returns the other host that sent the request with this id.
    pub(crate) fn other_host(&self, request: &str) -> Option<HostName> {
        let host = TaggedText::parse(request)?.tag.host().clone();
        (Some(&host) != self.host.as_ref()).then_some(host)
    }

    /// Returns where the stream with this event is.
    pub(crate) fn stream_place(&self, id: &str, event: &str) -> StreamPlace {
        let Some(TaggedText { tag, rest }) = TaggedText::parse(event) else { return StreamPlace::Here };
        // The id of an event of a request has a second part.
        if !rest.contains('/') || self.tag_of(id).as_ref() == Some(&tag) {
            StreamPlace::Here
        } else if Some(tag.host()) == self.host.as_ref() {
            StreamPlace::Ended
        } else {
            StreamPlace::Elsewhere
        }
    }

    /// Gives a session's instance a tag, if other hosts serve the session too.
    fn tag(&self, id: &SessionId) {
        let Some(host) = &self.host else { return };
        let tag = InstanceTag::new(host.clone(), self.next.fetch_add(1, Ordering::Relaxed));
        self.shared.lock_recovered().insert(id.clone(), SharedInstance { tag, requests: VecDeque::new() });
    }

    fn tag_of(&self, id: &str) -> Option<InstanceTag> {
        self.shared.lock_recovered().get(id).map(|instance| instance.tag.clone())
    }

    fn remember(&self, id: &SessionId, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else { return };
        let hash = self.hasher.hash_one(&request.id);
        if let Some(instance) = self.shared.lock_recovered().get_mut(id) {
            if instance.requests.len() >= REQUESTS_REMEMBERED_MAX {
                instance.requests.pop_front();
            }
            instance.requests.push_back(hash);
        }
    }

    fn tagged<S>(&self, id: &SessionId, stream: S) -> TaggedStream
    where
        S: Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    {
        TaggedStream { tag: self.tag_of(id), first: None, stream: Box::pin(stream) }
    }
}

impl SessionManager for SessionInstances {
    type Error = LocalSessionManagerError;
    type Transport = Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport)> {
        let (id, transport) = self.local.create_session().await?;
        self.tag(&id);
        Ok((id, transport))
    }

    async fn initialize_session(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<ServerJsonRpcMessage> {
        let identity = identity_of(&message).cloned();
        let response = self.local.initialize_session(id, message).await?;
        if self.host.is_some() {
            // The client says this to one host, and every instance needs it once.
            let mut initialized = InitializedNotification::default();
            // The subscription that it begins counts for the client's principal.
            if let Some(identity) = identity {
                initialized.extensions.insert(identity);
            }
            let initialized = ClientNotification::InitializedNotification(initialized);
            self.local.accept_message(id, ClientJsonRpcMessage::notification(initialized)).await?;
        }
        Ok(response)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<()> {
        self.shared.lock_recovered().remove(id);
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        self.remember(id, &message);
        Ok(self.tagged(id, self.local.create_stream(id, message).await?))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<()> {
        let message = match self.tag_of(id) {
            Some(tag) => untagged(&tag, message),
            None => Some(message),
        };
        match message {
            Some(message) => self.local.accept_message(id, message).await,
            None => Ok(()),
        }
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        Ok(self.tagged(id, self.local.create_standalone_stream(id).await?))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static> {
        let Some(own) = self.tag_of(id) else {
            return Ok(self.tagged(id, self.local.resume(id, last_event_id).await?));
        };
        match TaggedText::parse(&last_event_id) {
            Some(TaggedText { tag, rest }) if tag == own => {
                Ok(self.tagged(id, self.local.resume(id, rest.to_owned()).await?))
            }
            Some(_) | None => {
                // A stream for notifications. The client may have missed one while it had no stream.
                let mut stream = self.tagged(id, self.local.create_standalone_stream(id).await?);
                let changed = ServerNotification::ToolListChangedNotification(ToolListChangedNotification::default());
                stream.first = Some(ServerSseMessage::from_message(ServerJsonRpcMessage::notification(changed)));
                Ok(stream)
            }
        }
    }
}

/// Returns the identity of the client that begins a session with this message.
fn identity_of(message: &ClientJsonRpcMessage) -> Option<&TransportIdentity> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::InitializeRequest(begin) = &request.request else { return None };
    TransportIdentity::of(&begin.extensions)
}

/// Returns a message of a client as the instance with this tag knows it. `None` if it is not for this instance.
fn untagged(own: &InstanceTag, message: ClientJsonRpcMessage) -> Option<ClientJsonRpcMessage> {
    let own_number = |id: &RequestId| {
        let RequestId::String(id) = id else { return None };
        let TaggedText { tag, rest } = TaggedText::parse(id)?;
        (tag == *own).then(|| rest.parse().ok().map(RequestId::Number)).flatten()
    };
    match message {
        JsonRpcMessage::Response(mut response) => {
            response.id = own_number(&response.id)?;
            Some(JsonRpcMessage::Response(response))
        }
        JsonRpcMessage::Error(mut error) => {
            error.id = Some(own_number(error.id.as_ref()?)?);
            Some(JsonRpcMessage::Error(error))
        }
        // The instance had it from its host.
        JsonRpcMessage::Notification(notification)
            if matches!(notification.notification, ClientNotification::InitializedNotification(_)) =>
        {
            None
        }
        message @ (JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_)) => Some(message),
    }
}

/// The stream of an instance, with its tag on each event and each request.
struct TaggedStream {
    tag: Option<InstanceTag>,
    first: Option<ServerSseMessage>,
    stream: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
}

impl Stream for TaggedStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        let polled = self.stream.as_mut().poll_next(context);
        match &self.tag {
            Some(tag) => polled.map(|message| message.map(|message| tagged_message(tag, message))),
            None => polled,
        }
    }
}

fn tagged_message(tag: &InstanceTag, mut message: ServerSseMessage) -> ServerSseMessage {
    message.event_id = message.event_id.map(|id| tag.on(id));
    message.message = message.message.map(|message| match &*message {
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
            let mut message = Arc::unwrap_or_clone(message);
            tag_request(tag, &mut message);
            Arc::new(message)
        }
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => message,
    });
    message
}

/// Tags the id of a request of the server: of the request itself, or of its cancellation.
fn tag_request(tag: &InstanceTag, message: &mut ServerJsonRpcMessage) {
    let id = match message {
        JsonRpcMessage::Request(request) => Some(&mut request.id),
        JsonRpcMessage::Notification(notification) => match &mut notification.notification {
            ServerNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_mut(),
            _ => None,
        },
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => None,
    };
    if let Some(id) = id {
        *id = RequestId::String(tag.on(&*id).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tag(number: u64) -> InstanceTag {
        InstanceTag::new(HostName::random().unwrap(), number)
    }

    fn response(id: &serde_json::Value) -> ClientJsonRpcMessage {
        serde_json::from_value(json!({ "jsonrpc": "2.0", "id": id, "result": {} })).unwrap()
    }

    #[test]
    fn an_answer_reaches_only_the_instance_that_asked() {
        let (own, other) = (tag(1), tag(1));
        let later = InstanceTag::new(own.host().clone(), 2);
        let reached = untagged(&own, response(&json!(own.on(5)))).unwrap();
        assert_eq!(serde_json::to_value(reached).unwrap()["id"], 5);
        for id in [json!(5), json!("5"), json!(other.on(5)), json!(later.on(5)), json!(own.on("x")), json!(own.on(""))]
        {
            assert!(untagged(&own, response(&id)).is_none(), "{id}");
        }
    }

    #[test]
    fn a_request_and_its_cancellation_have_the_tag() {
        let own = tag(3);
        let request = json!({ "jsonrpc": "2.0", "id": 4, "method": "roots/list" });
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 4 } });
        let sent = |message: serde_json::Value| {
            let message = ServerSseMessage::new("7/2", serde_json::from_value(message).unwrap());
            let message = tagged_message(&own, message);
            assert_eq!(message.event_id.as_deref(), Some(&*own.on("7/2")));
            serde_json::to_value(&*message.message.unwrap()).unwrap()
        };
        assert_eq!(sent(request)["id"], own.on(4));
        assert_eq!(sent(cancelled)["params"]["requestId"], own.on(4));
        let response = sent(json!({ "jsonrpc": "2.0", "id": 4, "result": {} }));
        assert_eq!(response["id"], 4, "the client chose this id");
    }
}
