//! Ollama's chat: text, images next to it, and the tool's name instead of an id.

use super::answer::CallAnswer;
use super::media::{Media, MediaForm};
use serde_json::{Value, json};

/// Returns the message with a result.
pub(super) fn message(answer: &CallAnswer<'_>) -> Value {
    let mut images: Vec<String> = Vec::new();
    let content = answer.labelled_text(|media| {
        images.push(carried(media)?);
        Some(media.line(&format!("image {} of this message", images.len())))
    });
    let mut message = json!({"role": "tool", "tool_name": answer.name, "content": content});
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}

/// Returns the image in base64, if the server can read its format.
fn carried(media: &Media<'_>) -> Option<String> {
    match media.form {
        MediaForm::Png | MediaForm::Jpeg | MediaForm::Webp => Some(media.base64()),
        MediaForm::Gif | MediaForm::Pdf => None,
    }
}
