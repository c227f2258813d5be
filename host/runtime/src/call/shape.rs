//! Step 7: checks the guest's answer against the contract and the tool's definition. An answer that is too large is
//! kept as an output, and only its beginning is passed on.

mod flaw;
mod form;
mod parts;
mod passed;
mod results;

pub(crate) use flaw::AnswerFlaw;
pub(crate) use form::check;

use super::answer::{AnswerText, JSON, Keeper, TEXT};
use super::outcome::RawOutcome;
use super::rejection::{FAILURE_LABEL, Rejection};
use crate::outputs::Reference;
use crate::reply::{CallUsage, Code};
use crate::text::cut;
use passed::Passed;
use portcullis_definitions::manifest::{Output, Success};
use portcullis_sandbox::LimitKind;
use serde_json::Value;
use std::fmt::Write;

/// Maximum length of a title, in bytes: one line for a person.
const TITLE_BYTES_MAX: usize = 256;

/// An answer that passed every check.
pub(crate) struct Shaped {
    pub(crate) output: Output,
    pub(crate) title: Option<String>,
    pub(crate) metadata: Option<Value>,
    pub(crate) message: String,
    pub(crate) reference: Option<Reference>,
    pub(crate) usage: CallUsage,
}

impl RawOutcome {
    pub(super) async fn shape(self) -> Result<Shaped, Rejection> {
        if self.bytes() <= self.output_bytes_max as u64 && self.written.bytes() == 0 {
            return self.shape_now();
        }
        // A large answer is written to disk, and a text that the tool wrote may be, so shape it off the async threads.
        let usage = self.usage_so_far();
        let shaped = tokio::task::spawn_blocking(move || self.shape_now()).await;
        shaped.unwrap_or_else(|error| {
            let broken = Rejection::new(Code::HostPanic, "The host failed while it stored the tool's answer.");
            Err(Rejection { usage: Box::new(usage), ..broken.with_detail(error.to_string()) })
        })
    }

    fn shape_now(self) -> Result<Shaped, Rejection> {
        let usage = self.usage_so_far();
        self.checked().map_err(|rejection| Rejection { usage: Box::new(usage), ..rejection })
    }

    /// Returns what the call took, without an answer.
    fn usage_so_far(&self) -> CallUsage {
        CallUsage { run: self.usage, bytes_in: self.bytes_in, bytes_out: 0 }
    }

    /// Returns the size of what the tool returned.
    fn bytes(&self) -> u64 {
        size(&self.success) + self.results.as_deref().map_or(0, results::bytes)
    }

    fn checked(self) -> Result<Shaped, Rejection> {
        let all = self.bytes();
        let Self { tool, success, written, results, .. } = self;
        if let Some(results) = results {
            let (passed, metadata) = results::pass(written.keeper(), results, self.output_bytes_max);
            let Passed { output, message, reference } = passed;
            let usage = CallUsage { run: self.usage, bytes_in: self.bytes_in, bytes_out: all };
            return Ok(Shaped { output, title: None, metadata: Some(metadata), message, reference, usage });
        }
        let bytes_out = written.bytes() + size(&success);
        let schema = tool.output_schema();
        let metadata = match form::check(&success, written.bytes() > 0, schema, self.output_bytes_max) {
            Ok(metadata) => metadata,
            Err(AnswerFlaw::Broken(why)) => return Err(broken(&why).blocking_keeping(written)),
            Err(AnswerFlaw::Memory(why)) => return Err(too_many_values(&why).blocking_keeping(written)),
            Err(AnswerFlaw::TooLarge(text)) => return Err(too_large(written.keeper(), text, self.output_bytes_max)),
        };
        let title = success.title.map(|title| cut(&title, TITLE_BYTES_MAX).to_owned());
        let Passed { output, message, reference } = pass(written, success.output, self.output_bytes_max);
        let usage = CallUsage { run: self.usage, bytes_in: self.bytes_in, bytes_out };
        Ok(Shaped { output, title, metadata, message, reference, usage })
    }
}

fn pass(written: AnswerText, output: Output, bytes_max: usize) -> Passed {
    match output {
        // The written text already includes the returned end.
        Output::Text(_) if written.bytes() > 0 => shown(written, TEXT, bytes_max),
        Output::Text(text) => shown(AnswerText::of(written.keeper().clone(), bytes_max, text), TEXT, bytes_max),
        Output::Json(text) if text.len() <= bytes_max => {
            Passed { output: Output::Json(text.clone()), message: text, reference: None }
        }
        // JSON that is too large is passed on as text, because its beginning is not JSON.
        Output::Json(text) => shown(AnswerText::of(written.keeper().clone(), bytes_max, text), JSON, bytes_max),
        Output::Parts(parts) => parts::pass(written.keeper(), parts, bytes_max),
    }
}

fn shown(text: AnswerText, media_type: &str, bytes_max: usize) -> Passed {
    let (text, reference) = text.end(media_type).shown(bytes_max);
    Passed::text(text, reference)
}

fn broken(why: &str) -> Rejection {
    let message = format!("{FAILURE_LABEL}its answer is not usable: {why}. The same call will probably fail again.");
    Rejection::new(Code::InvalidOutput, message)
}

fn too_many_values(why: &str) -> Rejection {
    let message = format!("{FAILURE_LABEL}its answer is not usable: {why}. Request less per call.");
    Rejection::new(Code::Limit(LimitKind::HostMemory), message)
}

/// Rejects JSON with an output schema that is too large, because its beginning would not match the schema.
fn too_large(keeper: &Keeper, text: &str, most: usize) -> Rejection {
    let kept = keeper.keep(text.as_bytes(), JSON, true);
    let mut message = format!("{FAILURE_LABEL}its answer has {} bytes, but at most {most} fit.", text.len());
    let _ = match &kept {
        Ok(reference) => {
            write!(message, " It is kept. Read it with output.read {{\"reference\":\"{}\"}}, or request", reference.id)
        }
        Err(error) => write!(message, " It could not be kept: {}. Request", error.for_a_model()),
    };
    message.push_str(" less per call.");
    Rejection { reference: kept.ok().map(Box::new), ..Rejection::new(Code::Limit(LimitKind::Output), message) }
}

fn size(success: &Success) -> u64 {
    success.output.bytes() as u64 + success.metadata.as_ref().map_or(0, |text| text.len() as u64)
}
