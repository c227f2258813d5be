//! generateContent: all results in one content, each with its structured output and its media.

use super::answer::{AnswerPiece, CallAnswer};
use super::media::{Media, MediaForm};
use serde_json::{Map, Value, json};

/// Returns the content with all results. Results without an id belong to the calls by their order.
pub(super) fn content(answers: &[CallAnswer<'_>]) -> Value {
    let parts: Vec<Value> = answers.iter().map(|answer| json!({"functionResponse": response(answer)})).collect();
    json!({"role": "user", "parts": parts})
}

fn response(answer: &CallAnswer<'_>) -> Value {
    let mut response = Map::new();
    if answer.has_id {
        response.insert("id".to_owned(), json!(answer.id));
    }
    response.insert("name".to_owned(), json!(answer.name));
    let mut media: Vec<Value> = Vec::new();
    let key = if answer.failed { "error" } else { "output" };
    let output = match answer.pieces.as_slice() {
        // The host produced this text as JSON.
        [AnswerPiece::Json(text)] => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        _ => Value::String(answer.text(|shown| {
            media.push(carried(shown)?);
            Some(shown.line(&format!("part {} of this response", media.len())))
        })),
    };
    response.insert("response".to_owned(), json!({ key: output }));
    if !media.is_empty() {
        response.insert("parts".to_owned(), Value::Array(media));
    }
    Value::Object(response)
}

/// Returns the media as a part of a response, if the provider accepts its type.
fn carried(media: &Media<'_>) -> Option<Value> {
    match media.form {
        MediaForm::Png | MediaForm::Jpeg | MediaForm::Webp | MediaForm::Pdf => {
            Some(json!({"inlineData": {"mimeType": media.form.media_type(), "data": media.base64()}}))
        }
        MediaForm::Gif => None,
    }
}
