//! LangChain's tool message, in the form of its constructor: blocks, a status, and an artifact for programs that the
//! model does not see.

use super::answer::{AnswerPiece, CallAnswer};
use super::media::Media;
use portcullis::Reply;
use serde_json::{Map, Value, json};

/// Returns the message with a result.
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

/// Returns the artifact for programs: the call's id, its outcome, and its structured answer if it has one.
fn artifact(answer: &CallAnswer<'_>, reply: &Reply) -> Value {
    let mut artifact = Map::new();
    let mut put = |name: &str, value: Value| artifact.insert(name.to_owned(), value);
    put("call", json!(reply.id));
    put("code", json!(reply.code.as_str()));
    if let [AnswerPiece::Json(text)] = answer.pieces.as_slice() {
        // The host produced this text as JSON.
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
