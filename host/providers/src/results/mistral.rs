//! Mistral's chat completions: text, or chunks if there are images.

use super::answer::{AnswerPiece, CallAnswer};
use serde_json::{Value, json};

/// Maximum bytes of a tool's name that the provider accepts.
const NAME_BYTES_MAX: usize = 64;

/// Returns the message with a result.
pub(super) fn message(answer: &CallAnswer<'_>) -> Value {
    let has_images = answer.media().any(|media| media.form.is_image());
    let content =
        if has_images { answer.pieces.iter().map(chunk).collect() } else { json!(answer.labelled_text(|_| None)) };
    let mut message = json!({"role": "tool", "tool_call_id": answer.id, "content": content});
    // A name that a model invented may be invalid in a message. The id is sufficient.
    if is_name(answer.name) {
        message["name"] = json!(answer.name);
    }
    message
}

fn chunk(piece: &AnswerPiece<'_>) -> Value {
    match piece {
        AnswerPiece::Media(media) if media.form.is_image() => {
            json!({"type": "image_url", "image_url": media.data_url()})
        }
        AnswerPiece::Media(_)
        | AnswerPiece::Text(_)
        | AnswerPiece::Json(_)
        | AnswerPiece::Document { .. }
        | AnswerPiece::Other { .. } => {
            json!({"type": "text", "text": piece.text()})
        }
    }
}

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(plain)
}
