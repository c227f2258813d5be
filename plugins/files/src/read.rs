//! `read`: shows a part of a text file, with line numbers. Memory use depends on what is shown, not on the file's size.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};

use portcullis_sdk::prelude::*;

use crate::place::Place;
use crate::text::{self, LINE_CHARACTERS_MAX, OUTPUT_BYTES_MAX, PROBE_BYTES};
use crate::workspace::Workspace;

/// Default number of lines to show: most source files fit completely.
const LINES_DEFAULT: u64 = 2_000;

/// Number of lines to read between two checks for cancellation.
const LINES_PER_LOOK: u64 = 4_096;

/// Maximum number of bytes to keep of a line. A UTF-8 character has up to four.
const LINE_BYTES_KEPT: usize = LINE_CHARACTERS_MAX * 4 + 4;

#[arguments]
pub(crate) struct Read {
    /// The file, relative to the workspace.
    path: String,
    /// The first line to show, counted from 1.
    #[serde(default = "first_line")]
    #[schemars(range(min = 1))]
    offset: u64,
    /// How many lines to show.
    #[serde(default = "lines_default")]
    #[schemars(range(min = 1))]
    limit: u64,
}

fn first_line() -> u64 {
    1
}

fn lines_default() -> u64 {
    LINES_DEFAULT
}

/// Reads a text file. Every line comes with its number and a tab, which are not part of the file. Long lines are cut,
/// and a longer file is shown in parts: the answer gives the offset of the next part.
#[tool(read_only, idempotent, requires(read), title = "Read a file")]
pub(crate) fn read(arguments: Read, context: &Context) -> Result<Success<String>, Failure> {
    let workspace = Workspace::of(context)?;
    let place = workspace.locate(&arguments.path)?;
    let (file, size) = workspace.open(&place)?;
    let mut reader = BufReader::new(file);
    let explain = |error: std::io::Error| workspace.explain(&place, &error);
    // `fill_buf` leaves what it shows in the reader, so the lines below still begin at the start.
    refuse_binary(&place, reader.fill_buf().map_err(explain)?, size)?;

    let mut page = Page { offset: arguments.offset.max(1), limit: arguments.limit.max(1), ..Page::default() };
    page.fill(&mut reader, context, explain)?;
    page.answer(&place, size)
}

fn refuse_binary(place: &Place, start: &[u8], size: u64) -> Result<(), Failure> {
    match text::binary_kind(&start[..start.len().min(PROBE_BYTES)]) {
        Some(kind) => {
            let shown = place.shown();
            Err(Failure::failed(format!("`{shown}` is not a text file: {size} bytes that look like {kind}")))
        }
        None => Ok(()),
    }
}

/// The part of a file that is shown.
#[derive(Default)]
struct Page {
    offset: u64,
    limit: u64,
    text: String,
    shown: u64,
    /// The number of lines read, shown or not.
    read: u64,
    cut: u64,
    more: bool,
}

impl Page {
    fn fill(
        &mut self,
        reader: &mut BufReader<File>,
        context: &Context,
        explain: impl Fn(std::io::Error) -> Failure,
    ) -> Result<(), Failure> {
        let mut line = Vec::new();
        loop {
            if self.read.is_multiple_of(LINES_PER_LOOK) {
                context.check_cancelled()?;
            }
            if self.shown == self.limit || self.text.len() >= OUTPUT_BYTES_MAX {
                self.more = !reader.fill_buf().map_err(&explain)?.is_empty();
                return Ok(());
            }
            if !next_line(reader, &mut line).map_err(&explain)? {
                return Ok(());
            }
            self.read += 1;
            if self.read >= self.offset {
                self.show(&line);
            }
        }
    }

    fn show(&mut self, line: &[u8]) {
        use std::fmt::Write as _;
        let line = String::from_utf8_lossy(line);
        let line = if self.read == 1 { line.trim_start_matches('\u{feff}') } else { &line };
        let (line, cut) = text::cut(line, LINE_CHARACTERS_MAX);
        let mark = if cut { " [... line cut]" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:>6}\t{line}{mark}", self.read);
        self.shown += 1;
        self.cut += u64::from(cut);
    }

    fn answer(mut self, place: &Place, size: u64) -> Result<Success<String>, Failure> {
        let next = self.offset + self.shown;
        if self.read == 0 {
            self.text = "(the file is empty)\n".to_owned();
        } else if self.shown == 0 {
            let lines = text::count(usize::try_from(self.read).unwrap_or(usize::MAX), "line");
            return Err(Failure::invalid(format!("`{}` has {lines}; there is no line {}", place.shown(), self.offset)));
        }
        if self.more {
            self.text.push_str(&format!("\n(more lines follow; continue with offset {next})\n"));
        }
        if self.cut > 0 {
            self.text.push_str(&format!(
                "\n(cut lines are longer than {LINE_CHARACTERS_MAX} characters; use `grep` to look into them)\n"
            ));
        }
        Ok(Success::new(self.text).title(format!("Read {}", place.shown())).metadata(json!({
            "path": place.shown(),
            "bytes": size,
            "offset": self.offset,
            "lines": self.shown,
            "next_offset": self.more.then_some(next),
            "lines_cut": self.cut,
        })))
    }
}

/// Reads one line without its ending, and keeps only as much as can be shown. Returns whether there was one.
fn next_line(reader: &mut BufReader<File>, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    if reader.by_ref().take(LINE_BYTES_KEPT as u64).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    } else if line.len() == LINE_BYTES_KEPT {
        reader.skip_until(b'\n')?;
    }
    Ok(true)
}
