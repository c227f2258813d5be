//! Decodes a line into a message.
//!
//! An answer is read as what its request demands, and as nothing else. So it is read once, without a copy of its
//! values, and an answer of the wrong kind has a precise error.

use crate::traffic::ExpectedAnswer;
use portcullis_definitions::text;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolResult, CreateTaskResult, DiscoverResult, ErrorCode, ErrorData, GetPromptResult, GetTaskResult,
    InitializeResult, InputRequiredResult, JsonRpcMessage, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, ReadResourceResult, RequestId, ServerResult, SubscriptionsListenResult,
};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

/// The code of the error that stands for a malformed answer. No specification gives it a meaning.
pub(crate) const MALFORMED_ANSWER: ErrorCode = ErrorCode(-31_999);

/// Maximum length of the description of a problem, in bytes. It can quote the server.
const PROBLEM_BYTES_MAX: usize = 300;

/// A line of a server's output.
pub(crate) enum DecodedLine {
    /// A message.
    Message(Box<RxJsonRpcMessage<RoleClient>>),
    /// A message that the host has no use for.
    Unused,
    /// Something that is no message.
    Noise,
}

/// The keys of a message that say what it is.
#[derive(Deserialize)]
struct Head {
    id: Option<RequestId>,
    method: Option<String>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// A message of which only the result matters.
#[derive(Deserialize)]
struct WithResult<T> {
    result: T,
}

/// A message of which only the error matters.
#[derive(Deserialize)]
struct WithError {
    error: ErrorData,
}

/// Decodes a line. `expected` returns what the answer to an open request must be.
pub(crate) fn decode(
    line: &[u8],
    values_max: usize,
    expected: impl FnOnce(&RequestId) -> Option<ExpectedAnswer>,
) -> DecodedLine {
    let Ok(head) = serde_json::from_slice::<Head>(line) else { return DecodedLine::Noise };
    // Counted before values are built, because each takes far more memory than its text.
    let has_too_much = || count_values(line) > values_max;
    match (head.method, head.id, head.result, head.error) {
        (Some(_), Some(id), None, None) => match has_too_much() {
            true => malformed(id, &format!("it has more than {values_max} JSON values")),
            false => generic(line),
        },
        (Some(method), None, None, None) if is_used(&method) && !has_too_much() => generic(line),
        (Some(_), None, None, None) => DecodedLine::Unused,
        (None, Some(id), result, None) => match expected(&id) {
            Some(_) if has_too_much() => malformed(id, &format!("it has more than {values_max} JSON values")),
            // `null` is a result, which no request of the host has.
            Some(_) if result.is_none() => malformed(id, "it has neither a result nor an error"),
            Some(expected) => answer(line, id, expected),
            None => DecodedLine::Unused,
        },
        // The form of an error depends on no request. The guard drops one that no request waits for.
        (None, id, None, Some(_)) => refusal(line, id, values_max),
        _ => DecodedLine::Noise,
    }
}

/// Returns whether the host has a use for a notification.
fn is_used(method: &str) -> bool {
    matches!(
        method,
        "notifications/tools/list_changed"
            | "notifications/progress"
            | "notifications/cancelled"
            | "notifications/subscriptions/acknowledged"
    )
}

/// Decodes a request or a notification.
fn generic(line: &[u8]) -> DecodedLine {
    match serde_json::from_slice(line) {
        Ok(message) => DecodedLine::Message(Box::new(message)),
        Err(_) => DecodedLine::Noise,
    }
}

/// Decodes the answer to a request.
fn answer(line: &[u8], id: RequestId, expected: ExpectedAnswer) -> DecodedLine {
    let result = match expected {
        ExpectedAnswer::Discovery => result::<DiscoverResult>(line),
        ExpectedAnswer::Handshake => result::<InitializeResult>(line),
        ExpectedAnswer::Tools => result::<ListToolsResult>(line),
        // If none of the three fits, the error is about the first, which servers send most.
        ExpectedAnswer::Call => result::<CallToolResult>(line)
            .or_else(|error| result::<InputRequiredResult>(line).map_err(|_| error))
            .or_else(|error| result::<CreateTaskResult>(line).map_err(|_| error)),
        ExpectedAnswer::Subscription => result::<SubscriptionsListenResult>(line),
        ExpectedAnswer::Task => result::<GetTaskResult>(line),
        ExpectedAnswer::Resources => result::<ListResourcesResult>(line),
        ExpectedAnswer::Templates => result::<ListResourceTemplatesResult>(line),
        ExpectedAnswer::Resource => result::<ReadResourceResult>(line),
        ExpectedAnswer::Prompts => result::<ListPromptsResult>(line),
        ExpectedAnswer::Prompt => result::<GetPromptResult>(line),
        ExpectedAnswer::Other => result::<ServerResult>(line),
    };
    match result {
        Ok(result) => DecodedLine::Message(Box::new(JsonRpcMessage::response(result, id))),
        Err(error) => malformed(id, &error.to_string()),
    }
}

fn result<T: DeserializeOwned + Into<ServerResult>>(line: &[u8]) -> serde_json::Result<ServerResult> {
    Ok(serde_json::from_slice::<WithResult<T>>(line)?.result.into())
}

/// Decodes an error that a server answers with.
fn refusal(line: &[u8], id: Option<RequestId>, values_max: usize) -> DecodedLine {
    if count_values(line) > values_max {
        return id.map_or(DecodedLine::Unused, |id| malformed(id, "the error has too many JSON values"));
    }
    match (serde_json::from_slice::<WithError>(line), id) {
        (Ok(message), id) => DecodedLine::Message(Box::new(JsonRpcMessage::error(message.error, id))),
        (Err(error), Some(id)) => malformed(id, &error.to_string()),
        (Err(_), None) => DecodedLine::Unused,
    }
}

/// Makes an error of a malformed answer, so that its request fails at once.
fn malformed(id: RequestId, problem: &str) -> DecodedLine {
    let problem = text::cut(problem, PROBLEM_BYTES_MAX).to_owned();
    DecodedLine::Message(Box::new(JsonRpcMessage::error(ErrorData::new(MALFORMED_ANSWER, problem, None), Some(id))))
}

/// Counts the values of a JSON document, without reading them. The count can be one too high for each empty container.
fn count_values(json: &[u8]) -> usize {
    let (mut count, mut in_string, mut is_escaped) = (1, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' | b',' | b':' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}
