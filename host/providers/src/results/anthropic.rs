//! Messages: all results in one user message, each with its blocks and its error flag.

use super::answer::{AnswerPiece, CallAnswer};
use super::media::Media;
use serde_json::{Map, Value, json};

/// Maximum base64 bytes of one image or document. Above it, the API refuses the whole conversation ("image exceeds 5 MB
/// maximum").
const MEDIA_BYTES_MAX: usize = 5 * 1024 * 1024;

/// Returns the message with all results, in the order of the calls.
pub(super) fn message(answers: &[CallAnswer<'_>]) -> Value {
    let content: Vec<Value> = answers.iter().map(result).collect();
    json!({"role": "user", "content": content})
}

fn result(answer: &CallAnswer<'_>) -> Value {
    let mut result = Map::new();
    result.insert("type".to_owned(), json!("tool_result"));
    result.insert("tool_use_id".to_owned(), json!(answer.id));
    // A block must not be empty, so an empty answer is a result without content.
    let pieces: Vec<&AnswerPiece<'_>> = answer.pieces.iter().filter(|piece| !piece.text().is_empty()).collect();
    match pieces.as_slice() {
        [] => {}
        [piece @ (AnswerPiece::Text(_) | AnswerPiece::Json(_))] => {
            result.insert("content".to_owned(), json!(piece.text()));
        }
        several => {
            result.insert("content".to_owned(), several.iter().map(|piece| block(piece)).collect());
        }
    }
    if answer.failed {
        result.insert("is_error".to_owned(), Value::Bool(true));
    }
    Value::Object(result)
}

fn block(piece: &AnswerPiece<'_>) -> Value {
    match piece {
        AnswerPiece::Document { file, text } if !text.is_empty() => json!({
            "type": "document",
            // The API accepts no other type of text in a document.
            "source": {"type": "text", "media_type": "text/plain", "data": text},
            "title": file.name.as_ref().unwrap_or(&file.media_type),
        }),
        AnswerPiece::Media(media) => carried(media).unwrap_or_else(|| words(piece)),
        AnswerPiece::Text(_) | AnswerPiece::Json(_) | AnswerPiece::Document { .. } | AnswerPiece::Other { .. } => {
            words(piece)
        }
    }
}

fn words(piece: &AnswerPiece<'_>) -> Value {
    json!({"type": "text", "text": piece.text()})
}

fn carried(media: &Media<'_>) -> Option<Value> {
    let kind = if media.form.is_image() { "image" } else { "document" };
    let data = media.base64();
    let source = json!({"type": "base64", "media_type": media.form.media_type(), "data": data});
    (data.len() <= MEDIA_BYTES_MAX).then(|| json!({"type": kind, "source": source}))
}
