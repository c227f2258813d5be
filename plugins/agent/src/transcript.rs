//! The transcript of a run, for people.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{self, Value};

use crate::message::{CallResult, Message, ModelCall};
use crate::toolbox::Toolbox;

/// What was said, in order. Results that the model no longer sees are still in it.
#[derive(Debug, Default)]
pub(crate) struct Transcript(Vec<Value>);

impl Transcript {
    /// Adds a message.
    pub(crate) fn add(&mut self, message: &Message, toolbox: &Toolbox) {
        let tool = |name: &str| toolbox.full_name(name).unwrap_or(name).to_owned();
        self.0.push(match message {
            Message::User(text) => json!({ "role": "user", "text": text }),
            Message::Assistant { text, calls } => {
                let call = |call: &ModelCall| match &call.arguments {
                    Ok(arguments) => json!({ "id": call.id, "tool": tool(&call.name), "arguments": arguments }),
                    Err(written) => json!({ "id": call.id, "tool": tool(&call.name), "written": written }),
                };
                json!({ "role": "assistant", "text": text, "calls": calls.iter().map(call).collect::<Vec<_>>() })
            }
            Message::Results(results) => {
                let result = |result: &CallResult| {
                    let (id, name) = (&result.id, tool(&result.name));
                    json!({ "id": id, "tool": name, "text": result.text, "is_error": result.is_error })
                };
                json!({ "role": "tools", "results": results.iter().map(result).collect::<Vec<_>>() })
            }
        });
    }

    /// Adds an answer that could not be used.
    pub(crate) fn add_malformed(&mut self, why: &str) {
        self.0.push(json!({ "role": "assistant", "unusable": why }));
    }

    /// Returns the transcript as a file that the host keeps.
    pub(crate) fn file(&self) -> Blob {
        let text = serde_json::to_string_pretty(&self.0).unwrap_or_default();
        Blob::new("application/json", text).named("transcript.json")
    }
}
