//! Step 7: the guest's answer to one of text, JSON or parts that keeps its definition's word and its size. What is over
//! the size is kept whole, and its beginning passed on.

mod parts;

use super::answer::{JSON, Keeper, TEXT, Text};
use super::execute::RawOutcome;
use super::{Rejection, Shaped};
use crate::json;
use crate::outputs::Reference;
use crate::reply::{CallUsage, Code};
use crate::schema::Schema;
use crate::text::{OneLine, cut};
use portcullis_sandbox::{LimitKind, Output, Part, Success};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::fmt::Write;

/// A title, in bytes: one line for a person.
const TITLE_BYTES_MAX: usize = 256;

/// A tool's metadata, in bytes: facts about an answer, not the answer.
const METADATA_BYTES_MAX: usize = 16 * 1024;

/// Mismatches of an output that are told.
const MISMATCHES_TOLD_MAX: usize = 3;

/// What is passed on of an answer.
struct Passed {
    output: Output,
    message: String,
    reference: Option<Reference>,
}

impl Passed {
    fn text(text: String, reference: Option<Reference>) -> Self {
        Self { output: Output::Text(text.clone()), message: text, reference }
    }
}

impl RawOutcome {
    pub(super) async fn shape(self) -> Result<Shaped, Rejection> {
        if size(&self.success) <= self.output_bytes_max as u64 {
            return self.shape_now();
        }
        // It goes to the disk.
        let usage = self.usage;
        let shaped = tokio::task::spawn_blocking(move || self.shape_now()).await;
        shaped.unwrap_or_else(|error| {
            let broken = Rejection::new(Code::HostPanic, "The host failed while it kept the tool's answer.");
            Err(Rejection { usage, ..broken.with_detail(error.to_string()) })
        })
    }

    fn shape_now(self) -> Result<Shaped, Rejection> {
        let usage = self.usage;
        self.checked().map_err(|rejection| Rejection { usage, ..rejection })
    }

    fn checked(self) -> Result<Shaped, Rejection> {
        let Self { tool, success: Success { title, output, metadata }, written, .. } = self;
        let bytes_out = written.bytes() + output_size(&output) + metadata.as_ref().map_or(0, |text| text.len() as u64);
        let metadata = match metadata.as_deref().map(check_metadata).transpose() {
            Ok(metadata) => metadata,
            Err(rejection) => return Err(rejection.keeping(written)),
        };
        let title = title.map(|title| cut(&title, TITLE_BYTES_MAX).to_owned());
        let schema = tool.output_schema.as_ref();
        let passed = pass(written, output, schema, self.output_bytes_max)?;
        let Passed { output, message, reference } = passed;
        let usage = CallUsage { run: self.usage, bytes_in: self.bytes_in, bytes_out };
        Ok(Shaped { output, title, metadata, message, reference, usage })
    }
}

fn pass(written: Text, output: Output, schema: Option<&Schema>, bytes_max: usize) -> Result<Passed, Rejection> {
    match output {
        Output::Text(_) | Output::Parts(_) if schema.is_some() => {
            Err(broken("its definition promises JSON, and it answered with something else").keeping(written))
        }
        Output::Json(_) | Output::Parts(_) if written.bytes() > 0 => {
            let why = "it wrote text, and then returned something else than the end of that text";
            Err(broken(why).keeping(written))
        }
        // What was written is all of the text, its end included.
        Output::Text(_) if written.bytes() > 0 => Ok(shown(written, TEXT, bytes_max)),
        Output::Text(text) => Ok(shown(Text::of(written.keeper().clone(), bytes_max, text), TEXT, bytes_max)),
        Output::Json(text) => pass_json(written.keeper(), text, schema, bytes_max),
        Output::Parts(parts) => parts::pass(written.keeper(), parts, bytes_max),
    }
}

fn shown(text: Text, media_type: &str, bytes_max: usize) -> Passed {
    let (text, reference) = text.end(media_type).shown(bytes_max);
    Passed::text(text, reference)
}

fn pass_json(keeper: &Keeper, text: String, schema: Option<&Schema>, bytes_max: usize) -> Result<Passed, Rejection> {
    if text.len() <= bytes_max {
        check_json(&text, schema)?;
        return Ok(Passed { output: Output::Json(text.clone()), message: text, reference: None });
    }
    // Looked at without a copy of it: what is over the size goes on as text.
    let read = serde_json::from_str::<IgnoredAny>(&text);
    read.map_err(|error| broken(format!("it is not JSON ({})", quoted(&error.to_string()))))?;
    match schema {
        None => Ok(shown(Text::of(keeper.clone(), bytes_max, text), JSON, bytes_max)),
        Some(_) => Err(too_large(keeper, &text, bytes_max)),
    }
}

pub(super) fn broken(why: impl std::fmt::Display) -> Rejection {
    let message =
        format!("Error executing tool: its answer is not usable: {why}. The same call will probably fail again.");
    Rejection::new(Code::InvalidOutput, message)
}

/// JSON of a promised form that does not fit: a part of it would not have the form.
fn too_large(keeper: &Keeper, text: &str, most: usize) -> Rejection {
    let kept = keeper.keep(text.as_bytes(), JSON, true);
    let mut message =
        format!("Error executing tool: its answer has {} bytes, more than the {most} that fit.", text.len());
    let _ = match &kept {
        Ok(reference) => {
            write!(message, " It is kept: read it with output.read {{\"reference\":\"{}\"}}, or ask", reference.id)
        }
        Err(error) => write!(message, " It could not be kept: {}. Ask", error.for_a_model()),
    };
    message.push_str(" for less at once.");
    Rejection { reference: kept.ok().map(Box::new), ..Rejection::new(Code::Limit(LimitKind::Output), message) }
}

fn size(success: &Success) -> u64 {
    output_size(&success.output) + success.metadata.as_ref().map_or(0, |text| text.len() as u64)
}

fn output_size(output: &Output) -> u64 {
    let bytes = match output {
        Output::Text(text) | Output::Json(text) => text.len(),
        Output::Parts(parts) => parts.iter().map(part_bytes).sum(),
    };
    bytes as u64
}

fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text(text) => text.len(),
        Part::Image(blob) | Part::File(blob) => {
            blob.name.as_ref().map_or(0, String::len) + blob.media_type.len() + blob.data.len()
        }
    }
}

fn check_json(text: &str, schema: Option<&Schema>) -> Result<(), Rejection> {
    let value =
        json::parse(text).map_err(|error| broken(format!("it is not JSON ({})", quoted(&error.to_string()))))?;
    let mismatches = schema.map(|schema| schema.mismatches(&value)).unwrap_or_default();
    if mismatches.is_empty() {
        return Ok(());
    }
    let mut why = "it does not match the tool's output schema".to_owned();
    for mismatch in mismatches.iter().take(MISMATCHES_TOLD_MAX) {
        let _ = write!(why, "; {}: {}", quoted(&mismatch.pointer), quoted(&mismatch.message));
    }
    Err(broken(why))
}

fn quoted(text: &str) -> OneLine<'_> {
    OneLine(cut(text, 200))
}

fn check_metadata(text: &str) -> Result<Value, Rejection> {
    if text.len() > METADATA_BYTES_MAX {
        return Err(broken(format!("its metadata is larger than {METADATA_BYTES_MAX} bytes")));
    }
    match json::parse(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(broken("its metadata is not a JSON object")),
        Err(error) => Err(broken(format!("its metadata is not JSON ({})", quoted(&error.to_string())))),
    }
}
