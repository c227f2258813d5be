//! What stands in a case: whom it asks, what it grants, and what is refused before it is tried.

use super::expect::{Expect, get, present};
use anyhow::{anyhow, ensure};
use portcullis::policy::DependencyKey;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};
use std::path::PathBuf;

/// Calls of one session, and what is expected of each.
#[derive(Clone, Debug, Deserialize)]
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
    #[serde(default, deserialize_with = "present")]
    pub(super) arguments: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    pub(super) arguments_text: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) message: Option<String>,
    #[serde(default, deserialize_with = "present")]
    pub(super) agent: Option<String>,
    #[serde(default, deserialize_with = "reactions")]
    pub(super) answer: Vec<Reaction>,
    #[serde(default, deserialize_with = "present")]
    pub(super) cancel_after_ms: Option<u64>,
    pub(super) expect: Expect,
}

/// What the policy binds. The keys become names of directories and tables of a policy: nothing else may be one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Grants {
    pub(super) directory: BTreeMap<DependencyKey, Directory>,
    pub(super) http: BTreeMap<DependencyKey, Http>,
    pub(super) store: BTreeMap<DependencyKey, Scope>,
    pub(super) config: BTreeMap<String, String>,
}

/// A directory that is made for the case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Directory {
    pub(super) access: Access,
    pub(super) files: BTreeMap<String, String>,
    /// A folder whose files are copied into it, relative to the file of the case.
    #[serde(deserialize_with = "present")]
    pub(super) from: Option<PathBuf>,
}

/// A server that is there for the case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Http {
    #[serde(default, deserialize_with = "present")]
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
    #[serde(default, deserialize_with = "present")]
    pub(super) request_body: Option<String>,
    #[serde(default = "ok")]
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    /// A text, or any other JSON.
    #[serde(default, deserialize_with = "present")]
    pub(super) body: Option<Value>,
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
    #[serde(default, deserialize_with = "present")]
    tool: Option<String>,
    #[serde(default, deserialize_with = "present")]
    arguments: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    arguments_text: Option<String>,
    #[serde(default, deserialize_with = "present")]
    message: Option<String>,
    #[serde(default, deserialize_with = "present")]
    agent: Option<String>,
    #[serde(default, deserialize_with = "reactions")]
    answer: Vec<Reaction>,
    #[serde(default, deserialize_with = "present")]
    cancel_after_ms: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    expect: Option<Expect>,
    #[serde(default, deserialize_with = "present")]
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
        let case = Self { name, grants, decision, limits, steps };
        case.check()?;
        Ok(case)
    }
}

impl Case {
    /// What no single member shows to be wrong.
    fn check(&self) -> anyhow::Result<()> {
        for step in &self.steps {
            ensure!(
                step.arguments.is_none() || step.arguments_text.is_none(),
                "`arguments` and `arguments_text` exclude each other"
            );
        }
        for (key, amount) in &self.limits {
            let amounts = amount.is_string() || amount.is_i64();
            ensure!(amounts, "`limits.{}` is no amount: a text such as \"2 s\", or a whole number", key.escape_debug());
        }
        for from in self.grants.directory.values().filter_map(|directory| directory.from.as_ref()) {
            ensure!(from.is_relative(), "`from` is relative to the file of the case, and `{}` is not", from.display());
        }
        let within = self.grants.directory.values().flat_map(|directory| directory.files.keys());
        let expected = self.steps.iter().flat_map(|step| step.expect.files.keys());
        for path in within.chain(expected) {
            ensure!(is_plain(path), "`{}` is no plain relative path", path.escape_debug());
        }
        Ok(())
    }
}

/// Returns whether each segment of a path is the name of a file or folder. It checks the text, because a path parser
/// would normalize `workspace//etc/passwd`, and the rest after the first `/` would be absolute.
fn is_plain(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | "..")) && !path.contains('\0')
}

/// One answer to every question, or one to each in turn.
fn reactions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Reaction>, D::Error> {
    struct Written;

    impl<'de> Visitor<'de> for Written {
        type Value = Vec<Reaction>;

        fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
            formatter.write_str("`approve` or `reject`, or a list of them")
        }

        fn visit_str<E: Error>(self, word: &str) -> Result<Vec<Reaction>, E> {
            Reaction::deserialize(word.into_deserializer()).map(|reaction| vec![reaction])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, words: A) -> Result<Vec<Reaction>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(words))
        }
    }

    deserializer.deserialize_any(Written)
}

fn ok() -> u16 {
    200
}
