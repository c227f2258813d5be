//! Responses: an item for each result, with images and documents, and without an error flag.

use super::answer::{AnswerPiece, CallAnswer};
use super::media::{Media, MediaForm};
use serde_json::{Value, json};

/// The name of a document, which the API requires.
const FILE_NAME: &str = "answer.pdf";

/// Returns one item for each result.
pub(super) fn items(answers: &[CallAnswer<'_>]) -> Vec<Value> {
    answers
        .iter()
        .map(|answer| json!({"type": "function_call_output", "call_id": answer.id, "output": output(answer)}))
        .collect()
}

fn output(answer: &CallAnswer<'_>) -> Value {
    if answer.media().next().is_none() {
        return Value::String(answer.labelled_text(|_| None));
    }
    answer.pieces.iter().map(content).collect()
}

fn content(piece: &AnswerPiece<'_>) -> Value {
    match piece {
        AnswerPiece::Media(media) => carried(media),
        AnswerPiece::Text(_) | AnswerPiece::Json(_) | AnswerPiece::Document { .. } | AnswerPiece::Other { .. } => {
            json!({"type": "input_text", "text": piece.text()})
        }
    }
}

fn carried(media: &Media<'_>) -> Value {
    match media.form {
        MediaForm::Png | MediaForm::Jpeg | MediaForm::Gif | MediaForm::Webp => {
            json!({"type": "input_image", "image_url": media.data_url()})
        }
        MediaForm::Pdf => json!({"type": "input_file", "filename": FILE_NAME, "file_data": media.data_url()}),
    }
}
