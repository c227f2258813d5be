//! What a message of a client means to the hosts that share its session.

use axum::body::Bytes;
use portcullis::shared_sessions::RELAYED_BYTES_MAX;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, InitializeRequestParams, JsonRpcMessage, RequestId,
};
use std::sync::Arc;

/// A message of a client that more than one host must know of.
#[derive(Clone, Debug)]
pub(crate) enum SharedMeaning {
    /// The beginning of a session, with what any host needs to continue it.
    Begin(Arc<InitializeRequestParams>),
    /// A response to the request with this id, and the whole message.
    Response(Arc<str>, Bytes),
    /// A cancellation of the client's request with this id, and the whole message.
    Cancel(RequestId, Bytes),
}

impl SharedMeaning {
    /// Returns what a message means, if other hosts may have to know of it.
    pub(crate) fn of(message: ClientJsonRpcMessage, bytes: &Bytes) -> Option<Self> {
        let response = |id| match id {
            RequestId::String(id) => Some(Self::Response(id, bytes.clone())),
            // No host gave a request this id.
            RequestId::Number(_) => None,
        };
        match message {
            JsonRpcMessage::Request(request) => match request.request {
                ClientRequest::InitializeRequest(begin) => Some(Self::Begin(Arc::new(begin.params))),
                _ => None,
            },
            JsonRpcMessage::Response(message) => response(message.id),
            JsonRpcMessage::Error(message) => response(message.id?),
            JsonRpcMessage::Notification(notification) => match notification.notification {
                ClientNotification::CancelledNotification(cancelled) => {
                    Some(Self::Cancel(cancelled.params.request_id?, bytes.clone()))
                }
                _ => None,
            },
        }
    }
}

/// Returns a message as text, if another host can be sent it.
pub(crate) fn text(message: &Bytes) -> Option<String> {
    if message.len() > RELAYED_BYTES_MAX {
        return None;
    }
    std::str::from_utf8(message).ok().map(str::to_owned)
}
