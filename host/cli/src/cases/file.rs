//! Reading cases from their files. What is not understood is refused, with the file, the case and the place.

use anyhow::{Context as _, anyhow, ensure};
use portcullis::Outcome;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// What the name of a file of cases ends with.
const EXTENSION: &str = "json";

/// The longest file of cases, in bytes: large arguments are made by tools, and not kept in cases.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How a call can be expected to end.
const OUTCOMES: [Outcome; 9] = [
    Outcome::Completed,
    Outcome::Failed,
    Outcome::Invalid,
    Outcome::Denied,
    Outcome::Pending,
    Outcome::Cancelled,
    Outcome::Limit,
    Outcome::Trapped,
    Outcome::Refused,
];

/// A case, and where it stands.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) file: PathBuf,
    pub(crate) case: Case,
}

/// Calls of one session, and what is expected of each.
#[derive(Debug, Deserialize)]
#[serde(try_from = "WrittenCase")]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(super) grants: Grants,
    pub(super) decision: Decision,
    pub(super) limits: Map<String, Value>,
    pub(super) steps: Vec<Step>,
}

/// One call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) tool: String,
    pub(super) arguments: Option<Value>,
    pub(super) arguments_text: Option<String>,
    pub(super) message: Option<String>,
    pub(super) agent: Option<String>,
    #[serde(default, deserialize_with = "reactions")]
    pub(super) answer: Vec<Reaction>,
    pub(super) cancel_after_ms: Option<u64>,
    pub(super) expect: Expect,
}

/// What the policy binds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Grants {
    pub(super) directory: BTreeMap<String, Directory>,
    pub(super) http: BTreeMap<String, Http>,
    pub(super) store: BTreeMap<String, Scope>,
    pub(super) config: BTreeMap<String, String>,
}

/// A directory that is made for the case.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Directory {
    pub(super) access: Access,
    pub(super) files: BTreeMap<String, String>,
    /// A folder whose files are copied into it, relative to the file of the case.
    pub(super) from: Option<PathBuf>,
}

/// A server that is there for the case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Http {
    pub(super) methods: Option<Vec<String>>,
    #[serde(default)]
    pub(super) answers: Vec<Answer>,
}

/// What the server answers to a request that fits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    #[serde(default = "get")]
    pub(super) method: String,
    pub(super) path: String,
    /// The request has these headers too.
    #[serde(default)]
    pub(super) request_headers: BTreeMap<String, String>,
    /// The request's body is this one.
    pub(super) request_body: Option<String>,
    #[serde(default = "ok")]
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) body: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Access {
    #[default]
    ReadOnly,
    ReadWrite,
}

/// Who shares what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    Session,
    Plugin,
}

/// What the policy says of every tool.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Decision {
    #[default]
    Allow,
    Deny,
    Ask,
}

/// What the person says to every question.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reaction {
    Approve,
    Reject,
}

/// What has to come back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expect {
    #[serde(deserialize_with = "outcome")]
    pub(super) outcome: Outcome,
    pub(super) code: Option<String>,
    pub(super) text: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) json: Option<Value>,
    pub(super) parts: Option<Vec<Part>>,
    #[serde(default)]
    pub(super) contains: Vec<String>,
    pub(super) message: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) title: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) metadata: Option<Value>,
    #[serde(default)]
    pub(super) log: Vec<String>,
    pub(super) progress: Option<Vec<Report>>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, Option<String>>,
    pub(super) requests: Option<Vec<String>>,
}

/// A piece of an output in parts.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Part {
    Text(String),
    Image(Blob),
    File(Blob),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blob {
    pub(super) media_type: String,
    /// How many there are.
    pub(super) bytes: Option<usize>,
}

/// A report of progress.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Report {
    #[serde(default, deserialize_with = "present")]
    pub(super) title: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) fraction: Option<Option<f32>>,
    #[serde(default, deserialize_with = "present")]
    pub(super) metadata: Option<Value>,
}

/// A case as it is written: one call, or several.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    name: String,
    #[serde(default)]
    grants: Grants,
    #[serde(default)]
    decision: Decision,
    #[serde(default)]
    limits: Map<String, Value>,
    tool: Option<String>,
    arguments: Option<Value>,
    arguments_text: Option<String>,
    message: Option<String>,
    agent: Option<String>,
    #[serde(default, deserialize_with = "reactions")]
    answer: Vec<Reaction>,
    cancel_after_ms: Option<u64>,
    expect: Option<Expect>,
    steps: Option<Vec<Step>>,
}

impl TryFrom<WrittenCase> for Case {
    type Error = anyhow::Error;

    fn try_from(written: WrittenCase) -> anyhow::Result<Self> {
        let WrittenCase { name, grants, decision, limits, tool, arguments, arguments_text, message, agent, .. } =
            written;
        let (answer, cancel_after_ms) = (written.answer, written.cancel_after_ms);
        let steps = match (tool, written.expect, written.steps) {
            (Some(tool), Some(expect), None) => {
                vec![Step { tool, arguments, arguments_text, message, agent, answer, cancel_after_ms, expect }]
            }
            (None, None, Some(steps)) => {
                ensure!(
                    arguments.is_none() && arguments_text.is_none() && cancel_after_ms.is_none(),
                    "a case with `steps` has its arguments and its cancellation in them"
                );
                ensure!(!steps.is_empty(), "`steps` is empty");
                let told = |step: Step| Step {
                    answer: if step.answer.is_empty() { answer.clone() } else { step.answer },
                    message: step.message.or_else(|| message.clone()),
                    agent: step.agent.or_else(|| agent.clone()),
                    ..step
                };
                steps.into_iter().map(told).collect()
            }
            _ => return Err(anyhow!("a case has either `tool` and `expect`, or `steps`")),
        };
        for step in &steps {
            ensure!(
                step.arguments.is_none() || step.arguments_text.is_none(),
                "`arguments` and `arguments_text` exclude each other"
            );
        }
        let within = grants.directory.values().flat_map(|directory| directory.files.keys());
        let expected = steps.iter().flat_map(|step| step.expect.files.keys());
        for path in within.chain(expected) {
            ensure!(is_plain(path), "`{}` is no plain relative path", path.escape_debug());
        }
        Ok(Self { name, grants, decision, limits, steps })
    }
}

/// Reads the cases of a folder, sorted by the names of their files, or those of one file.
///
/// # Errors
/// A file cannot be read, or holds what is no case.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Located>> {
    let shown = || path.display().to_string();
    let mut files = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).with_context(shown)? {
            let file = entry.with_context(shown)?.path();
            if file.extension().is_some_and(|extension| extension == EXTENSION) && file.is_file() {
                files.push(file);
            }
        }
        files.sort();
    } else {
        files.push(path.to_owned());
    }
    let mut cases = Vec::new();
    for file in files {
        let text = read_text(&file)?;
        let read = parse(&text).with_context(|| file.display().to_string())?;
        cases.extend(read.into_iter().map(|case| Located { file: file.clone(), case }));
    }
    Ok(cases)
}

fn read_text(file: &Path) -> anyhow::Result<String> {
    let shown = || file.display().to_string();
    let bytes = std::fs::metadata(file).with_context(shown)?.len();
    ensure!(bytes <= FILE_BYTES_MAX, "{}: a file of cases has at most {FILE_BYTES_MAX} bytes", shown());
    std::fs::read_to_string(file).with_context(shown)
}

/// The cases of one file: one, or an array of them.
fn parse(text: &str) -> anyhow::Result<Vec<Case>> {
    let several = text.trim_start().starts_with('[');
    let parsed = match several {
        true => serde_json::from_str(text),
        false => serde_json::from_str(text).map(|case| vec![case]),
    };
    parsed.map_err(|error| match wrong_case(text) {
        // The place is that of the file; which case it is in is for whoever looks for it.
        Some(name) => anyhow!("the case `{}`: {error}", name.escape_debug()),
        None => error.into(),
    })
}

/// The first case of a file that is wrong.
fn wrong_case(text: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    let cases = document.as_array().map_or_else(|| std::slice::from_ref(&document), Vec::as_slice);
    let (index, case) = cases.iter().enumerate().find(|(_, case)| Case::deserialize(*case).is_err())?;
    let name = case.get("name").and_then(Value::as_str);
    Some(name.map_or_else(|| format!("number {}", index + 1), str::to_owned))
}

/// Whether a path leads nowhere but down.
fn is_plain(path: &str) -> bool {
    let mut components = Path::new(path).components().peekable();
    components.peek().is_some() && components.all(|component| matches!(component, Component::Normal(_)))
}

/// What is written counts, also where it is null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// One answer to every question, or one to each in turn.
fn reactions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Reaction>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        One(Reaction),
        Each(Vec<Reaction>),
    }
    Ok(match Written::deserialize(deserializer)? {
        Written::One(reaction) => vec![reaction],
        Written::Each(reactions) => reactions,
    })
}

fn outcome<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Outcome, D::Error> {
    let word = String::deserialize(deserializer)?;
    OUTCOMES.into_iter().find(|outcome| outcome.as_str() == word).ok_or_else(|| {
        let words = OUTCOMES.map(Outcome::as_str).join(", ");
        D::Error::custom(format_args!("there is no outcome `{}`: say one of {words}", word.escape_debug()))
    })
}

fn get() -> String {
    "GET".to_owned()
}

fn ok() -> u16 {
    200
}
