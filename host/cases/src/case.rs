//! The format of a case, and the checks before it runs.

use super::expect::{Expect, get, present};
use anyhow::{anyhow, ensure};
use portcullis::Request;
use portcullis::policy::{DependencyKey, PluginName};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};
use std::path::PathBuf;

/// A test case: the calls of one session, and the expected result of each.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "WrittenCase")]
pub(super) struct TestCase {
    pub(super) name: String,
    pub(super) grants: CaseGrants,
    pub(super) decision: CaseDecision,
    pub(super) limits: Map<String, Value>,
    pub(super) steps: Vec<CaseCall>,
}

/// One call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseCall {
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

/// The bindings of a case. The keys become names of directories and tables of a policy, so they are validated.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CaseGrants {
    pub(super) directory: BTreeMap<DependencyKey, CaseDirectory>,
    pub(super) http: BTreeMap<DependencyKey, Http>,
    pub(super) store: BTreeMap<DependencyKey, Scope>,
    pub(super) config: BTreeMap<String, String>,
}

/// A directory that is created for the case.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct CaseDirectory {
    pub(super) access: CaseAccess,
    pub(super) files: BTreeMap<String, String>,
    /// A folder whose files are copied into it, relative to the file of the case.
    #[serde(deserialize_with = "present")]
    pub(super) from: Option<PathBuf>,
}

/// An HTTP server that runs for the case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Http {
    #[serde(default, deserialize_with = "present")]
    pub(super) methods: Option<Vec<String>>,
    #[serde(default)]
    pub(super) answers: Vec<ServerAnswer>,
}

/// The server's response to a matching request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServerAnswer {
    #[serde(default = "get")]
    pub(super) method: String,
    pub(super) path: String,
    /// Headers that the request must have.
    #[serde(default)]
    pub(super) request_headers: BTreeMap<String, String>,
    /// The body that the request must have.
    #[serde(default, deserialize_with = "present")]
    pub(super) request_body: Option<String>,
    #[serde(default = "ok")]
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    /// A string is sent as text, any other value as JSON.
    #[serde(default, deserialize_with = "present")]
    pub(super) body: Option<Value>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CaseAccess {
    #[default]
    ReadOnly,
    ReadWrite,
}

/// The scope of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    Session,
    Plugin,
}

/// The decision of the policy for every tool.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CaseDecision {
    #[default]
    Allow,
    Deny,
    Ask,
}

/// The answer to an approval request.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reaction {
    Approve,
    Reject,
}

/// A case as it is in the file: one call, or several.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCase {
    name: String,
    #[serde(default)]
    grants: CaseGrants,
    #[serde(default)]
    decision: CaseDecision,
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
    steps: Option<Vec<CaseCall>>,
}

impl TryFrom<WrittenCase> for TestCase {
    type Error = anyhow::Error;

    fn try_from(written: WrittenCase) -> anyhow::Result<Self> {
        let WrittenCase { name, grants, decision, limits, tool, arguments, arguments_text, message, agent, .. } =
            written;
        let (answer, cancel_after_ms) = (written.answer, written.cancel_after_ms);
        let steps = match (tool, written.expect, written.steps) {
            (Some(tool), Some(expect), None) => {
                vec![CaseCall { tool, arguments, arguments_text, message, agent, answer, cancel_after_ms, expect }]
            }
            (None, None, Some(steps)) => {
                ensure!(
                    arguments.is_none() && arguments_text.is_none() && cancel_after_ms.is_none(),
                    "a case with `steps` must put its arguments and its cancellation into them"
                );
                ensure!(!steps.is_empty(), "`steps` is empty");
                let told = |step: CaseCall| CaseCall {
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

impl CaseCall {
    /// Returns the arguments as they are sent.
    pub(super) fn sent_arguments(&self) -> String {
        match (&self.arguments_text, &self.arguments) {
            (Some(text), _) => text.clone(),
            (None, Some(value)) => value.to_string(),
            (None, None) => "{}".to_owned(),
        }
    }

    /// Returns the tool's name with that of its plugin.
    pub(super) fn full_name(&self, plugin: &PluginName) -> String {
        format!("{plugin}.{}", self.tool)
    }

    /// Returns the request of the call, without a session.
    pub(super) fn request(&self, plugin: &PluginName) -> Request {
        let mut request = Request::new(self.full_name(plugin), self.sent_arguments());
        if let Some(message) = &self.message {
            request = request.message(message);
        }
        if let Some(agent) = &self.agent {
            request = request.agent(agent);
        }
        request
    }
}

impl TestCase {
    /// Returns whether its calls can change a directory.
    pub(super) fn writes_directories(&self) -> bool {
        self.grants.directory.values().any(|directory| matches!(directory.access, CaseAccess::ReadWrite))
    }

    /// Checks what involves more than one member.
    fn check(&self) -> anyhow::Result<()> {
        for step in &self.steps {
            ensure!(
                step.arguments.is_none() || step.arguments_text.is_none(),
                "use either `arguments` or `arguments_text`"
            );
        }
        for (key, amount) in &self.limits {
            let amounts = amount.is_string() || amount.is_i64();
            ensure!(amounts, "`limits.{}` must be a string such as \"2 s\", or a whole number", key.escape_debug());
        }
        for from in self.grants.directory.values().filter_map(|directory| directory.from.as_ref()) {
            ensure!(from.is_relative(), "`from` must be relative to the case file: `{}` is not", from.display());
        }
        let within = self.grants.directory.values().flat_map(|directory| directory.files.keys());
        let expected = self.steps.iter().flat_map(|step| step.expect.files.keys());
        // The case may be from another person, so no path of it may leave the directories of the case.
        for path in within.chain(expected) {
            ensure!(is_plain(path), "`{}` is not a plain relative path", path.escape_debug());
        }
        Ok(())
    }
}

/// Returns whether each segment of a path is the name of a file or folder. It checks the text, because a path parser
/// would normalize `workspace//etc/passwd`, and the rest after the first `/` would be absolute.
fn is_plain(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | "..")) && !path.contains('\0')
}

/// Deserializes one answer for all approval requests, or a list with one for each in turn.
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
