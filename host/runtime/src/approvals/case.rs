//! Everything that a question is made of.

use super::asked_under::AskedUnder;
use super::binding::Binding;
use super::concern::Concern;
use super::preview::Preview;
use crate::approver::Question;
use crate::ledger;
use portcullis_policy::Pattern;
use serde_json::{Map, Value};
use std::time::Duration;

/// Everything about one question.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) question: Question,
    pub(crate) subject: ledger::Subject,
    pub(crate) binding: Binding,
    /// The arguments, or the resource, that the answer is about.
    pub(crate) covered: Map<String, Value>,
    /// What the host offers to cover for longer.
    pub(crate) patterns: Vec<Pattern>,
    /// Whether the policy, or a fixed rule of the host, asks.
    pub(crate) by_host: bool,
    /// What reviewers and hooks ask.
    pub(crate) concerns: Vec<Concern>,
    /// What the call would change. It is computed just before an approver is asked.
    pub(crate) preview: Option<Preview>,
    /// Whether no answer that was given before counts: what is asked about was looked at by nobody and nothing.
    pub(crate) afresh: bool,
    pub(crate) automated: bool,
    pub(crate) message: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) keeps_payloads: bool,
    pub(crate) times: Times,
    pub(crate) asked_under: Option<AskedUnder>,
}

/// How long everything holds.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// How long the call waits.
    pub(crate) waiting: Duration,
    /// After how long the call leaves its question behind for its caller, who then makes it again.
    pub(crate) leaving: Option<Duration>,
    /// How long the question stays answerable when its process is gone.
    pub(crate) pending: Duration,
    /// How long an answer for the session holds.
    pub(crate) session: Duration,
    /// How long an answer for always holds.
    pub(crate) always: Duration,
}
