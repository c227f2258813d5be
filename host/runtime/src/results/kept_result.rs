//! Keeps a result that may be replaced later, and writes the text that then replaces it.

use crate::ledger::OutputOrigin;
use crate::outputs::{KeepError, OutputKeeper, Reference};
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
            let (bytes, media_type, name) = content(part);
            say(&mut text, &keep(outputs, origin, (bytes, name), media_type).ok()?);
            Some(())
        })?,
        // The kept output is the whole of it, and the result only the beginning.
        (Output::Text(_) | Output::Json(_), Some(whole)) => say(&mut text, whole),
        (Output::Text(all), None) => say(&mut text, &keep(outputs, origin, (all.as_bytes(), None), "text/plain").ok()?),
        (Output::Json(all), None) => {
            say(&mut text, &keep(outputs, origin, (all.as_bytes(), None), "application/json").ok()?)
        }
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

fn content(part: &Part) -> (&[u8], &str, Option<&str>) {
    match part {
        Part::Text(text) => (text.as_bytes(), "text/plain", None),
        Part::Image(blob) | Part::File(blob) => (&blob.data, &blob.media_type, blob.name.as_deref()),
    }
}

fn keep(
    outputs: &OutputKeeper,
    origin: &OutputOrigin,
    (bytes, name): (&[u8], Option<&str>),
    media_type: &str,
) -> Result<Reference, KeepError> {
    let mut writing = outputs.begin(origin)?;
    writing.reserve(bytes.len() as u64)?;
    writing.write(bytes)?;
    writing.set_name(name);
    writing.finish(media_type, is_text_type(media_type), true)
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
