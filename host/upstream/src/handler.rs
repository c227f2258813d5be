//! Passes the requests of a server on, and converts what comes back.
#![expect(deprecated, reason = "sampling and roots are deprecated in the protocol, but servers of today use them")]

use crate::guard::origin;
use crate::in_flight::CallInFlight;
use crate::limits::ServerLimits;
use crate::requests::{
    ElicitationForm, ElicitationReply, ElicitationRequest, RequestKinds, RootFolder, ServerReply, ServerRequest,
    ServerRequests,
};
use crate::traffic::Traffic;
use rmcp::RoleClient;
use rmcp::model::{
    self, ClientCapabilities, ClientConfig, ClientResult, ElicitRequestParams, ElicitResult, ElicitationAction,
    ErrorCode, ErrorData, Implementation, InputRequest, ListRootsResult, ProtocolVersion, Root, ServerNotification,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use std::sync::Arc;

/// The code of a request that the host refuses, as in the specification's example for sampling.
const REFUSED: ErrorCode = ErrorCode(-1);

/// The host as the library's client.
pub(crate) struct RequestHandler {
    requests: Arc<dyn ServerRequests>,
    traffic: Arc<Traffic>,
    limits: ServerLimits,
}

impl RequestHandler {
    pub(crate) fn new(requests: Arc<dyn ServerRequests>, traffic: Arc<Traffic>, limits: ServerLimits) -> Self {
        Self { requests, traffic, limits }
    }

    async fn reply(&self, request: ServerRequest, call: Option<CallInFlight>) -> ServerReply {
        let of_call = call.as_ref().and_then(CallInFlight::replier);
        let replier = of_call.unwrap_or(&self.requests);
        tokio::select! {
            reply = replier.reply(request) => reply,
            () = tokio::time::sleep(self.limits.reply_time) => ServerReply::Refused,
            _ = self.traffic.closed() => ServerReply::Refused,
        }
    }
}

impl Service<RoleClient> for RequestHandler {
    async fn handle_request(
        &self,
        request: model::ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        // The library has moved what the transport knows of the request there.
        let call = self.traffic.call_of(origin(&context.extensions));
        let request = match request {
            model::ServerRequest::PingRequest(_) => return Ok(ClientResult::empty(())),
            model::ServerRequest::CreateMessageRequest(request) => sampling(&request.params),
            model::ServerRequest::ElicitRequest(request) => elicitation(request.params),
            model::ServerRequest::ListRootsRequest(_) => Some(ServerRequest::Roots),
            _ => None,
        };
        let Some(request) = request else {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this client has no such method", None));
        };
        let reply = tokio::select! {
            reply = self.reply(request.clone(), call) => reply,
            () = context.ct.cancelled() => ServerReply::Refused,
        };
        convert(&request, reply).ok_or_else(|| refusal(&request))
    }

    async fn handle_notification(
        &self,
        _: ServerNotification,
        _: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // `GuardedTransport` has recorded what the host needs of a notification.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("portcullis", env!("CARGO_PKG_VERSION"));
        // Named in a handshake. The modern era has none, and names its version with each request.
        ClientConfig::new(capabilities(self.requests.supported()), client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}

/// Reads a request that is part of an answer, as servers of the modern era send it. `None` for a malformed one.
pub(crate) fn request_in_answer(request: InputRequest) -> Option<ServerRequest> {
    match request {
        InputRequest::CreateMessage(request) => sampling(&request.params),
        InputRequest::Elicitation(request) => elicitation(request.params),
        InputRequest::ListRoots(_) => Some(ServerRequest::Roots),
        _ => None,
    }
}

/// Converts a reply to the result that the server expects. `None` if the host refuses in a way that has no result.
pub(crate) fn convert(request: &ServerRequest, reply: ServerReply) -> Option<ClientResult> {
    match (request, reply) {
        (ServerRequest::Elicitation(_), ServerReply::Elicited(reply)) => Some(elicited(reply).into()),
        // A server understands a refusal to ask its user as the user's no.
        (ServerRequest::Elicitation(_), _) => Some(ElicitResult::new(ElicitationAction::Decline).into()),
        (ServerRequest::Sampling(_), ServerReply::Sampled(result)) => {
            serde_json::from_value(result).ok().map(|result| ClientResult::CreateMessageResult(Box::new(result)))
        }
        (ServerRequest::Roots, ServerReply::Roots(folders)) => {
            let root = |folder: RootFolder| match folder.name {
                Some(name) => Root::new(folder.uri).with_name(name),
                None => Root::new(folder.uri),
            };
            Some(ListRootsResult::new(folders.into_iter().map(root).collect()).into())
        }
        (ServerRequest::Sampling(_) | ServerRequest::Roots, _) => None,
    }
}

/// Names what a request asks for, in an error.
pub(crate) fn name_of(request: &ServerRequest) -> &'static str {
    match request {
        ServerRequest::Elicitation(_) => "an answer of the user",
        ServerRequest::Sampling(_) => "a completion of a model",
        ServerRequest::Roots => "the folders of the client",
    }
}

fn refusal(request: &ServerRequest) -> ErrorData {
    ErrorData::new(REFUSED, format!("this client does not give {}", name_of(request)), None)
}

fn sampling(params: &model::CreateMessageRequestParams) -> Option<ServerRequest> {
    serde_json::to_value(params).ok().map(ServerRequest::Sampling)
}

fn elicitation(params: ElicitRequestParams) -> Option<ServerRequest> {
    let (message, form) = match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            (message, ElicitationForm::Fields(serde_json::to_value(requested_schema).ok()?))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => (message, ElicitationForm::Url(url)),
        _ => return None,
    };
    Some(ServerRequest::Elicitation(ElicitationRequest { message, form }))
}

fn elicited(reply: ElicitationReply) -> ElicitResult {
    match reply {
        ElicitationReply::Accepted(content) if content.is_null() => ElicitResult::new(ElicitationAction::Accept),
        ElicitationReply::Accepted(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
        ElicitationReply::Declined => ElicitResult::new(ElicitationAction::Decline),
        ElicitationReply::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
    }
}

/// Returns the capabilities that stand for kinds of request.
fn capabilities(kinds: RequestKinds) -> ClientCapabilities {
    let mut capabilities = ClientCapabilities::default();
    // A call waits for its task as for any answer.
    capabilities.extensions = Some([(model::TASKS_EXTENSION_ID.to_owned(), model::JsonObject::new())].into());
    if kinds.elicitation {
        let elicitation = model::ElicitationCapability::new().with_form(model::FormElicitationCapability::new());
        capabilities.elicitation = Some(elicitation.with_url(model::UrlElicitationCapability::new()));
    }
    capabilities.sampling = kinds.sampling.then(Default::default);
    capabilities.roots = kinds.roots.then(Default::default);
    capabilities
}
