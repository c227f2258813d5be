//! The tool `lint`: reads the text and reports the findings.
#![expect(clippy::disallowed_methods, reason = "std::fs reaches the granted directory alone")]

use std::fs::File;
use std::io::Read as _;

use portcullis_sdk::prelude::*;

use crate::check::{Finding, check};
use crate::rules::Rule;

/// Maximum size of a file in bytes: far more than a person writes, and still fast to parse.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Maximum findings of one answer. An author with more of them fixes these first.
const FINDINGS_MAX: usize = 200;
/// Default maximum length of a line, in characters.
const LINE_LENGTH: u32 = 120;

/// What to check. Give either `text` or `path`.
#[arguments]
pub(crate) struct Lint {
    /// Markdown to check.
    #[serde(default)]
    text: Option<String>,
    /// A Markdown file in the granted directory, such as `docs/guide.md`.
    #[serde(default)]
    path: Option<String>,
    /// Which rules to check; all of them when absent.
    #[serde(default)]
    rules: Option<Vec<Rule>>,
    /// How long a line may be, in characters.
    #[serde(default = "default_line_length")]
    #[schemars(range(min = 20, max = 1000))]
    line_length: u32,
}

const fn default_line_length() -> u32 {
    LINE_LENGTH
}

/// What was found.
#[output]
pub(crate) struct Report {
    /// In the order of the text; the first 200 of them.
    findings: Vec<Finding>,
    /// How many there are in all.
    total: usize,
}

/// Checks Markdown and reports each finding with its line: the order of headings, bare URLs, code blocks without a
/// language, empty links, long lines and trailing spaces. The tool `rules` says what each rule asks for.
#[tool(read_only, idempotent, optional(read))]
pub(crate) fn lint(arguments: Lint, context: &Context) -> Result<Success<Json<Report>>, Failure> {
    let Lint { text, path, rules, line_length } = arguments;
    let (text, name) = match (text, path) {
        (Some(text), None) => (text, "the text".to_owned()),
        (None, Some(path)) => (read(&path, context)?, path),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::invalid("give either `text` or `path`, and not both"));
        }
    };
    let rules = rules.as_deref().unwrap_or(&Rule::ALL);
    let mut findings = check(&text, rules, line_length as usize);
    let total = findings.len();
    findings.truncate(FINDINGS_MAX);
    Ok(Success::new(Json(Report { findings, total })).title(format!("Checked {name}: {}", in_words(total))))
}

fn read(path: &str, context: &Context) -> Result<String, Failure> {
    let cannot = |why: String| Failure::failed(format!("cannot read {path}: {why}"));
    let file =
        File::open(context.directory("documents")?.path().join(path)).map_err(|error| cannot(error.to_string()))?;
    let mut text = String::new();
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| cannot(error.to_string()))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(cannot(format!("it is larger than {FILE_BYTES_MAX} bytes")));
    }
    Ok(text)
}

fn in_words(total: usize) -> String {
    match total {
        0 => "nothing to mend".to_owned(),
        1 => "one finding".to_owned(),
        _ => format!("{total} findings"),
    }
}
