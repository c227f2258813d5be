//! The unified format, as `diff -u` and Git write it.

mod hunk;
mod section;

pub(super) use hunk::{marked_lines, range};

use super::error::PatchError;
use super::format::{FilePatch, PatchLines};
use section::Section;

/// Parses a patch.
pub(super) fn parse<'p>(lines: &mut PatchLines<'p>) -> Result<Vec<FilePatch<'p>>, PatchError> {
    let mut sections = Vec::new();
    loop {
        lines.skip_blank();
        if lines.peek().is_none() {
            break;
        }
        sections.push(Section::parse(lines)?);
    }
    if sections.is_empty() {
        return Err(PatchError::at(1, "the patch is empty"));
    }
    section::resolve(sections)
}
