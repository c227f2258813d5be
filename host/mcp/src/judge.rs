//! Decides whether bytes are a message (a line over stdio, a body over HTTP) and what to answer if they are not.

use portcullis::{JsonError, parse_json};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, MetaObject, RequestId,
    RequestMetaObject,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Maximum length of a string id, in bytes. The id is kept while its request runs.
const ID_BYTES_MAX: usize = 256;

/// The verdict on the bytes of a message.
pub(crate) enum Judged {
    /// A valid message.
    Message(Box<ClientJsonRpcMessage>),
    /// Not a valid message. Holds the error response.
    Refused(Option<RequestId>, ErrorData),
    /// Not a valid message, and it expects no response.
    Ignored,
}

/// Judges the bytes of a message, without a line end.
pub(crate) fn judge(line: &[u8]) -> Judged {
    if line.is_empty() {
        return Judged::Ignored;
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return Judged::Refused(None, ErrorData::parse_error("the message is not UTF-8", None));
    };
    match parse_json(text) {
        Ok(value) => message(value),
        Err(error) => unreadable(text, &error),
    }
}

/// Returns the verdict on text that the strict parser refuses: ambiguous JSON, or no JSON at all.
fn unreadable(text: &str, error: &JsonError) -> Judged {
    let Ok(envelope) = serde_json::from_str::<Envelope>(text) else {
        let refused = match serde_json::from_str::<IgnoredAny>(text) {
            // The duplicate key may be the id itself.
            Ok(IgnoredAny) => ErrorData::invalid_request(format!("the message is invalid: {error}"), None),
            Err(_) => ErrorData::parse_error("the message is not valid JSON", None),
        };
        return Judged::Refused(None, refused);
    };
    match (envelope.id.as_ref().map(id), envelope.method) {
        (Some(Some(id)), Some(_)) => {
            let message = format!("the message is invalid: {error}");
            Judged::Refused(Some(id), ErrorData::invalid_request(message, None))
        }
        (Some(None), Some(_)) => Judged::Refused(None, no_id()),
        // A notification, or a response to a request that was never sent.
        (_, _) => Judged::Ignored,
    }
}

/// The parts of an invalid message that decide how to answer it.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
}

fn message(mut value: Value) -> Judged {
    let Value::Object(members) = &mut value else {
        // Only version 2025-03-26 has batches, and no client sends them.
        return Judged::Refused(
            None,
            ErrorData::invalid_request("the message is not a JSON object; batches are not supported", None),
        );
    };
    let is_call = members.contains_key("method");
    let id = match members.get("id").map(id) {
        Some(None) if is_call => return Judged::Refused(None, no_id()),
        id => id.flatten(),
    };
    if let Some(id) = &id
        && let Some(call) = tool_call(members)
    {
        return Judged::Message(Box::new(ClientJsonRpcMessage::request(call, id.clone())));
    }
    match (serde_json::from_value(value), id) {
        (Ok(message), _) if is_consistent(&message, is_call) => Judged::Message(Box::new(message)),
        (_, Some(id)) if is_call => {
            Judged::Refused(Some(id), ErrorData::invalid_request("the message is not a valid request", None))
        }
        (_, _) => Judged::Ignored,
    }
}

/// Takes a plain `tools/call` out of the members of a message, or returns `None` and leaves them. The library tries one
/// kind of message after the other, and copies the whole message for each, so it reads only those that are not plain.
fn tool_call(members: &mut Map<String, Value>) -> Option<ClientRequest> {
    const METHOD: &str = "tools/call";
    let is_call = members.len() == 4
        && members.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && members.get("method").and_then(Value::as_str) == Some(METHOD);
    let params = members.get_mut("params").and_then(Value::as_object_mut).filter(|_| is_call)?;
    let is_plain = params.iter().all(|(key, value)| match key.as_str() {
        "name" => value.is_string(),
        "arguments" | "_meta" => value.is_object(),
        _ => false,
    });
    // Nothing was taken before this, so a message that is not plain stays whole for the library.
    let Some(Value::String(name)) = params.get_mut("name").filter(|_| is_plain).map(Value::take) else { return None };
    let mut call = CallToolRequestParams::new(name);
    call.arguments = taken(params, "arguments");
    let mut request = CallToolRequest::new(call);
    if let Some(meta) = taken(params, "_meta") {
        request.extensions.insert(RequestMetaObject(MetaObject(meta)));
    }
    Some(ClientRequest::CallToolRequest(request))
}

fn taken(members: &mut Map<String, Value>, key: &str) -> Option<Map<String, Value>> {
    match members.get_mut(key).map(Value::take) {
        Some(Value::Object(members)) => Some(members),
        Some(_) | None => None,
    }
}

/// Returns whether a message was parsed as what it claims to be. A message with a method must be a request or a
/// notification.
fn is_consistent(message: &ClientJsonRpcMessage, is_call: bool) -> bool {
    match message {
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => is_call,
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => !is_call,
    }
}

/// Parses an id: a string or an integer, as the protocol requires.
fn id(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) if text.len() <= ID_BYTES_MAX => Some(RequestId::String(Arc::from(text.as_str()))),
        Value::Number(number) => number.as_i64().map(RequestId::Number),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn no_id() -> ErrorData {
    let message = format!("the id of a request must be an integer or a string of at most {ID_BYTES_MAX} bytes");
    ErrorData::invalid_request(message, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> (Option<RequestId>, i32) {
        match judge(line.as_bytes()) {
            Judged::Refused(id, error) => (id, error.code.0),
            Judged::Message(message) => panic!("{line} is taken for {message:?}"),
            Judged::Ignored => panic!("{line} is ignored"),
        }
    }

    #[test]
    fn an_invalid_request_is_refused_with_its_own_id() {
        let one = Some(RequestId::Number(1));
        for line in ["{", "[1", "\u{feff}{}", "nonsense", "{} {}"] {
            assert_eq!(refusal(line), (None, -32700), "{line}");
        }
        let call = |rest: &str| format!(r#"{{"jsonrpc":"2.0","method":"ping",{rest}}}"#);
        for id in ["null", "true", "1.5", "[1]", "{}", "18446744073709551616"] {
            assert_eq!(refusal(&call(&format!(r#""id":{id}"#))), (None, -32600), "{id}");
        }
        assert_eq!(refusal(&call(&format!(r#""id":"{}""#, "x".repeat(257)))), (None, -32600));
        assert_eq!(refusal(&call(r#""id":1,"method":"tools/call""#)), (None, -32600));
        for line in ["[]", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "1", "null"] {
            assert_eq!(refusal(line), (None, -32600), "{line}");
        }
        assert_eq!(refusal(&call(r#""id":1,"params":{"a":1,"a":2}"#)), (one.clone(), -32600));
        assert_eq!(refusal(&call(r#""id":1,"params":{"a":18446744073709551616}"#)), (one.clone(), -32600));
        assert_eq!(refusal(r#"{"id":1,"method":"ping"}"#), (one.clone(), -32600));
        assert_eq!(refusal(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#), (one.clone(), -32600));
        assert_eq!(
            refusal(&call(r#""id":1,"result":{}"#).replace(r#""method":"ping""#, r#""method":1"#)),
            (one, -32600)
        );
    }

    /// The library's reading of a message is the reference.
    #[test]
    fn a_plain_call_is_read_as_the_library_reads_it() {
        let call = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#);
        let plain = [
            r#"{"name":"a"}"#,
            r#"{"name":"a","arguments":{}}"#,
            r#"{"arguments":{"b":[1,{"c":1.5,"d":null}]},"name":"a\u0062"}"#,
            r#"{"name":"a","arguments":{"_meta":{}},"_meta":{}}"#,
            r#"{"_meta":{"progressToken":"t","traceparent":"x","k":{"l":[1]}},"name":"a"}"#,
        ];
        let special = [
            r#"{"name":"a","arguments":null}"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":1}"#,
            r#"{"arguments":{}}"#,
            r#"{"name":"a","_meta":1}"#,
            r#"{"name":"a","more":1}"#,
            r#"{"name":"a","requestState":"s","inputResponses":{}}"#,
            "[]",
        ];
        let rows = plain.iter().map(|params| (params, true)).chain(special.iter().map(|params| (params, false)));
        for (params, is_plain) in rows {
            let line = call(params);
            let value = parse_json(&line).unwrap();
            let mut members = value.as_object().unwrap().clone();
            assert_eq!(tool_call(&mut members).is_some(), is_plain, "{params}");
            let reference: Option<ClientJsonRpcMessage> = serde_json::from_value(value).ok();
            // With the metadata, which `Debug` leaves out.
            let shown = |message: &ClientJsonRpcMessage| serde_json::to_string(message).unwrap();
            match judge(line.as_bytes()) {
                Judged::Message(message) => {
                    assert_eq!(Some(shown(&message)), reference.as_ref().map(shown), "{params}");
                }
                Judged::Refused(..) | Judged::Ignored => assert!(!is_plain, "{params}"),
            }
        }
        for line in [
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"},"more":1}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"1.0","id":7,"method":"tools/call","params":{"name":"a"}}"#,
        ] {
            assert!(tool_call(parse_json(line).unwrap().as_object_mut().unwrap()).is_none(), "{line}");
        }
    }

    #[test]
    fn a_message_that_expects_no_response_is_ignored() {
        for line in ["", r#"{"jsonrpc":"2.0","id":1}"#, r#"{"a":1,"a":2}"#] {
            assert!(matches!(judge(line.as_bytes()), Judged::Ignored), "{line}");
        }
    }
}
