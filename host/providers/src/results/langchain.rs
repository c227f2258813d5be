//! LangChain's tool message, as its constructor takes it: blocks, a status, and what is for programs and not for the
//! model.

use super::answer::{AnswerPiece, CallAnswer};
use super::media::Media;
use portcullis::Reply;
use serde_json::{Map, Value, json};

/// The message with a result.
pub(super) fn message(answer: &CallAnswer<'_>) -> Value {
    let content = match answer.media().next() {
        Some(_) => answer.pieces.iter().map(block).collect(),
        None => json!(answer.text(|_| None)),
    };
    let mut message = json!({
        "type": "tool",
        "tool_call_id": answer.id,
        "name": answer.name,
        "content": content,
        "status": if answer.failed { "error" } else { "success" },
    });
    if let Some(reply) = answer.reply {
        message["artifact"] = artifact(answer, reply);
    }
    message
}

fn block(piece: &AnswerPiece<'_>) -> Value {
    match piece {
        AnswerPiece::Media(media) => carried(media),
        AnswerPiece::Text(_) | AnswerPiece::Json(_) | AnswerPiece::Document { .. } | AnswerPiece::Other { .. } => {
            json!({"type": "text", "text": piece.text()})
        }
    }
}

fn carried(media: &Media<'_>) -> Value {
    json!({"type": media.kind(), "base64": media.base64(), "mime_type": media.form.media_type()})
}

/// What programs are told: which call it was, how it ended, and its answer where it has a structure.
fn artifact(answer: &CallAnswer<'_>, reply: &Reply) -> Value {
    let mut artifact = Map::new();
    let mut put = |name: &str, value: Value| artifact.insert(name.to_owned(), value);
    put("call", json!(reply.id));
    put("code", json!(reply.code.as_str()));
    if let [AnswerPiece::Json(text)] = answer.pieces.as_slice() {
        // It was JSON when it was made.
        put("structured_content", serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    }
    if let Some(title) = &reply.title {
        put("title", json!(title));
    }
    if let Some(metadata) = &reply.metadata {
        put("metadata", metadata.clone());
    }
    if let Some(reference) = &reply.reference {
        put("reference", json!(reference));
    }
    Value::Object(artifact)
}
