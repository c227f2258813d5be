//! The reply to a call that the console ran.

use crate::html::{duration, shown as line};
use crate::resumed::ResumedState;
use maud::{Markup, html};
use portcullis::text::{Lines, indent_json};
use portcullis::{Blob, Output, Part, Reply};

/// Bytes of an answer that are shown. The caller of the call is gone, so a person only needs to see how it went.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Returns a word for the state, by which a page notices that it changed.
pub(crate) fn word(state: Option<&ResumedState>) -> &'static str {
    match state {
        None => "",
        Some(ResumedState::Running) => "running",
        Some(ResumedState::Ended(_)) => "ended",
        Some(ResumedState::NotRun(_)) => "not-run",
    }
}

/// Returns what became of the call.
pub(crate) fn shown(state: &ResumedState) -> Markup {
    html! {
        section.reply aria-label="Reply" {
            @match state {
                ResumedState::Running => { p { "The call runs in this console …" } progress aria-label="The call runs" {} }
                ResumedState::NotRun(why) => { p.warning { b { "It did not run: " } (line(why)) } }
                ResumedState::Ended(reply) => { (ended(reply)) }
            }
        }
    }
}

fn ended(reply: &Reply) -> Markup {
    let time = u64::try_from(reply.usage.run.wall.as_micros()).unwrap_or(u64::MAX);
    html! {
        p { b { (reply.outcome().as_str()) } " " code { (reply.code.to_string()) } " · " (duration(time)) }
        @match &reply.output {
            Some(output) => { pre tabindex="0" role="region" aria-label="Answer" { (Lines(cut(&text(output), ANSWER_BYTES_MAX))) } }
            None => { p { (Lines(cut(&reply.message, ANSWER_BYTES_MAX))) } }
        }
    }
}

/// Cuts a text at a character boundary.
fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

fn text(output: &Output) -> String {
    let blob = |kind: &str, blob: &Blob| format!("[{kind}, {}, {} bytes]", blob.media_type, blob.data.len());
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(image) => blob("image", image),
        Part::File(file) => blob("file", file),
    };
    match output {
        Output::Text(text) => text.clone(),
        Output::Json(json) => indent_json(json),
        Output::Parts(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
    }
}
