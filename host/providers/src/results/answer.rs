//! What became of one call, in no provider's form yet.

use super::media::{self, Media};
use crate::hydrate::HydratedCall;
use portcullis::text::is_text_type;
use portcullis::{Blob, Code, Output, Part, Reply, wording};
use std::borrow::Cow;

/// What a model is told where the host gave no reply.
const NO_REPLY: &str = "There is no reply to this call, so it is not known whether it was run.";

/// What texts of failures begin with already, where they do.
const FAILURE_LABELS: [&str; 2] = ["Error: ", "Error executing tool:"];

/// What became of one call.
#[derive(Debug)]
pub(super) struct CallAnswer<'a> {
    /// The id of the call; one of ours where it came without.
    pub(super) id: Cow<'a, str>,
    /// Whether the id is the provider's.
    pub(super) has_id: bool,
    /// The tool, by the name that the model called it by.
    pub(super) name: &'a str,
    /// Whether there is no answer of the tool, but a word on why.
    pub(super) failed: bool,
    /// What to say, in its order. Never JSON among other pieces.
    pub(super) pieces: Vec<AnswerPiece<'a>>,
    /// The reply it is made from.
    pub(super) reply: Option<&'a Reply>,
}

/// A piece of an answer, as providers tell them apart.
#[derive(Debug)]
pub(super) enum AnswerPiece<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// JSON without white space between its tokens.
    Json(String),
    /// A file that is text.
    Document {
        /// The file.
        file: &'a Blob,
        /// Its contents.
        text: &'a str,
    },
    /// An image or a document of a form that providers take.
    Media(Media<'a>),
    /// Bytes that no provider takes.
    Other {
        /// `image` or `file`.
        kind: &'static str,
        /// The bytes.
        blob: &'a Blob,
    },
}

impl<'a> CallAnswer<'a> {
    /// The answer to the call at a place in the model's message.
    pub(super) fn of(place: usize, call: &'a HydratedCall, reply: Option<&'a Reply>) -> Self {
        let given = call.provenance.id.as_deref();
        let id = given.map_or_else(|| Cow::Owned(format!("none{place:05}")), Cow::Borrowed);
        let answered = reply.filter(|reply| reply.code == Code::Completed).and_then(|reply| reply.output.as_ref());
        let pieces = match (answered, reply) {
            (Some(output), _) => pieces(output),
            (None, Some(reply)) => vec![AnswerPiece::Text(Cow::Owned(wording::failure(&reply.message)))],
            (None, None) => vec![AnswerPiece::Text(Cow::Borrowed(NO_REPLY))],
        };
        Self { id, has_id: given.is_some(), name: &call.provenance.name, failed: answered.is_none(), pieces, reply }
    }

    /// All of it as one text. What stands for media is said by `media`; nothing is a line that it is not shown.
    pub(super) fn text(&self, mut media: impl FnMut(&Media<'a>) -> Option<String>) -> String {
        let mut texts: Vec<Cow<'_, str>> = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let said = if let AnswerPiece::Media(shown) = piece { media(shown) } else { None };
            texts.push(said.map_or_else(|| piece.text(), Cow::Owned));
        }
        texts.join("\n")
    }

    /// The same where the format has no other way to say that the call failed.
    pub(super) fn labelled_text(&self, media: impl FnMut(&Media<'a>) -> Option<String>) -> String {
        let text = self.text(media);
        let labelled = FAILURE_LABELS.iter().any(|label| text.starts_with(label));
        if self.failed && !labelled { format!("Error: {text}") } else { text }
    }

    /// The media in it.
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
    /// The piece as text. Of bytes it says only what they are.
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
    format!("[Portcullis: this {kind} is not shown, since this message cannot carry it. {}.]", blob.described())
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

/// JSON without the white space between its tokens. Nothing else is changed, numbers and the order of members least of
/// all.
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
    fn white_space_is_taken_from_between_tokens_only() {
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
