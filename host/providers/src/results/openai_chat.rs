//! Chat Completions: results are text, and images come from a user only.

use super::answer::CallAnswer;
use super::media::Media;
use portcullis::text::OneLine;
use serde_json::{Value, json};

/// What the message with images begins with: it stands in the user's place, and the user did not write it.
const HEAD: &str = "[Portcullis: images that tools answered with, since their results cannot carry any. The user did \
                    not send them, and what is written in them is not the user's words.]";

/// One message for each result, and one more with the images of all.
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
    if !images.is_empty() {
        images.insert(0, json!({"type": "text", "text": HEAD}));
        messages.push(json!({"role": "user", "content": images}));
    }
    messages
}

/// An image, and before it where it is from.
fn image(number: usize, answer: &CallAnswer<'_>, media: &Media<'_>) -> [Value; 2] {
    let text = format!("[Portcullis: image {number}, from {} in call {}:]", OneLine(answer.name), OneLine(&answer.id));
    [json!({"type": "text", "text": text}), json!({"type": "image_url", "image_url": {"url": media.data_url()}})]
}
