//! Compares the result of a call with the expected one.

use super::compare::{difference, quoted, short};
use super::expect::{Expect, ExpectedBlob, ExpectedPart, ExpectedReport, ExpectedRequest};
use super::kept::WholeText;
use super::loopback::ServerRequest;
use super::scratch::COPIED_BYTES_MAX;
use portcullis::events::Progress;
use portcullis::outputs::OutputError;
use portcullis::policy::DependencyKey;
use portcullis::text::WithCauses;
use portcullis::{Output, Reply};
use portcullis_build::project_file;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum difference of two equal fractions, a little more than the precision of `f32`.
const FRACTION_ERROR_MAX: f32 = 1e-6;

/// The result of a call.
pub(super) struct Left<'a> {
    pub(super) reply: &'a Reply,
    /// The whole text, if the case needs it and there is one.
    pub(super) text: Result<Option<WholeText>, OutputError>,
    /// What it printed and logged, if the case needs it.
    pub(super) log: Option<&'a str>,
    pub(super) progress: &'a [Arc<Progress>],
    pub(super) requests: &'a [Arc<ServerRequest>],
    pub(super) directories: &'a BTreeMap<DependencyKey, PathBuf>,
}

/// Returns all differences from the expected result.
pub(super) fn problems(expect: &Expect, left: &Left<'_>) -> Vec<String> {
    let reply = left.reply;
    let mut problems = Vec::new();
    let code = reply.code.as_str();
    if reply.outcome() != expect.outcome {
        // After another outcome everything else differs too, so only the outcome is reported.
        let (expected, found) = (expect.outcome.as_str(), reply.outcome().as_str());
        return vec![format!("expected the outcome {expected}, found {found} ({code}): {}", quoted(&reply.message))];
    }
    if let Some(expected) = expect.code.as_deref().filter(|expected| *expected != code) {
        problems.push(format!("expected the code {expected}, found {code}: {}", quoted(&reply.message)));
    }
    problems.extend(of_output(expect, reply));
    problems.extend(of_whole(expect, left));
    if let Some(expected) = &expect.message {
        problems.extend(of_text("the message", expected, &reply.message));
    }
    let output = texts(reply);
    for part in &expect.contains {
        if !output.contains(part) && !reply.message.contains(part) {
            let found = if output.is_empty() { &reply.message } else { &output };
            problems.push(format!("{} is not in the output: {}", quoted(part), quoted(found)));
        }
    }
    if let Some(expected) = &expect.title {
        problems.extend(of_value("the title", &Value::from(expected.clone()), &Value::from(reply.title.clone())));
    }
    if let Some(expected) = &expect.metadata {
        problems.extend(of_value("the metadata", expected, reply.metadata.as_ref().unwrap_or(&Value::Null)));
    }
    for part in expect.log.iter().filter(|part| !left.log.unwrap_or_default().contains(*part)) {
        problems.push(format!("{} is not in the log", quoted(part)));
    }
    if let Some(expected) = &expect.progress {
        problems.extend(of_progress(expected, left.progress));
    }
    for (path, contents) in &expect.files {
        problems.extend(of_file(path, contents.as_deref(), left.directories));
    }
    if let Some(expected) = &expect.requests {
        problems.extend(of_requests(expected, left.requests));
    }
    problems
}

fn of_output(expect: &Expect, reply: &Reply) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(expected) = &expect.text {
        match &reply.output {
            Some(Output::Text(found)) => problems.extend(of_text("the text", expected, found)),
            other => problems.push(format!("expected a text, found {}", kind(other.as_ref()))),
        }
    }
    if let Some(expected) = &expect.json {
        match &reply.output {
            Some(Output::Json(found)) => {
                // The host has parsed the output already, so this does not fail.
                let found: Value = serde_json::from_str(found).unwrap_or(Value::Null);
                problems.extend(of_value("the JSON", expected, &found));
            }
            other => problems.push(format!("expected JSON, found {}", kind(other.as_ref()))),
        }
    }
    if let Some(expected) = &expect.parts {
        match &reply.output {
            Some(Output::Parts(found)) => problems.extend(of_parts(expected, found)),
            other => problems.push(format!("expected parts, found {}", kind(other.as_ref()))),
        }
    }
    problems
}

/// Checks the length and the digest of the whole text.
fn of_whole(expect: &Expect, left: &Left<'_>) -> Vec<String> {
    if !expect.wants_whole_text() {
        return Vec::new();
    }
    let whole = match &left.text {
        Ok(Some(whole)) => whole,
        Ok(None) => return vec![format!("expected a text, found {}", kind(left.reply.output.as_ref()))],
        Err(error) => return vec![format!("the whole text cannot be read: {}", WithCauses(error))],
    };
    let mut problems = Vec::new();
    if let Some(expected) = expect.text_bytes.filter(|expected| *expected != whole.bytes) {
        problems.push(format!("expected a text of {expected} bytes, found one of {}", whole.bytes));
    }
    if let Some(expected) = expect.text_sha256.as_ref().filter(|expected| **expected != whole.sha256) {
        problems.push(format!("expected a text with the SHA-256 {expected}, found one with {}", whole.sha256));
    }
    problems
}

/// Describes an output for an error message.
fn kind(output: Option<&Output>) -> String {
    match output {
        None => "no output".to_owned(),
        Some(Output::Text(text)) => format!("the text {}", quoted(text)),
        Some(Output::Json(json)) => format!("the JSON {}", short(json)),
        Some(Output::Parts(parts)) => format!("{} parts", parts.len()),
    }
}

fn of_text(what: &str, expected: &str, found: impl AsRef<[u8]>) -> Option<String> {
    let found = found.as_ref();
    if expected.as_bytes() == found {
        return None;
    }
    let same = expected.bytes().zip(found).take_while(|(one, other)| one == *other).count();
    let found = String::from_utf8_lossy(found);
    Some(format!("{what} differs at byte {same}: expected {}, found {}", quoted(expected), quoted(&found)))
}

fn of_value(what: &str, expected: &Value, found: &Value) -> Option<String> {
    difference(expected, found).map(|difference| format!("{what}: {difference}"))
}

fn of_parts(expected: &[ExpectedPart], found: &[portcullis::Part]) -> Vec<String> {
    if expected.len() != found.len() {
        return vec![format!("expected {} parts, found {}", expected.len(), found.len())];
    }
    let mut problems = Vec::new();
    for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
        let what = format!("part {}", index + 1);
        match (expected, found) {
            (ExpectedPart::Text(expected), portcullis::Part::Text(found)) => {
                problems.extend(of_text(&what, expected, found))
            }
            (ExpectedPart::Image(expected), portcullis::Part::Image(found))
            | (ExpectedPart::File(expected), portcullis::Part::File(found)) => {
                problems.extend(of_blob(&what, expected, found));
            }
            (ExpectedPart::Text(_) | ExpectedPart::Image(_) | ExpectedPart::File(_), _) => {
                problems.push(format!("{what} is of another kind"))
            }
        }
    }
    problems
}

fn of_blob(what: &str, expected: &ExpectedBlob, found: &portcullis::Blob) -> Option<String> {
    let (kind, bytes) = (&found.media_type, found.data.len());
    let same = expected.media_type == *kind && expected.bytes.is_none_or(|expected| expected == bytes);
    let count = expected.bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
    (!same).then(|| format!("{what}: expected {}{count}, found {kind} of {bytes} bytes", expected.media_type))
}

fn of_progress(expected: &[ExpectedReport], found: &[Arc<Progress>]) -> Vec<String> {
    if expected.len() != found.len() {
        return vec![format!("expected {} reports of progress, found {}", expected.len(), found.len())];
    }
    let mut problems = Vec::new();
    for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
        let what = |member: &str| format!("the {member} of report {}", index + 1);
        if let Some(title) = &expected.title {
            let (expected, found) = (Value::from(title.clone()), Value::from(found.title.clone()));
            problems.extend(of_value(&what("title"), &expected, &found));
        }
        if let Some(fraction) = expected.fraction {
            let same = match (fraction, found.fraction) {
                (Some(one), Some(other)) => (one - other).abs() <= FRACTION_ERROR_MAX,
                (one, other) => one.is_none() && other.is_none(),
            };
            if !same {
                problems.push(format!("{}: expected {fraction:?}, found {:?}", what("fraction"), found.fraction));
            }
        }
        if let Some(metadata) = &expected.metadata {
            let found = found.metadata.as_deref().and_then(|text| serde_json::from_str(text).ok());
            problems.extend(of_value(&what("metadata"), metadata, &found.unwrap_or(Value::Null)));
        }
    }
    problems
}

fn of_requests(expected: &[ExpectedRequest], found: &[Arc<ServerRequest>]) -> Vec<String> {
    let lines: Vec<&str> = expected.iter().map(|request| request.line.as_str()).collect();
    let seen: Vec<String> = found.iter().map(|asked| format!("{} {}", asked.method, asked.target)).collect();
    if let Some(problem) = of_value("the requests", &Value::from(lines), &Value::from(seen)) {
        return vec![problem];
    }
    let mut problems = Vec::new();
    for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
        for (name, value) in &expected.headers {
            let what = format!("the header {} of request {}", quoted(name), index + 1);
            let (expected, found) =
                (Value::from(value.clone()), found.headers.get(&name.to_ascii_lowercase()).cloned());
            problems.extend(of_value(&what, &expected, &Value::from(found)));
        }
        let what = format!("the body of request {}", index + 1);
        problems.extend(match &expected.body {
            None => None,
            Some(Value::String(expected)) => of_text(&what, expected, &found.body),
            Some(expected) => match serde_json::from_slice(&found.body) {
                Ok(found) => of_value(&what, expected, &found),
                Err(_) => {
                    Some(format!("{what}: expected JSON, found {}", quoted(&String::from_utf8_lossy(&found.body))))
                }
            },
        });
    }
    problems
}

/// Checks the content of a file after the call. Its path begins with the key of its directory.
fn of_file(path: &str, expected: Option<&str>, directories: &BTreeMap<DependencyKey, PathBuf>) -> Option<String> {
    let Some((key, rest)) = path.split_once('/') else {
        return Some(format!("{path}: a path must begin with the key of its directory, such as `workspace/a.txt`"));
    };
    let Some(directory) = DependencyKey::new(key).ok().and_then(|key| directories.get(&key)) else {
        return Some(format!("{path}: no directory `{key}` is granted"));
    };
    // The path was checked when the case was read, but the tool may have replaced a part of it with a link.
    let found = project_file::read_below(directory, Path::new(rest), COPIED_BYTES_MAX);
    match (expected, found) {
        (Some(expected), Ok(found)) => of_text(path, expected, &found),
        (None, Ok(_)) => Some(format!("{path}: expected no file, found one")),
        (Some(_), Err(error)) if is_no_file(&error) => Some(format!("{path}: expected a file, found none")),
        (None, Err(error)) if is_no_file(&error) => None,
        (Some(_) | None, Err(error)) => Some(format!("{path}: {error}")),
    }
}

/// Returns whether the error means that nothing exists at a path, or something other than a regular file.
fn is_no_file(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput)
        // `read_below` follows no link, and openat2(2) reports one as ELOOP.
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Returns the text of an output of any kind.
fn texts(reply: &Reply) -> String {
    match &reply.output {
        None => String::new(),
        Some(Output::Text(text) | Output::Json(text)) => text.clone(),
        Some(Output::Parts(parts)) => {
            let text = |part: &portcullis::Part| match part {
                portcullis::Part::Text(text) => Some(text.clone()),
                portcullis::Part::Image(_) | portcullis::Part::File(_) => None,
            };
            parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
        }
    }
}
