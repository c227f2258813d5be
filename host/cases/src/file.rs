//! Reads cases from their files. Errors name the file, the case and the position.

use super::case::{CaseAccess, CaseCall, CaseDecision, CaseGrants, TestCase};
use super::fill::{self, Fill};
use super::policy;
use anyhow::{Context as _, anyhow};
use portcullis::Outcome;
use portcullis_build::project_file;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// The extension of a file of cases.
const EXTENSION: &str = "json";

/// Maximum size of a file of cases, in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A test case and its file.
#[derive(Debug)]
pub struct LocatedCase {
    /// The file.
    pub file: PathBuf,
    pub(super) case: TestCase,
    /// The case as it is in the file, if it has placeholders that are known only when it runs.
    template: Option<Value>,
}

impl LocatedCase {
    /// Returns the name of the case.
    pub fn name(&self) -> &str {
        &self.case.name
    }

    /// Returns the case of one call that is granted nothing. It has no file.
    ///
    /// # Errors
    /// The tool and the arguments make no valid case.
    pub fn of_call(tool: &str, arguments: &str) -> anyhow::Result<Self> {
        let expect = json!({ "outcome": Outcome::Completed.as_str() });
        let case = json!({ "name": tool, "tool": tool, "arguments_text": arguments, "expect": expect });
        Ok(Self { file: PathBuf::new(), case: TestCase::deserialize(case)?, template: None })
    }

    /// Returns the tools that the case calls, by their names within the plugin.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.case.steps.iter().map(|step| step.tool.as_str())
    }

    /// Returns the arguments of the first call, with placeholders as they are in the file.
    pub fn arguments(&self) -> String {
        self.case.steps.first().map(CaseCall::sent_arguments).unwrap_or_default()
    }

    /// Returns whether the case is a single call that the policy allows, that no one cancels, and that completes.
    pub fn is_repeatable(&self) -> bool {
        let is_plain = |step: &CaseCall| {
            step.answer.is_empty() && step.cancel_after_ms.is_none() && step.expect.outcome == Outcome::Completed
        };
        matches!(self.case.decision, CaseDecision::Allow)
            && matches!(self.case.steps.as_slice(), [step] if is_plain(step))
    }

    /// Returns what the case grants, one text for each grant.
    pub fn grants(&self) -> Vec<String> {
        let CaseGrants { directory, http, store, config } = &self.case.grants;
        let directories = directory.iter().map(|(key, directory)| match directory.access {
            CaseAccess::ReadOnly => format!("directory {key} (read-only)"),
            CaseAccess::ReadWrite => format!("directory {key} (read-write)"),
        });
        let servers = http.keys().map(|key| format!("http {key}"));
        let stores = store.keys().map(|key| format!("store {key}"));
        let settings = (!config.is_empty()).then(|| "settings".to_owned());
        directories.chain(servers).chain(stores).chain(settings).collect()
    }

    /// Returns the case with its placeholders replaced.
    ///
    /// # Errors
    /// The case is no longer valid with these values.
    pub(super) fn filled(&self, fill: &Fill) -> anyhow::Result<Cow<'_, TestCase>> {
        Ok(match &self.template {
            Some(template) => Cow::Owned(TestCase::deserialize(fill.value(template))?),
            None => Cow::Borrowed(&self.case),
        })
    }
}

/// Reads the cases of a folder, sorted by the names of their files, or those of one file.
///
/// # Errors
/// A file cannot be read, or contains something that is not a case.
pub fn read(path: &Path) -> anyhow::Result<Vec<LocatedCase>> {
    let shown = || path.display().to_string();
    let mut files = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).with_context(shown)? {
            let file = entry.with_context(shown)?.path();
            // Anything with this extension except a folder is meant as a file of cases, so an invalid one is an error.
            if file.extension().is_some_and(|extension| extension == EXTENSION) && !file.is_dir() {
                files.push(file);
            }
        }
        files.sort();
    } else {
        files.push(path.to_owned());
    }
    let mut cases = Vec::new();
    for file in files {
        let shown = || file.display().to_string();
        let text = project_file::read_text(&file, FILE_BYTES_MAX).with_context(shown)?;
        let read = parse(&text).with_context(shown)?;
        cases.extend(read.into_iter().map(|(case, template)| LocatedCase { file: file.clone(), case, template }));
    }
    Ok(cases)
}

/// Parses a file with one case or an array of cases. Returns each with its template, if it has one.
fn parse(text: &str) -> anyhow::Result<Vec<(TestCase, Option<Value>)>> {
    let several = text.trim_start().starts_with('[');
    // Parse the text and not a `Value`, so that an error names its line.
    let parsed = match several {
        true => serde_json::from_str(text),
        false => serde_json::from_str(text).map(|case| vec![case]),
    };
    let cases: Vec<TestCase> = parsed.map_err(|error| match wrong_case(text) {
        // serde_json reports only the position in the file. The name of the case is easier to find.
        Some(name) => anyhow!("the case `{}`: {error}", name.escape_debug()),
        None => error.into(),
    })?;
    // Parse the text a second time only if it may have placeholders.
    let mut templates = if fill::is_likely(text) { written(text)? } else { Vec::new() }.into_iter();
    let mut read = Vec::new();
    for case in cases {
        let within = || format!("the case `{}`", case.name.escape_debug());
        policy::check(&case).with_context(within)?;
        let template = match templates.next() {
            Some(template) if fill::is_needed(&template, &case.grants.http).with_context(within)? => Some(template),
            Some(_) | None => None,
        };
        read.push((case, template));
    }
    Ok(read)
}

/// Parses the cases of a file as plain JSON.
fn written(text: &str) -> serde_json::Result<Vec<Value>> {
    Ok(match serde_json::from_str(text)? {
        Value::Array(cases) => cases,
        case => vec![case],
    })
}

/// Returns the name or number of the first invalid case.
fn wrong_case(text: &str) -> Option<String> {
    let cases = written(text).ok()?;
    let (index, case) = cases.iter().enumerate().find(|(_, case)| TestCase::deserialize(*case).is_err())?;
    let name = case.get("name").and_then(Value::as_str);
    Some(name.map_or_else(|| format!("number {}", index + 1), str::to_owned))
}
