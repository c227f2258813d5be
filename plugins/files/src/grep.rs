//! `grep`: finds the lines that match a regular expression.

mod report;
mod search;

use portcullis_sdk::prelude::*;
use regex::bytes::{Regex, RegexBuilder};

use self::report::Report;
use crate::coverage::Coverage;
use crate::glob::Pattern;
use crate::list::workspace_itself;
use crate::place::Place;
use crate::text;
use crate::walk::{self, Next};
use crate::workspace::Workspace;

/// Default number of matching lines to show.
const MATCHES_DEFAULT: usize = 100;

/// Maximum number of lines around a match. `read` is better for more than that.
const CONTEXT_LINES_MAX: usize = 50;

/// Maximum size of a file to search. Larger ones are data, and a file is held in memory as a whole.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Maximum size of a compiled expression. One that needs more is a mistake or an attack.
const EXPRESSION_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Number of files between two progress reports.
const FILES_PER_REPORT: usize = 256;

#[arguments]
pub(crate) struct Grep {
    /// A regular expression in the syntax of Rust's `regex` crate: no look-around, no back-references. It matches
    /// within lines.
    regex: String,
    /// The directory or file to search, relative to the workspace.
    #[serde(default = "workspace_itself")]
    path: String,
    /// Searches only files that match this pattern, such as `*.rs` or `src/**/*.ts`.
    #[serde(default)]
    include: String,
    /// How many lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = 50))]
    context: usize,
    /// How many matching lines to show.
    #[serde(default = "matches_default")]
    #[schemars(range(min = 1))]
    limit: usize,
    /// Whether to treat upper and lower case as the same.
    #[serde(default)]
    case_insensitive: bool,
}

fn matches_default() -> usize {
    MATCHES_DEFAULT
}

/// Searches files for lines that match a regular expression. Leaves out binary files, `.git`, what `.gitignore` names,
/// and symbolic links. To search an ignored path, name it in `path`.
#[tool(read_only, idempotent, requires(read), title = "Search in files")]
pub(crate) fn grep(arguments: Grep, context: &Context) -> Result<Success<String>, Failure> {
    let workspace = Workspace::of(context)?;
    let start = workspace.locate(&arguments.path)?;
    let regex = compile(&arguments)?;
    let include = match arguments.include.as_str() {
        "" => None,
        pattern => Some(Pattern::new(pattern)?),
    };
    let mut report = Report::new(arguments.limit.max(1), arguments.context.min(CONTEXT_LINES_MAX));

    if !workspace.is_directory(&start)? {
        let bytes = workspace.read(&start, FILE_BYTES_MAX)?;
        refuse_binary(&start, &bytes)?;
        report.search(&start, &regex, &bytes);
        return Ok(report.answer(&arguments.regex, &Coverage::default()));
    }
    let mut seen = 0_usize;
    let coverage = walk::files(&workspace, &start, context, |place| {
        if include.as_ref().is_some_and(|include| !include.matches(&start, place)) {
            return Ok(Next::GoOn);
        }
        context.check_cancelled()?;
        seen += 1;
        if seen.is_multiple_of(FILES_PER_REPORT) {
            context.progress(Progress::title(format!("Searched {}", text::count(seen, "file"))));
        }
        search_file(&workspace, place, &regex, &mut report);
        Ok(if report.is_full() { Next::Stop } else { Next::GoOn })
    })?;
    Ok(report.answer(&arguments.regex, &coverage))
}

fn compile(arguments: &Grep) -> Result<Regex, Failure> {
    // The expression runs over whole files, so `^` and `$` must match at each line, with either line ending.
    RegexBuilder::new(&arguments.regex)
        .case_insensitive(arguments.case_insensitive)
        .multi_line(true)
        .crlf(true)
        .size_limit(EXPRESSION_BYTES_MAX)
        .dfa_size_limit(EXPRESSION_BYTES_MAX)
        .build()
        .map_err(|error| Failure::invalid(format!("the regular expression is not valid: {error}")))
}

fn search_file(workspace: &Workspace, place: &Place, regex: &Regex, report: &mut Report) {
    // Look at the size first. Otherwise a large file would be counted as unreadable.
    if workspace.size(place).is_some_and(|size| size > FILE_BYTES_MAX) {
        report.skip_large();
        return;
    }
    match workspace.read(place, FILE_BYTES_MAX) {
        Ok(bytes) if text::binary_kind(&bytes[..bytes.len().min(text::PROBE_BYTES)]).is_some() => report.skip_binary(),
        Ok(bytes) => report.search(place, regex, &bytes),
        // Skip a file that cannot be read; the others can still be searched.
        Err(_) => report.skip_unreadable(),
    }
}

fn refuse_binary(place: &Place, bytes: &[u8]) -> Result<(), Failure> {
    match text::binary_kind(&bytes[..bytes.len().min(text::PROBE_BYTES)]) {
        Some(kind) => Err(Failure::failed(format!("`{}` is not a text file; it looks like {kind}", place.shown()))),
        None => Ok(()),
    }
}
