//! Approvers, which answer approval requests. An approver runs outside every sandbox and sees exactly what will run. If
//! several channels answer a request, the first answer counts.

use crate::call_selection::CallSelection;
use portcullis_policy::recovery::RecoverMutex;
use portcullis_policy::{Permissions, Targets, ToolName};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

/// An approval request as an approver sees it. Most of its texts come from a model or a plugin, so show all of them
/// escaped, for example with [`crate::text::OneLine`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The id of the request, 128 random bits in hexadecimal. Answers from elsewhere name it.
    pub id: String,
    /// The id of the call.
    pub call: String,
    /// The session of the call.
    pub session: String,
    /// The principal on whose behalf the call is made.
    pub principal: String,
    /// The origin of the call: `person`, `sub-agent` or `automation`.
    pub origin: String,
    /// The agent, if the caller named one. Untrusted text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tools that made the call, from the one that a caller called. Empty if a caller made the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_by: Vec<String>,
    /// The tool.
    pub tool: ToolName,
    /// The SHA-256 of the plugin, in hexadecimal.
    pub plugin_sha256: String,
    /// The permissions that the tool declares.
    pub permissions: Permissions,
    /// The arguments, exactly as the tool will receive them.
    pub arguments: String,
    /// The places that the arguments name, as the audit log keeps them. They are in the arguments too.
    #[serde(default, skip_serializing_if = "Targets::is_empty")]
    pub targets: Targets,
    /// The handles that the call would get, one line each.
    pub handles: Vec<String>,
    /// What the request is about.
    pub subject: Subject,
    /// Why the call needs approval, with the rule that asks.
    pub reason: String,
    /// What differs from a call that has a remembered approval, if there is one.
    pub changed: Option<String>,
    /// The changes that the call would make in files, as a unified diff, or why there is no diff. `None` if the call
    /// cannot write to a directory. The plugin proposes the new text, and the first line says so. The host reads the
    /// old text: [`crate::Approvals::question`] reads the current files. Lines that begin with `@@` come from the host.
    /// Show the diff in addition to the arguments, never instead of them.
    pub difference: Option<String>,
    /// The patterns that a remembered approval can cover instead of exactly these arguments. [`Covers::Offer`] counts
    /// from 0. The host's own patterns come first. Every other pattern ends with its source: the plugin, or a hook.
    pub offers: Vec<String>,
}

/// What an approval request is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// Whether the call may run.
    Call,
    /// Whether a call may run that was repeated several times in a row.
    Repeat,
    /// Whether the running call may use one more resource.
    Resource {
        /// The permission the tool asks for.
        permission: String,
        /// The resource. Untrusted text of the tool, unless the host wrote it.
        resource: String,
        /// Why the tool needs it. Untrusted text of the tool, unless the host wrote it.
        reason: String,
        /// Whether the host wrote both texts, because a program lacks something for one run. Only the arguments of the
        /// program in them are of the tool. Such a request can be approved only once.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_host: bool,
    },
    /// Whether the running call may make these calls of other tools. [`Question::arguments`] has all of them, with the
    /// exact arguments. Such a request can be approved only once, whole or in part ([`Answer::Part`]).
    Calls(Vec<PlannedCall>),
}

/// A call that a running call plans to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// The tool.
    pub tool: ToolName,
    /// The arguments, exactly as the tool will receive them.
    pub arguments: String,
    /// The places that the arguments name.
    #[serde(default, skip_serializing_if = "Targets::is_empty")]
    pub targets: Targets,
    /// Why the call needs approval.
    pub reason: String,
}

impl PlannedCall {
    /// Returns the tool and the first place that the arguments name, such as `files.write src/a.rs`. Untrusted text.
    pub fn name(&self) -> String {
        match self.targets.iter().next() {
            Some((_, place)) => format!("{} {place}", self.tool),
            None => self.tool.to_string(),
        }
    }
}

impl Question {
    /// Returns whether an approval counts only once. An answer for the session or always then counts as yes.
    pub fn is_once(&self) -> bool {
        matches!(self.subject, Subject::Resource { by_host: true, .. } | Subject::Calls(_))
    }

    /// Returns the number of calls that an approver can select from. None if the request is about one thing.
    pub fn selectable_calls(&self) -> Option<usize> {
        match &self.subject {
            Subject::Calls(calls) => Some(calls.len()),
            Subject::Call | Subject::Repeat | Subject::Resource { .. } => None,
        }
    }
}

/// An approver's answer to an approval request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The call may run once.
    Yes,
    /// The call may run, and so may calls in this session that the answer covers.
    Session(Covers),
    /// The call may run, and so may calls in every session that the answer covers.
    Always(Covers),
    /// Some of the calls of a request about several calls may run, once. The others may not.
    Part {
        /// The calls that may run.
        calls: CallSelection,
        /// A note for the model.
        note: Option<String>,
    },
    /// The call may not run.
    No {
        /// A note for the model.
        note: Option<String>,
    },
}

/// What a remembered approval covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Exactly these arguments, in any order.
    Exact,
    /// The pattern at this index of [`Question::offers`].
    Offer(usize),
}

/// The future of an approver's answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Answers questions. An approver that panics has said no.
pub trait Approver: Send + Sync + 'static {
    /// Answers one request. It may wait for a person. The answer is no if it takes longer than the policy's limit. The
    /// future is dropped if another channel answers first.
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a>;

    /// Returns whether the approver asks the caller itself. Such a call waits for `limits.approval-time`, and does not
    /// leave its request behind after [`crate::Request::approval_wait`].
    fn asks_caller(&self, _: &Question) -> bool {
        false
    }
}

/// Makes an approver from a closure. It answers each question in a future.
///
/// ```
/// use portcullis::{Answer, approver_fn};
///
/// let reads_only = approver_fn(async |question| {
///     if question.permissions.iter().all(|permission| permission.as_str() == "read") {
///         Answer::Yes
///     } else {
///         Answer::No { note: Some("only reads are approved here".to_owned()) }
///     }
/// });
/// # let _ = reads_only;
/// ```
///
/// An async closure cannot use what it captures. A closure that captures something clones it into its future:
///
/// ```
/// use portcullis::{Answer, approver_fn};
/// use tokio::sync::mpsc;
///
/// let (sender, mut receiver) = mpsc::channel(1);
/// let forwards = approver_fn(move |question| {
///     let sender = sender.clone();
///     async move {
///         match sender.send(question).await {
///             Ok(()) => Answer::Yes,
///             Err(_) => Answer::No { note: None },
///         }
///     }
/// });
/// # let _ = (forwards, &mut receiver);
/// ```
pub fn approver_fn<F, A>(answer: F) -> Arc<dyn Approver>
where
    F: Fn(Question) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    Arc::new(ClosureApprover(answer))
}

struct ClosureApprover<F>(F);

impl<F, A> Approver for ClosureApprover<F>
where
    F: Fn(Question) -> A + Send + Sync + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        Box::pin((self.0)(question.clone()))
    }
}

/// An approver that denies every request, for a host without a real one.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

impl Approver for DenyAll {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        let note = Some("no approver is connected".to_owned());
        Box::pin(std::future::ready(Answer::No { note }))
    }
}

/// An approver for tests that gives prepared answers, each once, and then denies.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    asked: Arc<Mutex<Vec<Question>>>,
}

impl Scripted {
    /// Creates an approver that gives these answers in order.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), asked: Arc::default() }
    }

    /// Returns the requests so far.
    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock_recovered().clone()
    }
}

impl Approver for Scripted {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        self.asked.lock_recovered().push(question.clone());
        let answer = self.answers.lock_recovered().pop_front();
        Box::pin(std::future::ready(answer.unwrap_or(Answer::No { note: None })))
    }
}
