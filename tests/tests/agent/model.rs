//! A model that follows a test's script, and records its requests.

use crate::agent::desk::PATIENCE;
use portcullis_tests::net::{Authority, Behaviour, Server};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// One response of the server.
pub(crate) enum Say {
    /// A message from the model.
    Message(Value),
    /// A message that waits until the test releases it.
    Later(Value, std::sync::mpsc::Receiver<()>),
    /// A complete HTTP response.
    Raw(Vec<u8>),
}

/// The script, and the server that reads from it.
pub(crate) struct Model {
    server: Server,
}

impl Model {
    /// Serves these responses in order. Further requests get an error.
    pub(crate) fn says(script: impl IntoIterator<Item = Say>) -> Self {
        let script: Mutex<VecDeque<Say>> = Mutex::new(script.into_iter().collect());
        Self::behaves(Behaviour::answer(move |_| {
            let next = script.lock().unwrap().pop_front();
            match next {
                Some(Say::Message(message)) => completion(&message),
                Some(Say::Later(message, gate)) => {
                    // A failed test drops the other end.
                    let _ = gate.recv();
                    completion(&message)
                }
                Some(Say::Raw(bytes)) => bytes,
                None => Behaviour::whole(404, &[], "the script is over"),
            }
        }))
    }

    /// Serves these messages.
    pub(crate) fn answers(messages: impl IntoIterator<Item = Value>) -> Self {
        Self::says(messages.into_iter().map(Say::Message))
    }

    pub(crate) fn behaves(behaviour: Behaviour) -> Self {
        Self { server: Server::plain(behaviour) }
    }

    /// Serves through TLS, with an untrusted certificate.
    pub(crate) fn unknown(message: Value) -> Self {
        let config = Authority::nobody_serves(&["127.0.0.1", "localhost"]);
        Self { server: Server::tls(config, Behaviour::answer(move |_| completion(&message))) }
    }

    /// Returns the URL of the server with TLS.
    pub(crate) fn tls_url(&self) -> String {
        format!("https://{}/v1", self.server.authority())
    }

    /// Returns the value for `OPENAI_BASE_URL`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.server.authority())
    }

    /// Waits until the server has received this many requests.
    #[track_caller]
    pub(crate) fn was_asked(&self, times: usize) {
        let began = Instant::now();
        while self.server.texts().len() < times {
            assert!(began.elapsed() < PATIENCE, "there was no request");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the heads of the requests.
    pub(crate) fn heads(&self) -> Vec<String> {
        let head = |text: String| text.split("\r\n\r\n").next().unwrap().to_owned();
        self.server.texts().into_iter().map(head).collect()
    }

    /// Returns the bodies of the requests.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let body = |text: &String| serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
        self.server.texts().iter().map(body).collect()
    }

    /// Returns the messages of the last request.
    pub(crate) fn last_messages(&self) -> Vec<Value> {
        let requests = self.requests();
        requests.last().expect("there was a request")["messages"].as_array().unwrap().clone()
    }

    /// Returns the results that the model got: the content of each tool message at the end of the last request.
    pub(crate) fn told(&self) -> Vec<String> {
        let messages = self.last_messages();
        let results = messages.iter().rev().take_while(|message| message["role"] == "tool");
        let mut told: Vec<String> = results.map(|message| text(&message["content"])).collect();
        told.reverse();
        told
    }
}

/// Returns the text of a content, which is a string or a list of parts.
fn text(content: &Value) -> String {
    let parts = content.as_array().map(|parts| parts.iter().map(|part| part["text"].as_str().unwrap()).collect());
    parts.unwrap_or_else(|| content.as_str().unwrap().to_owned())
}

fn completion(message: &Value) -> Vec<u8> {
    let answer = json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "scripted",
        "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 }
    });
    Behaviour::whole(200, &[("content-type", "application/json")], answer.to_string())
}

/// Builds a message with these calls.
pub(crate) fn calling(calls: impl IntoIterator<Item = Value>) -> Value {
    let calls: Vec<Value> = calls.into_iter().collect();
    json!({ "role": "assistant", "content": null, "refusal": null, "tool_calls": calls })
}

/// Builds a call, with arguments as a provider writes them.
pub(crate) fn call(id: &str, name: &str, arguments: &Value) -> Value {
    raw_call(id, name, &json!(arguments.to_string()))
}

/// Builds a call with any arguments text.
pub(crate) fn raw_call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

/// Builds a message without calls.
pub(crate) fn saying(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

/// Builds a message that ends the task.
pub(crate) fn done(result: &str) -> Value {
    calling([call("call_done", "done", &json!({ "result": result }))])
}
