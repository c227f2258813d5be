//! Answers of several parts. A part that does not fit is kept as an output. A line about it, or the beginning of a
//! text, replaces it.

use super::flaw::{AnswerFlaw, broken};
use super::passed::Passed;
use crate::call::answer::{AnswerText, Keeper, TEXT};
use crate::outputs::Reference;
use crate::standard::{MEDIA_BYTES_MAX, MEDIA_TYPE_BYTES_MAX};
use crate::text::{cut, is_deceptive};
use portcullis_definitions::manifest::{Blob, Output, Part};

/// Maximum parts of one answer.
const PARTS_MAX: usize = 64;

/// Maximum length of a file name, in bytes. Common filesystems allow no more.
const NAME_BYTES_MAX: usize = 255;

/// Characters that separate paths, or that a file name cannot contain on some system. Without them a name can be quoted
/// without escapes.
const NOT_IN_NAMES: &str = r#"/\:*?"<>|"#;

/// Names that Windows takes for devices, whatever follows the first dot (Microsoft, "Naming Files").
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// The device names that are followed by a digit.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

pub(super) fn pass(keeper: &Keeper, parts: Vec<Part>, bytes_max: usize) -> Passed {
    let (mut left, mut first) = (bytes_max, None);
    let mut fit = |part: Part| {
        let bytes = part.bytes();
        if bytes <= left && !is_kept(&part) {
            left -= bytes;
            return part;
        }
        let (part, reference) = replaced(keeper, part, left);
        left = left.saturating_sub(part.bytes());
        first = first.take().or(reference);
        part
    };
    let parts: Vec<Part> = parts.into_iter().map(&mut fit).collect();
    Passed { message: describe(&parts), output: Output::Parts(parts), reference: first }
}

/// Returns whether the tool wants the host to keep the part.
fn is_kept(part: &Part) -> bool {
    match part {
        Part::Text(_) => false,
        Part::Image(blob) | Part::File(blob) => blob.is_kept,
    }
}

/// Returns the replacement for a part that does not fit in the `left` bytes.
pub(super) fn replaced(keeper: &Keeper, part: Part, left: usize) -> (Part, Option<Reference>) {
    let (kind, blob) = match part {
        Part::Text(text) => {
            let (text, reference) = AnswerText::of(keeper.clone(), left, text).end(TEXT).shown(left);
            return (Part::Text(text), reference);
        }
        Part::Image(blob) => ("image", blob),
        Part::File(blob) => ("file", blob),
    };
    let described = blob.described();
    match keeper.keep_part(&blob) {
        Ok(reference) => {
            let line = format!("[Portcullis: this {kind} is not shown. {described}{}]", how_to_read(&reference));
            (Part::Text(line), Some(reference))
        }
        Err(error) => {
            let line = format!("[Portcullis: this {kind} is lost. {described}: {}.]", error.for_a_model());
            (Part::Text(line), None)
        }
    }
}

/// Returns how a model reads a kept part.
fn how_to_read(reference: &Reference) -> String {
    let Reference { id, bytes, lines, .. } = reference;
    if lines.is_none() && *bytes > MEDIA_BYTES_MAX as u64 {
        return format!(
            ", kept as {id}. It is too large for output.read, which shows at most {MEDIA_BYTES_MAX} bytes."
        );
    }
    format!(". It is kept. Read it with output.read {{\"reference\":\"{id}\"}}.")
}

/// Checks the number, media types and names of parts.
pub(super) fn check(parts: &[Part]) -> Result<(), AnswerFlaw<'static>> {
    if parts.len() > PARTS_MAX {
        return Err(broken(format!("it has more than {PARTS_MAX} parts")));
    }
    parts.iter().try_for_each(|part| match part {
        Part::Text(_) => Ok(()),
        Part::Image(blob) | Part::File(blob) => {
            check_media_type(blob)?;
            blob.name.as_deref().map_or(Ok(()), check_name)
        }
    })
}

/// Characters that no media type may have. A model reads the type in a line in brackets, which these could end.
const NOT_IN_MEDIA_TYPES: &str = "[]";

/// Checks for `type/subtype` as in RFC 6838, with optional parameters and without characters that could end a header.
fn check_media_type(blob: &Blob) -> Result<(), AnswerFlaw<'static>> {
    let text = &blob.media_type;
    let plain =
        |character: char| (character.is_ascii_graphic() || character == ' ') && !NOT_IN_MEDIA_TYPES.contains(character);
    let formed = text.split_once('/').is_some_and(|(kind, subtype)| !kind.is_empty() && !subtype.is_empty());
    if text.len() > MEDIA_TYPE_BYTES_MAX || !formed || !text.chars().all(plain) {
        return Err(broken(format!("a part has the invalid media type {:?}", cut(text, 80))));
    }
    Ok(())
}

/// Checks that a name is a plain file name, so that a file saved under it cannot end up elsewhere.
fn check_name(name: &str) -> Result<(), AnswerFlaw<'static>> {
    let refused = |character| NOT_IN_NAMES.contains(character) || is_deceptive(character);
    // A leading `-` looks like an option. Windows strips trailing spaces and dots. This also excludes `.` and `..`.
    let at_its_ends = name.is_empty() || name.starts_with([' ', '-']) || name.ends_with([' ', '.']);
    if at_its_ends || is_device(name) || name.contains(refused) || name.len() > NAME_BYTES_MAX {
        return Err(broken(format!("a part has the name {:?}, which is not a valid file name", cut(name, 80))));
    }
    Ok(())
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = stem.strip_suffix(|last: char| last.is_ascii_digit() || "\u{b9}\u{b2}\u{b3}".contains(last));
    DEVICES.contains(&stem.as_str()) || numbered.is_some_and(|stem| NUMBERED_DEVICES.contains(&stem))
}

pub(super) fn describe(parts: &[Part]) -> String {
    let describe = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(blob) => format!("[image, {}]", blob.described()),
        Part::File(blob) => format!("[file, {}]", blob.described()),
    };
    parts.iter().map(describe).collect::<Vec<_>>().join("\n")
}
