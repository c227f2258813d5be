//! Calls a tool of a server.

use crate::answer;
use crate::error::ServerError;
use crate::exchange::OpenExchange;
use crate::handler;
use crate::in_flight::{CallInFlight, REQUESTS_PER_CALL_MAX};
use crate::limits::ServerLimits;
use crate::progress::ServerProgress;
use crate::requests::ServerRequests;
use crate::traffic::Traffic;
use portcullis_definitions::manifest::Answer;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, InputRequests, InputResponses, ServerResult,
};
use rmcp::service::Peer;
use serde_json::{Map, Value};
use std::future::pending;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;
use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

/// Maximum rounds of input that a server can ask for before it answers a call. A tool that asks its user two or three
/// times is usual.
const INPUT_ROUNDS_MAX: usize = 10;

/// Gets the reports about a running call. A slow listener only gets the newest.
pub type ProgressListener = Box<dyn FnMut(ServerProgress) + Send>;

/// The circumstances of a call.
pub struct ServerCall {
    /// When the call ends without an answer.
    pub deadline: Instant,
    /// Ends the call. The server is told, and its late answer is dropped.
    pub cancellation: CancellationToken,
    /// Whether the tool has an output schema, so that its structured content is the output.
    pub has_output_schema: bool,
    /// Gets the reports about the call.
    pub on_progress: Option<ProgressListener>,
    /// Replies to what the server asks during the call, in place of what replies for the whole connection. Over pipes,
    /// a request belongs to the call only if no other call is in flight.
    pub requests: Option<Arc<dyn ServerRequests>>,
}

/// The parts of a connection that a call needs.
pub(crate) struct CallContext<'a> {
    pub(crate) peer: &'a Peer<RoleClient>,
    pub(crate) traffic: &'a Arc<Traffic>,
    pub(crate) limits: &'a ServerLimits,
    pub(crate) requests: &'a dyn ServerRequests,
}

impl CallContext<'_> {
    /// Calls a tool, and ends when the answer is there or one of the call's limits is reached.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        call: ServerCall,
    ) -> Result<Answer, ServerError> {
        let in_flight = CallInFlight::new(call.requests);
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let listening = listen(in_flight.progress(), call.on_progress);
        let result = tokio::select! {
            biased;
            // A report that came before the answer is passed on before it.
            never = listening => never,
            result = self.result(params, &in_flight) => result?,
            () = call.cancellation.cancelled() => return Err(ServerError::Cancelled),
            () = in_flight.flooded() => return Err(ServerError::TooManyRequests { max: REQUESTS_PER_CALL_MAX }),
            () = sleep_until(call.deadline.into()) => return Err(ServerError::Timeout),
        };
        answer::convert(result, call.has_output_schema, self.limits.result_bytes)
    }

    async fn result(
        &self,
        params: CallToolRequestParams,
        in_flight: &CallInFlight,
    ) -> Result<CallToolResult, ServerError> {
        match self.rounds(params, in_flight).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::CreateTaskResult(created) => self.wait_for_task(created.task, in_flight).await,
            _ => Err(ServerError::Malformed { problem: "it is no result of a call".to_owned() }),
        }
    }

    /// Sends the request again with the input that the server asks for, until it answers.
    async fn rounds(
        &self,
        mut params: CallToolRequestParams,
        in_flight: &CallInFlight,
    ) -> Result<ServerResult, ServerError> {
        let mut rounds = 0;
        loop {
            let mut request = CallToolRequest::new(params.clone());
            request.extensions.insert(in_flight.clone());
            let request = ClientRequest::CallToolRequest(request);
            let result = OpenExchange::begin(self.peer, self.traffic, request).await?.answer().await?;
            let ServerResult::InputRequiredResult(required) = result else { return Ok(result) };
            // Before a user is asked for input that no request would carry.
            if rounds == INPUT_ROUNDS_MAX {
                return Err(ServerError::TooManyRounds { max: INPUT_ROUNDS_MAX });
            }
            rounds += 1;
            params.request_state = required.request_state.clone();
            params.input_responses = Some(self.input(required.input_requests.unwrap_or_default(), in_flight).await?);
        }
    }

    /// Gets the input that a server asks for in place of an answer.
    pub(crate) async fn input(
        &self,
        requests: InputRequests,
        in_flight: &CallInFlight,
    ) -> Result<InputResponses, ServerError> {
        let mut responses = InputResponses::new();
        for (key, request) in requests {
            // Requests in an answer count like those that a server sends, so neither way avoids the limit.
            if !in_flight.count_request() {
                return Err(ServerError::TooManyRequests { max: REQUESTS_PER_CALL_MAX });
            }
            let request = handler::request_in_answer(request)
                .ok_or_else(|| ServerError::Malformed { problem: "it asks for input of an unknown kind".to_owned() })?;
            let reply = in_flight.replier().map_or(self.requests, |replier| &**replier).reply(request.clone()).await;
            let result = handler::convert(&request, reply)
                .ok_or(ServerError::RequestRefused { what: handler::name_of(&request) })?;
            let response =
                serde_json::to_value(result).map_err(|error| ServerError::Malformed { problem: error.to_string() })?;
            responses.insert(key, response);
        }
        Ok(responses)
    }
}

/// Passes reports on, without end.
async fn listen<T>(mut progress: watch::Receiver<Option<ServerProgress>>, on_progress: Option<ProgressListener>) -> T {
    if let Some(mut on_progress) = on_progress {
        while progress.changed().await.is_ok() {
            let newest = progress.borrow_and_update().clone();
            if let Some(newest) = newest {
                on_progress(newest);
            }
        }
    }
    pending().await
}
