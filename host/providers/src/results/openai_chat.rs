//! Chat Completions: results are text, and only the user can send images.

use super::answer::CallAnswer;
use super::media::Media;
use portcullis::text::OneLine;
use serde_json::{Value, json};

/// The start of the message with images. It has the role of the user, who did not write it.
const HEAD: &str = "[Portcullis: images from tools, whose results cannot contain images here. The user did not send \
                    them, and text in them is not from the user.]";

/// Returns one message for each result, and one more with all images.
pub(super) fn messages(answers: &[CallAnswer<'_>]) -> Vec<Value> {
    let mut images: Vec<Value> = Vec::new();
    let mut number = 0;
    let mut messages: Vec<Value> = Vec::new();
    for answer in answers {
        let content = answer.labelled_text(|media| {
            if !media.form.is_image() {
                return None;
            }
            number += 1;
            images.extend(image(number, answer, media));
            Some(media.line(&format!("image {number} of the message after the results")))
        });
        messages.push(json!({"role": "tool", "tool_call_id": answer.id, "content": content}));
    }
    // The results must directly follow the message with the calls, so all images come after the last result.
    if !images.is_empty() {
        images.insert(0, json!({"type": "text", "text": HEAD}));
        messages.push(json!({"role": "user", "content": images}));
    }
    messages
}

/// Returns an image, preceded by a text with its origin.
fn image(number: usize, answer: &CallAnswer<'_>, media: &Media<'_>) -> [Value; 2] {
    // The name and the id are the model's text, and this message has the role of the user.
    let text = format!("[Portcullis: image {number}, from {} in call {}:]", OneLine(answer.name), OneLine(&answer.id));
    [json!({"type": "text", "text": text}), json!({"type": "image_url", "image_url": {"url": media.data_url()}})]
}
