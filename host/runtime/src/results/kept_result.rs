//! Keeps a result that may be replaced later, and writes the text that then replaces it.

use crate::ledger::OutputOrigin;
use crate::outputs::{OutputKeeper, Reference, WholeOutput, whole_part};
use crate::reply::{Code, Reply};
use crate::standard::Standard;
use crate::text::{OneLine, cut, is_text_type};
use portcullis_definitions::manifest::{Output, Part};
use portcullis_policy::ToolName;
use std::fmt::Write;

/// Tokens up to which a result is not replaced. The text that replaces it has up to half of them.
const SHORT_TOKENS_MAX: u64 = 200;

/// Maximum parts of a result that is replaced. The text names each of them.
const PARTS_MAX: usize = 8;

/// Maximum length of a title in the text, in bytes.
const TITLE_BYTES_MAX: usize = 120;

/// Returns the text that can replace a result. Keeps what is not kept yet. Returns `None` if the result must stay: it
/// is an error, waits for an approver, is short, or cannot be kept.
pub(super) fn replacement(
    outputs: &OutputKeeper,
    (origin, tool): (&OutputOrigin, &ToolName),
    reply: &Reply,
    tokens: u64,
) -> Option<String> {
    if reply.code != Code::Completed || tokens <= SHORT_TOKENS_MAX {
        return None;
    }
    let mut text = reply.title.as_deref().map(title).unwrap_or_default();
    text.push_str("[Portcullis: this older result was replaced to save tokens.");
    if let Some(tool) = rereads(tool) {
        let _ = write!(text, " Make the same call of {tool} to see it again.]");
        return Some(text);
    }
    match (reply.output.as_ref()?, &reply.reference) {
        (Output::Parts(parts), _) if parts.len() > PARTS_MAX => return None,
        (Output::Parts(parts), _) => parts.iter().try_for_each(|part| {
            say(&mut text, &outputs.keep(origin, content(part)).ok()?);
            Some(())
        })?,
        // The kept output is the whole of it, and the result only the beginning.
        (Output::Text(_) | Output::Json(_), Some(whole)) => say(&mut text, whole),
        (Output::Text(all), None) => say(&mut text, &outputs.keep(origin, text_output(all, "text/plain")).ok()?),
        (Output::Json(all), None) => say(&mut text, &outputs.keep(origin, text_output(all, "application/json")).ok()?),
    }
    text.push(']');
    Some(text)
}

/// Returns the tool if it is one of the host that reads kept outputs. Its result is not kept again.
fn rereads(tool: &ToolName) -> Option<&'static str> {
    match Standard::named(tool)? {
        Standard::Read => Some("output.read"),
        Standard::Grep => Some("output.grep"),
        Standard::Done => None,
    }
}

/// Returns the title as a line of its own.
fn title(title: &str) -> String {
    format!("{}\n", cut(&OneLine(title).to_string(), TITLE_BYTES_MAX))
}

/// Returns a part as an output.
fn content(part: &Part) -> WholeOutput<'_> {
    match part {
        Part::Text(all) => text_output(all, "text/plain"),
        Part::Image(blob) | Part::File(blob) => whole_part(blob),
    }
}

fn text_output<'a>(all: &'a str, media_type: &'a str) -> WholeOutput<'a> {
    WholeOutput { bytes: all.as_bytes(), name: None, media_type, is_text: is_text_type(media_type) }
}

fn say(text: &mut String, kept: &Reference) {
    let Reference { id, bytes, media_type, .. } = kept;
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        " Its {} of {bytes} bytes is kept. Read it with output.read {{\"reference\":\"{id}\"}}.",
        OneLine(cut(media_type, 80)),
    );
}
