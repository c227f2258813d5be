//! Who answers when the policy says ask. An approver is outside of every sandbox, and answers one question at a time
//! about exactly what will run. What it answers is one answer among those of other channels: the first one counts.

use portcullis_policy::{Permissions, ToolName};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// What a person is asked. The texts are those of a model or a plugin, except for `reason` of the policy: show them
/// through an encoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The id of the question, 128 random bits in hexadecimal: what an answer from elsewhere names.
    pub id: String,
    /// The id of the call.
    pub call: String,
    /// The session it belongs to.
    pub session: String,
    /// On whose behalf it is made.
    pub principal: String,
    /// Where it comes from: `person`, `sub-agent` or `automation`.
    pub origin: String,
    /// The tool.
    pub tool: ToolName,
    /// The SHA-256 of the plugin, in hexadecimal.
    pub plugin_sha256: String,
    /// The rights the tool declares.
    pub permissions: Permissions,
    /// The arguments, exactly as the tool will receive them.
    pub arguments: String,
    /// The handles the call would get, one line each.
    pub handles: Vec<String>,
    /// What is asked.
    pub subject: Subject,
    /// Why a person is asked, and by which rule.
    pub reason: String,
    /// What is different from a call that was approved for longer, where there was one.
    pub changed: Option<String>,
    /// What the call would change in files, as a unified difference, or why there is none. None if the call can write
    /// to no directory. The plugin computes the text after the call, and the first line says so. The host reads the
    /// text before it: [`crate::Approvals::question`] reads the current files. Lines that begin with `@@` are the
    /// host's. Show it beside the arguments, never in their place.
    pub difference: Option<String>,
    /// What an answer for longer can cover beside exactly these arguments; [`Covers::Offer`] counts from 0. The host's
    /// own patterns come first. Each after them ends with who proposed it: the plugin, or a hook.
    pub offers: Vec<String>,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// Whether the call may run.
    Call,
    /// Whether a call may run that has just run again and again.
    Repeat,
    /// Whether the running call may do one more thing.
    Resource {
        /// The permission the tool asks for.
        permission: String,
        /// What for, in the tool's words.
        resource: String,
        /// Why, in the tool's words.
        reason: String,
    },
}

/// A person's answer, or that of whoever answers for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may run, this once.
    Yes,
    /// It may run, and so may what the answer covers, in this session.
    Session(Covers),
    /// It may run, and so may what the answer covers, in every session.
    Always(Covers),
    /// It may not; the note goes to the model.
    No {
        /// What the model should know.
        note: Option<String>,
    },
}

/// What an answer for longer covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Exactly these arguments, in whatever order they come.
    Exact,
    /// The pattern at this place of [`Question::offers`].
    Offer(usize),
}

/// The future of an answer.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// Answers questions. An approver that panics has said no.
pub trait Approver: Send + Sync + 'static {
    /// Answers one question. It may wait for a person; when it takes longer than the limit the answer is no, and when
    /// another channel answers first the future is dropped.
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

/// Denies every request, for a host without an approver.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyAll;

impl Approver for DenyAll {
    fn answer<'a>(&'a self, _: &'a Question) -> Answering<'a> {
        let note = Some("no approver is connected".to_owned());
        Box::pin(std::future::ready(Answer::No { note }))
    }
}

/// Gives answers that were written down before, each once, and then no.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    asked: Arc<Mutex<Vec<Question>>>,
}

impl Scripted {
    /// Will answer these, in order.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: Arc::new(Mutex::new(answers.into_iter().collect())), asked: Arc::default() }
    }

    /// What was asked so far.
    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Approver for Scripted {
    fn answer<'a>(&'a self, question: &'a Question) -> Answering<'a> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question.clone());
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        Box::pin(std::future::ready(answer.unwrap_or(Answer::No { note: None })))
    }
}
