//! The result of one call, before it is written in a provider's format.

use super::media::{self, Media};
use crate::hydrate::HydratedCall;
use portcullis::text::is_text_type;
use portcullis::{Blob, Code, Output, Part, Reply, wording};
use std::borrow::Cow;

/// The text for a model if the host gave no reply.
const NO_REPLY: &str = "There is no reply to this call. It is unknown whether it ran.";

/// Prefixes that a text of a failure may already have.
const FAILURE_LABELS: [&str; 2] = ["Error: ", "Error executing tool:"];

/// The result of one call.
#[derive(Debug)]
pub(super) struct CallAnswer<'a> {
    /// The id of the call. It is generated if the call had none.
    pub(super) id: Cow<'a, str>,
    /// Whether the id is the provider's.
    pub(super) has_id: bool,
    /// The tool's name as the model wrote it.
    pub(super) name: &'a str,
    /// Whether the call failed, so that the pieces give the reason.
    pub(super) failed: bool,
    /// The pieces of the result, in order. JSON is never one of several pieces.
    pub(super) pieces: Vec<AnswerPiece<'a>>,
    /// The reply of the host.
    pub(super) reply: Option<&'a Reply>,
}

/// A piece of a result, by the types that providers distinguish.
#[derive(Debug)]
pub(super) enum AnswerPiece<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// JSON without white space between its tokens.
    Json(String),
    /// A text file.
    Document {
        /// The file.
        file: &'a Blob,
        /// Its contents.
        text: &'a str,
    },
    /// An image or document in a format that providers accept.
    Media(Media<'a>),
    /// Bytes that no provider accepts.
    Other {
        /// `image` or `file`.
        kind: &'static str,
        /// The bytes.
        blob: &'a Blob,
    },
}

impl<'a> CallAnswer<'a> {
    /// Creates the result of the call with this index in the model's message.
    pub(super) fn of(place: usize, call: &'a HydratedCall, reply: Option<&'a Reply>) -> Self {
        let given = call.provenance.id.as_deref();
        // A generated id is nine letters and digits, because Mistral accepts no other form.
        let id = given.map_or_else(|| Cow::Owned(format!("none{place:05}")), Cow::Borrowed);
        let answered = reply.filter(|reply| reply.code == Code::Completed).and_then(|reply| reply.output.as_ref());
        let pieces = match (answered, reply) {
            (Some(output), _) => pieces(output),
            (None, Some(reply)) => vec![AnswerPiece::Text(Cow::Owned(wording::failure(&reply.message)))],
            (None, None) => vec![AnswerPiece::Text(Cow::Borrowed(NO_REPLY))],
        };
        Self { id, has_id: given.is_some(), name: &call.provenance.name, failed: answered.is_none(), pieces, reply }
    }

    /// Returns all pieces as one text. `media` returns the line for an image or a document, or none if the message does
    /// not contain it.
    pub(super) fn text(&self, mut media: impl FnMut(&Media<'a>) -> Option<String>) -> String {
        let mut texts: Vec<Cow<'_, str>> = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let said = if let AnswerPiece::Media(shown) = piece { media(shown) } else { None };
            texts.push(said.map_or_else(|| piece.text(), Cow::Owned));
        }
        texts.join("\n")
    }

    /// Does the same for formats without another way to mark a failure.
    pub(super) fn labelled_text(&self, media: impl FnMut(&Media<'a>) -> Option<String>) -> String {
        let text = self.text(media);
        let labelled = FAILURE_LABELS.iter().any(|label| text.starts_with(label));
        if self.failed && !labelled { format!("Error: {text}") } else { text }
    }

    /// Returns the images and documents.
    pub(super) fn media(&self) -> impl Iterator<Item = &Media<'a>> {
        self.pieces.iter().filter_map(|piece| match piece {
            AnswerPiece::Media(media) => Some(media),
            AnswerPiece::Text(_) | AnswerPiece::Json(_) | AnswerPiece::Document { .. } | AnswerPiece::Other { .. } => {
                None
            }
        })
    }
}

impl AnswerPiece<'_> {
    /// Returns the piece as text. For bytes, it only describes them.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(text) => Cow::Borrowed(text),
            Self::Document { file, text } => Cow::Owned(format!("[Portcullis: a file, {}:]\n{text}", file.described())),
            Self::Media(media) => Cow::Owned(not_shown(media.kind(), media.blob)),
            Self::Other { kind, blob } => Cow::Owned(not_shown(kind, blob)),
        }
    }
}

fn not_shown(kind: &str, blob: &Blob) -> String {
    format!("[Portcullis: this {kind} is not shown, because this message cannot contain it. {}.]", blob.described())
}

fn pieces(output: &Output) -> Vec<AnswerPiece<'_>> {
    match output {
        Output::Text(text) => vec![AnswerPiece::Text(Cow::Owned(wording::answer(text)))],
        Output::Json(text) => vec![AnswerPiece::Json(compact(text))],
        Output::Parts(parts) => parts.iter().map(piece).collect(),
    }
}

fn piece(part: &Part) -> AnswerPiece<'_> {
    let (kind, blob) = match part {
        Part::Text(text) => return AnswerPiece::Text(Cow::Owned(wording::answer(text))),
        Part::Image(blob) => ("image", blob),
        Part::File(blob) => ("file", blob),
    };
    let text = || std::str::from_utf8(&blob.data).ok().filter(|_| is_text_type(&blob.media_type));
    match (media::of(blob), text()) {
        (Some(media), _) => AnswerPiece::Media(media),
        (None, Some(text)) => AnswerPiece::Document { file: blob, text },
        (None, None) => AnswerPiece::Other { kind, blob },
    }
}

/// Removes the white space between JSON tokens. Everything else stays the same, including numbers and the order of
/// members.
fn compact(json: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    let kept = |character: &char| {
        let is_space = !in_string && matches!(character, ' ' | '\t' | '\n' | '\r');
        if *character == '"' && !escaped {
            in_string = !in_string;
        }
        escaped = in_string && *character == '\\' && !escaped;
        !is_space
    };
    json.chars().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_white_space_between_tokens_is_removed() {
        let cases = [
            ("{ \"a b\" :\n[ 1e400,\t-0.0 ] }", r#"{"a b":[1e400,-0.0]}"#),
            (r#" "a \" b \\" "#, r#""a \" b \\""#),
            (r#"["\\", " x "]"#, r#"["\\"," x "]"#),
            (r#"{"b":1,"a":12345678901234567890123}"#, r#"{"b":1,"a":12345678901234567890123}"#),
            ("", ""),
        ];
        for (text, short) in cases {
            assert_eq!(compact(text), short);
        }
    }
}
