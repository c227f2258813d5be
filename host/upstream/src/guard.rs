//! Applies the limits to every message between the host and a server, whatever the transport.
//!
//! The library starts a task for each notification and for each request of a server. So what would start too many is
//! taken out here. Progress and changes of tools only replace a value that someone watches.

use crate::closing::CloseReason;
use crate::traffic::Traffic;
use rmcp::RoleClient;
use rmcp::model::{
    ErrorCode, ErrorData, Extensions, GetExtensions as _, JsonRpcMessage, RequestId, ServerNotification, ServerRequest,
};
use rmcp::service::{InboundStreamOrigin, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A transport with the limits applied.
pub(crate) struct GuardedTransport<T> {
    transport: T,
    traffic: Arc<Traffic>,
    discovery_time: Duration,
    /// When an open request for discovery is given up.
    discovery_end: Option<Instant>,
}

impl<T> GuardedTransport<T> {
    pub(crate) fn new(transport: T, traffic: Arc<Traffic>, discovery_time: Duration) -> Self {
        Self { transport, traffic, discovery_time, discovery_end: None }
    }

    /// Returns whether the library gets a message of the server.
    fn admit(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        match message {
            JsonRpcMessage::Response(response) => self.traffic.close_request(&response.id),
            JsonRpcMessage::Error(error) => match &error.id {
                Some(id) => self.traffic.close_request(id),
                // The library takes it for the answer to the only request that is open while it connects.
                None => self.traffic.is_starting(),
            },
            JsonRpcMessage::Request(request) => {
                let is_ping = matches!(request.request, ServerRequest::PingRequest(_));
                self.traffic.note_server_request(is_ping, origin(request.request.extensions()))
            }
            JsonRpcMessage::Notification(sent) => self.admit_notification(&sent.notification),
        }
    }

    fn admit_notification(&self, notification: &ServerNotification) -> bool {
        match notification {
            ServerNotification::ToolListChangedNotification(_) => {
                self.traffic.note_change();
                false
            }
            ServerNotification::ProgressNotification(progress) => {
                self.traffic.note_progress(&progress.params);
                false
            }
            ServerNotification::CancelledNotification(cancelled) => {
                if let Some(id) = &cancelled.params.request_id {
                    self.traffic.close_subscription(id);
                }
                true
            }
            ServerNotification::SubscriptionsAcknowledgedNotification(_) => true,
            _ => false,
        }
    }

    /// Returns the discovery that has had no answer for too long.
    fn overdue_discovery(&self) -> Option<RequestId> {
        let is_over = self.discovery_end.is_some_and(|end| end <= Instant::now());
        self.traffic.open_discovery().filter(|_| is_over)
    }
}

/// Returns the request of the host that a request of the server belongs to. Only HTTP knows it.
pub(crate) fn origin(extensions: &Extensions) -> Option<&RequestId> {
    match extensions.get::<InboundStreamOrigin>() {
        Some(InboundStreamOrigin::OutboundRequest(id)) => Some(id),
        Some(InboundStreamOrigin::Unassociated) | None => None,
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for GuardedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        // Before it is sent, because the answer can arrive at once.
        self.traffic.note_sent(&message);
        self.discovery_end = self.traffic.open_discovery().map(|_| Instant::now() + self.discovery_time);
        let is_reply = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            JsonRpcMessage::Response(_) | JsonRpcMessage::Notification(_) | JsonRpcMessage::Error(_) => None,
        };
        let (sent, traffic) = (self.transport.send(message), Arc::clone(&self.traffic));
        async move {
            let sent = sent.await;
            if is_reply {
                traffic.note_reply_read();
            }
            // The library forgets a request that could not be sent, so it gets neither an answer nor a cancellation.
            if let (Err(_), Some(id)) = (&sent, &request) {
                traffic.close_request(id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(id) = self.overdue_discovery() {
                // A late answer is dropped from now on. After this error, the library tries the handshake.
                self.traffic.close_request(&id);
                let unknown = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer in time", None);
                return Some(JsonRpcMessage::error(unknown, Some(id)));
            }
            let discovery_end = self.discovery_end.filter(|_| self.traffic.open_discovery().is_some());
            let overdue = async {
                match discovery_end {
                    Some(end) => sleep_until(end).await,
                    None => pending().await,
                }
            };
            // `receive` is cancel safe in both transports, so no message is lost when the deadline is first.
            let message = tokio::select! {
                biased;
                _ = self.traffic.closed() => return None,
                message = self.transport.receive() => message,
                () = overdue => continue,
            };
            let Some(message) = message else {
                // Only counts if the transport has given no reason before.
                self.traffic.close(CloseReason::Disconnected);
                return None;
            };
            if self.admit(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.transport.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_flight::CallInFlight;
    use crate::requests::RefuseRequests;
    use rmcp::model::{
        CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, GetMeta as _, NumberOrString,
        ProgressToken, SubscriptionFilter, SubscriptionsListenRequest, SubscriptionsListenRequestParams,
    };
    use serde_json::json;
    use std::io;

    /// A connection to a server that takes no message.
    struct RefusingTransport;

    impl Transport<RoleClient> for RefusingTransport {
        type Error = io::Error;

        fn send(&mut self, _: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
            std::future::ready(Err(io::ErrorKind::ConnectionRefused.into()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            pending().await
        }

        async fn close(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn call(id: RequestId) -> TxJsonRpcMessage<RoleClient> {
        let mut request = CallToolRequest::new(CallToolRequestParams::new("run"));
        request.extensions.insert(CallInFlight::new(Some(Arc::new(RefuseRequests::default()))));
        let mut request = ClientRequest::CallToolRequest(request);
        request.get_meta_mut().set_progress_token(ProgressToken(id.clone()));
        ClientJsonRpcMessage::request(request, id)
    }

    #[tokio::test]
    async fn a_request_that_could_not_be_sent_is_not_open() {
        let traffic = Arc::new(Traffic::new());
        let mut transport = GuardedTransport::new(RefusingTransport, Arc::clone(&traffic), Duration::ZERO);
        let id = NumberOrString::Number(1);
        let sent = transport.send(call(id.clone()));
        assert!(traffic.expected(&id).is_some() && traffic.call_of(None).is_some());
        sent.await.unwrap_err();
        assert!(traffic.expected(&id).is_none() && traffic.call_of(None).is_none());
        // A request of the server counts for no call that has failed, so it is unasked.
        assert!((0..50).all(|_| traffic.note_server_request(false, None)));
    }

    #[test]
    fn a_server_that_cancels_a_subscription_closes_it_but_no_call() {
        let traffic = Arc::new(Traffic::new());
        let transport = GuardedTransport::new(RefusingTransport, Arc::clone(&traffic), Duration::ZERO);
        let (of_call, of_subscription) = (NumberOrString::Number(1), NumberOrString::Number(2));
        let params = SubscriptionsListenRequestParams::new(SubscriptionFilter::default());
        let listen = ClientRequest::SubscriptionsListenRequest(SubscriptionsListenRequest::new(params));
        traffic.note_sent(&call(of_call.clone()));
        traffic.note_sent(&ClientJsonRpcMessage::request(listen, of_subscription.clone()));
        for id in [1, 2] {
            let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
            assert!(transport.admit(&serde_json::from_value(cancelled).unwrap()));
        }
        assert!(traffic.expected(&of_call).is_some());
        assert!(traffic.expected(&of_subscription).is_none());
    }
}
