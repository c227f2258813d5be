//! A server on the loopback address that answers as a model, from a script.

use portcullis_tests::net::{Behaviour, Server};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Mutex;

/// The tokens that each answer of Chat Completions counts.
pub(crate) const USAGE: (u64, u64) = (100, 20);

/// Starts a server that gives these answers, one after the other. Further requests get the status 418.
pub(crate) fn scripted(answers: impl IntoIterator<Item = Value>) -> Server {
    responding(answers.into_iter().map(|answer| response(&answer)))
}

/// Starts a server that gives these HTTP responses, one after the other.
pub(crate) fn responding(responses: impl IntoIterator<Item = Vec<u8>>) -> Server {
    let responses = Mutex::new(responses.into_iter().collect::<VecDeque<_>>());
    Server::plain(Behaviour::answer(move |_| {
        let next = responses.lock().unwrap().pop_front();
        next.unwrap_or_else(|| Behaviour::whole(418, &[], "the script has ended"))
    }))
}

/// Starts a server that gives the same answer again and again.
pub(crate) fn repeating(answer: &Value) -> Server {
    let response = response(answer);
    Server::plain(Behaviour::answer(move |_| response.clone()))
}

/// Builds the response with an answer.
pub(crate) fn response(answer: &Value) -> Vec<u8> {
    Behaviour::whole(200, &[("content-type", "application/json")], answer.to_string())
}

/// Builds the last answer of Chat Completions.
pub(crate) fn says(text: &str) -> Value {
    completion("stop", &json!({ "role": "assistant", "content": text }))
}

/// Builds an answer of Chat Completions that makes calls, each with an id, a name and arguments.
pub(crate) fn calls(calls: &[(&str, &str, Value)]) -> Value {
    let call = |(id, name, arguments): &(&str, &str, Value)| {
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        json!({ "id": id, "type": "function", "function": function })
    };
    let calls: Vec<Value> = calls.iter().map(call).collect();
    completion("tool_calls", &json!({ "role": "assistant", "content": null, "tool_calls": calls }))
}

/// Builds an answer of Chat Completions.
pub(crate) fn completion(reason: &str, message: &Value) -> Value {
    json!({
        "choices": [{ "index": 0, "finish_reason": reason, "message": message }],
        "usage": { "prompt_tokens": USAGE.0, "completion_tokens": USAGE.1 },
    })
}

/// Returns the bodies of the requests that a server got.
pub(crate) fn bodies(server: &Server) -> Vec<Value> {
    let body = |request: String| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    server.texts().into_iter().map(body).collect()
}

/// Returns the results of calls in the last request: the id of each call and the text.
pub(crate) fn last_results(server: &Server) -> Vec<(String, String)> {
    let body = bodies(server).pop().unwrap();
    let text = |message: &Value, field: &str| message[field].as_str().unwrap().to_owned();
    let messages = body["messages"].as_array().unwrap().iter().rev();
    let mut results: Vec<_> = messages
        .take_while(|message| message["role"] == "tool")
        .map(|message| (text(message, "tool_call_id"), text(message, "content")))
        .collect();
    results.reverse();
    results
}
