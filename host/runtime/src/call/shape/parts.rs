//! An answer of several parts. A part that does not fit with those before it is kept, and a line of text or its
//! beginning stands in its place.

use super::{Passed, broken, part_bytes};
use crate::call::Rejection;
use crate::call::answer::{Keeper, TEXT, Text};
use crate::outputs::Reference;
use crate::text::cut;
use portcullis_sandbox::{Blob, Output, Part};

/// Parts of one answer.
const PARTS_MAX: usize = 64;

/// A media type, in bytes; RFC 6838 allows 127 each for type and subtype.
const MEDIA_TYPE_BYTES_MAX: usize = 255;

pub(super) fn pass(keeper: &Keeper, parts: Vec<Part>, bytes_max: usize) -> Result<Passed, Rejection> {
    check(&parts)?;
    let (mut left, mut first) = (bytes_max, None);
    let mut fit = |part: Part| {
        let bytes = part_bytes(&part);
        if bytes <= left {
            left -= bytes;
            return part;
        }
        let (part, reference) = replaced(keeper, part, left);
        left = left.saturating_sub(part_bytes(&part));
        first = first.take().or(reference);
        part
    };
    let parts: Vec<Part> = parts.into_iter().map(&mut fit).collect();
    Ok(Passed { message: describe(&parts), output: Output::Parts(parts), reference: first })
}

/// What stands in the place of a part for which so much is left.
fn replaced(keeper: &Keeper, part: Part, left: usize) -> (Part, Option<Reference>) {
    let (kind, blob) = match part {
        Part::Text(text) => {
            let (text, reference) = Text::of(keeper.clone(), left, text).end(TEXT).shown(left);
            return (Part::Text(text), reference);
        }
        Part::Image(blob) => ("image", blob),
        Part::File(blob) => ("file", blob),
    };
    let Blob { media_type, data } = blob;
    let is_text = media_type.starts_with("text/") || media_type.starts_with(super::JSON);
    match keeper.keep(&data, &media_type, is_text) {
        Ok(reference) => {
            let line = format!(
                "[Portcullis: this {kind} is not shown. {media_type}, {} bytes, kept as {}.]",
                data.len(),
                reference.id
            );
            (Part::Text(line), Some(reference))
        }
        Err(error) => {
            let (bytes, why) = (data.len(), error.for_a_model());
            let line = format!("[Portcullis: this {kind} is lost. {media_type}, {bytes} bytes: {why}.]");
            (Part::Text(line), None)
        }
    }
}

fn check(parts: &[Part]) -> Result<(), Rejection> {
    if parts.len() > PARTS_MAX {
        return Err(broken(format!("it has more than {PARTS_MAX} parts")));
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

fn describe(parts: &[Part]) -> String {
    let describe = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(blob) => format!("[image, {}, {} bytes]", blob.media_type, blob.data.len()),
        Part::File(blob) => format!("[file, {}, {} bytes]", blob.media_type, blob.data.len()),
    };
    parts.iter().map(describe).collect::<Vec<_>>().join("\n")
}
