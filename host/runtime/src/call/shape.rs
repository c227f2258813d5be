//! Step 7: the guest's answer to one of text, JSON or parts that keeps its definition's word and its size.

use super::execute::RawOutcome;
use super::{Rejection, Shaped};
use crate::json;
use crate::reply::{CallUsage, Code};
use crate::text::{OneLine, cut};
use portcullis_sandbox::{Blob, LimitKind, Output, Part, Success};
use serde_json::Value;
use std::fmt::Write;

/// A title, in bytes: one line for a person.
const TITLE_BYTES_MAX: usize = 256;

/// A tool's metadata, in bytes: facts about an answer, not the answer.
const METADATA_BYTES_MAX: usize = 16 * 1024;

/// Parts of one answer.
const PARTS_MAX: usize = 64;

/// A media type, in bytes; RFC 6838 allows 127 each for type and subtype.
const MEDIA_TYPE_BYTES_MAX: usize = 255;

/// Mismatches of an output that are told.
const MISMATCHES_TOLD_MAX: usize = 3;

impl RawOutcome {
    pub(super) fn shape(self) -> Result<Shaped, Rejection> {
        let usage = self.usage;
        self.checked().map_err(|rejection| Rejection { usage, ..rejection })
    }

    fn checked(self) -> Result<Shaped, Rejection> {
        let bytes_out = size(&self.success);
        let output_schema = self.tool.output_schema.as_ref();
        let (output, message) = match self.success.output {
            Output::Text(_) | Output::Parts(_) if output_schema.is_some() => {
                return Err(broken("its definition promises JSON, and it answered with something else"));
            }
            Output::Text(text) => {
                let text = cut_text(text, self.output_bytes_max);
                (Output::Text(text.clone()), text)
            }
            Output::Json(text) => {
                let text = check_json(&text, output_schema, self.output_bytes_max)?;
                (Output::Json(text.clone()), text)
            }
            Output::Parts(parts) => {
                check_parts(&parts, self.output_bytes_max)?;
                let message = describe_parts(&parts);
                (Output::Parts(parts), message)
            }
        };
        let metadata = self.success.metadata.as_deref().map(check_metadata).transpose()?;
        let title = self.success.title.map(|title| cut(&title, TITLE_BYTES_MAX).to_owned());
        let usage = CallUsage { run: self.usage, bytes_in: self.bytes_in, bytes_out };
        Ok(Shaped { output, title, metadata, message, usage })
    }
}

fn broken(why: impl std::fmt::Display) -> Rejection {
    let message = format!("The tool's answer is not usable: {why}. The same call will probably fail again.");
    Rejection::new(Code::InvalidOutput, message)
}

fn too_large(bytes: usize, most: usize) -> Rejection {
    let message =
        format!("The tool's answer has {bytes} bytes, more than the {most} that fit. Ask it for less at once.");
    Rejection::new(Code::Limit(LimitKind::Output), message)
}

fn size(success: &Success) -> u64 {
    let output = match &success.output {
        Output::Text(text) | Output::Json(text) => text.len(),
        Output::Parts(parts) => parts.iter().map(part_bytes).sum(),
    };
    (output + success.metadata.as_ref().map_or(0, String::len)) as u64
}

fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Image(blob) | Part::File(blob) => blob.media_type.len() + blob.data.len(),
    }
}

/// Cuts text that is too long after its last whole line, and says what is missing.
fn cut_text(text: String, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text;
    }
    let kept = cut(&text, bytes_max);
    let kept = kept.rfind('\n').map_or(kept, |end| &kept[..=end]);
    let (bytes, lines) = (text.len() - kept.len(), text[kept.len()..].lines().count());
    let mut shaped = kept.to_owned();
    let _ = write!(
        shaped,
        "\n[Portcullis: the output was cut here. {bytes} bytes in {lines} lines are missing of {} bytes. Ask for less \
         at once.]",
        text.len()
    );
    shaped
}

fn check_json(text: &str, schema: Option<&crate::schema::Schema>, bytes_max: usize) -> Result<String, Rejection> {
    if text.len() > bytes_max {
        return Err(too_large(text.len(), bytes_max));
    }
    let value = json::parse(text).map_err(|error| broken(format!("it is not JSON ({})", shown(&error.to_string()))))?;
    let mismatches = schema.map(|schema| schema.mismatches(&value)).unwrap_or_default();
    if mismatches.is_empty() {
        return Ok(text.to_owned());
    }
    let mut why = "it does not match the tool's output schema".to_owned();
    for mismatch in mismatches.iter().take(MISMATCHES_TOLD_MAX) {
        let _ = write!(why, "; {}: {}", shown(&mismatch.pointer), shown(&mismatch.message));
    }
    Err(broken(why))
}

fn shown(text: &str) -> OneLine<'_> {
    OneLine(cut(text, 200))
}

fn check_parts(parts: &[Part], bytes_max: usize) -> Result<(), Rejection> {
    if parts.len() > PARTS_MAX {
        return Err(broken(format!("it has more than {PARTS_MAX} parts")));
    }
    let bytes = parts.iter().map(part_bytes).sum();
    if bytes > bytes_max {
        return Err(too_large(bytes, bytes_max));
    }
    parts.iter().try_for_each(|part| match part {
        Part::Text(_) => Ok(()),
        Part::Image(blob) | Part::File(blob) => check_media_type(blob),
    })
}

/// `type/subtype` of RFC 6838, parameters allowed, nothing that could end a header.
fn check_media_type(blob: &Blob) -> Result<(), Rejection> {
    let text = &blob.media_type;
    let plain = |character: char| character.is_ascii_graphic() || character == ' ';
    let formed = text.split_once('/').is_some_and(|(kind, subtype)| !kind.is_empty() && !subtype.is_empty());
    if text.len() > MEDIA_TYPE_BYTES_MAX || !formed || !text.chars().all(plain) {
        return Err(broken(format!("a part has the media type {:?}", cut(text, 80))));
    }
    Ok(())
}

fn describe_parts(parts: &[Part]) -> String {
    let describe = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(blob) => format!("[image, {}, {} bytes]", blob.media_type, blob.data.len()),
        Part::File(blob) => format!("[file, {}, {} bytes]", blob.media_type, blob.data.len()),
    };
    parts.iter().map(describe).collect::<Vec<_>>().join("\n")
}

fn check_metadata(text: &str) -> Result<Value, Rejection> {
    if text.len() > METADATA_BYTES_MAX {
        return Err(broken(format!("its metadata is larger than {METADATA_BYTES_MAX} bytes")));
    }
    match json::parse(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(broken("its metadata is not a JSON object")),
        Err(error) => Err(broken(format!("its metadata is not JSON ({})", shown(&error.to_string())))),
    }
}
