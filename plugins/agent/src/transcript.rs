//! The transcript of a run, for people.

use portcullis_sdk::prelude::*;
use portcullis_sdk::serde_json::{self, Value};

use crate::message::{CallResult, Message, ModelCall};
use crate::toolbox::Toolbox;

/// Maximum length of the texts of a transcript, in bytes. The plugin holds it in its memory until the run ends.
const TRANSCRIPT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The messages, in order. Results that the model no longer sees are still in it.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    entries: Vec<Value>,
    bytes: usize,
    /// Whether something is missing at the end.
    is_cut: bool,
}

impl Transcript {
    /// Adds a message.
    pub(crate) fn add(&mut self, message: &Message, toolbox: &Toolbox) {
        let tool = |name: &str| toolbox.full_name(name).unwrap_or(name).to_owned();
        self.push(match message {
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
        self.push(json!({ "role": "assistant", "unusable": why }));
    }

    fn push(&mut self, entry: Value) {
        let bytes = entry.to_string().len();
        // After the first entry that does not fit, drop shorter ones too. Otherwise one would be missing in between.
        if self.is_cut || self.bytes + bytes > TRANSCRIPT_BYTES_MAX {
            self.is_cut = true;
            return;
        }
        self.bytes += bytes;
        self.entries.push(entry);
    }

    /// Returns the transcript as a file that the host keeps.
    pub(crate) fn file(&self) -> Blob {
        let note = json!({ "note": "The transcript has its maximum length. The rest is missing." });
        let entries: Vec<&Value> = self.entries.iter().chain(self.is_cut.then_some(&note)).collect();
        let text = serde_json::to_string_pretty(&entries).unwrap_or_default();
        Blob::new("application/json", text).named("transcript.json")
    }
}
