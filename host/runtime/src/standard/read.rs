//! `output.read`: returns the numbered lines of a kept output, as many as fit into one answer. An output that is not
//! text is returned as a part.

use super::call::{StandardCall, StopSignal, Trouble, answer};
use super::media;
use crate::outputs::{KeptOutput, LinePiece};
use crate::text::OneLine;
use portcullis_definitions::manifest::Success;
use std::fmt::Write;

/// Default maximum number of lines.
const LINES_DEFAULT: u64 = 2000;

/// Columns of a line number, as in `cat -n`.
const NUMBER_COLUMNS: usize = 6;

pub(super) fn read(call: &StandardCall, stop: &StopSignal) -> Result<Success, Trouble> {
    let (kept, mut lines) = call.outputs.lines(call.reader(), call.text("reference"))?;
    if kept.reference.lines.is_none() {
        return media::read(call, &kept);
    }
    let offset = call.number("offset").unwrap_or(1);
    let column = call.number("column").unwrap_or(1);
    lines.go_to(offset, || stop.check())?;
    if lines.line() == offset {
        lines.skip(column - 1, || stop.check())?;
    }
    let (mut page, mut shown) = (String::new(), 0);
    let limit = call.number("limit").unwrap_or(LINES_DEFAULT);
    let page_bytes = call.page_bytes();
    let mut next = None;
    while lines.line() >= offset {
        stop.check()?;
        let (number, from) = (lines.line(), lines.column());
        // A line needs room for its number and for at least one character.
        let room = page_bytes.saturating_sub(page.len() + NUMBER_COLUMNS + 24);
        let is_full = shown == limit || room < 8;
        let mut bytes = Vec::new();
        // On a full page, this only finds out whether another line follows.
        let Some(piece) = lines.next(if is_full { 0 } else { room }, &mut bytes)? else { break };
        if is_full {
            next = Some((number, from));
            break;
        }
        // A line that does not fit starts the next page, unless it is too long for any page.
        if piece == LinePiece::Unfinished && shown > 0 {
            next = Some((number, from));
            break;
        }
        shown += 1;
        let whole = whole_characters(&bytes, piece);
        let text = String::from_utf8_lossy(&bytes[..whole]);
        // Replacing invalid UTF-8 can make the text longer.
        let text = crate::text::cut(&text, room);
        let _ = writeln!(page, "{number:>NUMBER_COLUMNS$}\t{text}");
        if piece == LinePiece::Unfinished {
            next = Some((number, from + whole as u64));
            break;
        }
    }
    if shown == 0 {
        let _ = writeln!(page, "[There is no line {offset}{}.]", beyond(&kept, column));
    }
    page.push_str(&notice(&kept, next));
    Ok(answer(page))
}

/// Returns the length of the leading bytes that are complete characters. The rest of the last one may be in the next
/// piece.
fn whole_characters(bytes: &[u8], piece: LinePiece) -> usize {
    if piece == LinePiece::LineEnd {
        return bytes.len();
    }
    match std::str::from_utf8(bytes) {
        // Only hold back an incomplete character. Pass on an invalid one as it is.
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

fn beyond(kept: &KeptOutput, column: u64) -> String {
    let lines = kept.reference.lines.unwrap_or(0);
    let column = if column > 1 { format!(" from byte {column} on") } else { String::new() };
    format!("{column}: the output has {lines} lines")
}

fn notice(kept: &KeptOutput, next: Option<(u64, u64)>) -> String {
    let reference = &kept.reference;
    let lines = reference.lines.unwrap_or(0);
    let name = kept.name.as_deref().map(|name| format!(" \"{}\"", OneLine(name))).unwrap_or_default();
    match next {
        Some((line, from)) => {
            let column = if from > 0 { format!(",\"column\":{}", from + 1) } else { String::new() };
            format!(
                "[Portcullis: there is more. The output{name} has {lines} lines and {} bytes in all. Continue with \
                 output.read {{\"reference\":\"{}\",\"offset\":{line}{column}}}.]\n",
                reference.bytes, reference.id
            )
        }
        None if !reference.complete => {
            format!("[Portcullis: this is all that was kept, {lines} lines. The tool was stopped while it wrote.]\n")
        }
        None => format!("[Portcullis: this is the end. The output{name} has {lines} lines.]\n"),
    }
}
