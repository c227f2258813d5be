//! What a caller asks for.

use crate::admission::Admission;
use crate::approvals::{Channel, Redeemed};
use crate::approver::Approver;
use crate::events::{Ear, Events};
use crate::inject::Overrides;
use crate::origin::Origin;
use crate::provenance::Provenance;
use crate::reply::{Code, Outcome};
use crate::stream::{Pieces, TextStream};
use crate::text::OneLine;
use crate::turn::Turn;
use portcullis_policy::{Principal, Unattended};
use portcullis_sandbox::Cancellation;
use serde::Serialize;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

/// One request to run one tool.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) tool: String,
    pub(crate) arguments: Vec<u8>,
    pub(crate) origin: Origin,
    pub(crate) cancellation: Cancellation,
    /// The question whose yes it spends, where it was asked before.
    pub(crate) resumes: Option<Arc<str>>,
    /// Its run slot and its part in the order of its session.
    pub(crate) admission: Arc<Admission>,
    /// Its turn among the calls of a batch.
    pub(crate) turn: Option<Arc<Turn>>,
    /// Values in place of what the application provides.
    pub(crate) overrides: Overrides,
    /// Who answers where the policy says ask, in place of the host's own channel.
    pub(crate) channel: Option<Channel>,
    /// How long a call waits for an approver before it leaves its request behind.
    pub(crate) approval_wait: Option<Duration>,
    /// Who hears of this call alone.
    pub(crate) ear: Option<Arc<Ear>>,
    /// Who hears of its text as it comes.
    pub(crate) pieces: Option<Pieces>,
    /// Where its arguments come from.
    pub(crate) provenance: Option<Arc<Provenance>>,
    /// The definition that its arguments were made for.
    pub(crate) definition: Option<[u8; 32]>,
    /// Why it must not run, where whoever makes it knows already.
    pub(crate) refused: Option<(Code, Arc<str>)>,
}

impl Request {
    /// Asks for `plugin.tool` with arguments as JSON text: an object, or a string that holds one.
    pub fn new(tool: impl Into<String>, arguments: impl Into<Vec<u8>>) -> Self {
        Self {
            tool: tool.into(),
            arguments: arguments.into(),
            origin: Origin::default(),
            cancellation: Cancellation::new(),
            resumes: None,
            admission: Arc::default(),
            turn: None,
            overrides: Overrides::default(),
            channel: None,
            approval_wait: None,
            ear: None,
            pieces: None,
            provenance: None,
            definition: None,
            refused: None,
        }
    }

    /// Asks for `plugin.tool` with arguments that serialize to a JSON object. If they cannot be serialized, the call is
    /// refused with [`Code::MalformedArguments`].
    ///
    /// ```
    /// # #[derive(serde::Serialize)]
    /// struct Read<'a> { path: &'a str }
    ///
    /// let request = portcullis::Request::json("files.read", &Read { path: "README.md" });
    /// # let _ = request;
    /// ```
    pub fn json(tool: impl Into<String>, arguments: &(impl Serialize + ?Sized)) -> Self {
        match serde_json::to_vec(arguments) {
            Ok(arguments) => Self::new(tool, arguments),
            Err(error) => {
                let why = format!("The arguments cannot be written as JSON: {}.", OneLine(&error.to_string()));
                Self::new(tool, Vec::new()).refused(Code::MalformedArguments, &why)
            }
        }
    }

    /// The session the call belongs to; `default` unless said.
    #[must_use]
    pub fn session(mut self, session: &str) -> Self {
        self.origin.session = Arc::from(session);
        self
    }

    /// On whose behalf the call is made; `local` unless said. A sub-agent's calls are made for
    /// [`Principal::attenuated`]: it gets at most what its parent gets.
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.origin.principal = principal;
        self
    }

    /// Declares that a schedule or a program started the session, and not a person. By default, a person did.
    #[must_use]
    pub fn automated(mut self) -> Self {
        self.origin.automated = true;
        self
    }

    /// The message of the conversation that asked for it.
    #[must_use]
    pub fn message(mut self, message: &str) -> Self {
        self.origin.message = Some(Arc::from(message));
        self
    }

    /// The agent that asks.
    #[must_use]
    pub fn agent(mut self, agent: &str) -> Self {
        self.origin.agent = Some(Arc::from(agent));
        self
    }

    /// How the call can be cancelled: a [`Cancellation`], or a `CancellationToken` of tokio-util. Dropping the future of
    /// the call ends it too, at once.
    #[must_use]
    pub fn cancellation(mut self, cancellation: impl Into<Cancellation>) -> Self {
        self.cancellation = cancellation.into();
        self
    }

    /// Who answers questions of this call, beside whoever answers through [`crate::Host::approvals`] and in place of
    /// the host's own approver.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.channel = Some(Channel::Approver(approver));
        self
    }

    /// Questions of this call wait for an answer through [`crate::Host::approvals`], whoever else the host would ask.
    #[must_use]
    pub fn answered_elsewhere(mut self) -> Self {
        self.channel = Some(Channel::Elsewhere);
        self
    }

    /// Declares that no approver is present for this call, whatever the host's channel is. Its approval request stays
    /// pending, or is denied at once.
    #[must_use]
    pub fn unattended(mut self, unattended: Unattended) -> Self {
        self.channel = Some(Channel::Nobody(unattended));
        self
    }

    /// Sets how long the caller waits for an approver. After that the call ends with [`Code::ApprovalPending`]. Its
    /// request stays open for `pending-time`, and the same call made again after the approval runs. By default, a call
    /// waits for `limits.approval-time`.
    #[must_use]
    pub fn approval_wait(mut self, longest: Duration) -> Self {
        self.approval_wait = Some(longest);
        self
    }

    /// Hears of the calls of this request alone, however many others the host runs. The subscription is over when
    /// the request and its calls are. The calls of a clone are heard as well: [`crate::Host::start`] keeps them apart.
    pub fn watched(mut self) -> (Self, Events) {
        let (ear, events) = Ear::new();
        self.ear = Some(Arc::new(ear));
        (self, events)
    }

    /// Hears the text of the answer while its tool writes it. The texts of clones are mixed: [`crate::Host::start`] keeps
    /// them apart.
    pub fn streamed(mut self) -> (Self, TextStream) {
        let (pieces, stream) = Pieces::new();
        self.pieces = Some(pieces);
        (self, stream)
    }

    /// The trace that the call is part of, for the record: a `traceparent` of W3C Trace Context level 1. Text of
    /// another form is left out.
    #[must_use]
    pub fn trace(mut self, traceparent: &str) -> Self {
        self.origin.set_trace(traceparent);
        self
    }

    /// Where its arguments come from, for the record. Arguments that were mended are put to a person, and refused where
    /// the policy does not let those of the plugin be mended.
    #[must_use]
    pub fn provenance(mut self, provenance: Arc<Provenance>) -> Self {
        self.provenance = Some(provenance);
        self
    }

    /// The definition that its arguments were made for, by its SHA-256. A tool that says something else by now is not
    /// run.
    #[must_use]
    pub fn of_definition(mut self, sha256: [u8; 32]) -> Self {
        self.definition = Some(sha256);
        self
    }

    /// Asks for another tool, or for the same with other arguments.
    #[must_use]
    pub fn asking_for(mut self, tool: impl Into<String>, arguments: impl Into<Vec<u8>>) -> Self {
        self.tool = tool.into();
        self.arguments = arguments.into();
        self
    }

    /// It must not run: it is recorded, and answered with why. The code is one of a request that is wrong, and any
    /// other becomes [`Code::CallerRefused`].
    #[must_use]
    pub fn refused(mut self, code: Code, why: &str) -> Self {
        let code = if code.outcome() == Outcome::Invalid { code } else { Code::CallerRefused };
        self.refused = Some((code, Arc::from(why)));
        self
    }

    /// Whether its arguments are others than the model's.
    pub(crate) fn is_repaired(&self) -> bool {
        self.provenance.as_deref().is_some_and(Provenance::is_repaired)
    }

    /// The same request as far as it is about who asks and how it ends.
    pub(crate) fn without_arguments(&self) -> Self {
        Self {
            tool: String::new(),
            arguments: Vec::new(),
            origin: self.origin.clone(),
            cancellation: self.cancellation.clone(),
            resumes: None,
            admission: Arc::clone(&self.admission),
            turn: self.turn.clone(),
            overrides: Overrides::default(),
            channel: self.channel.clone(),
            approval_wait: None,
            ear: None,
            pieces: None,
            provenance: None,
            definition: None,
            refused: None,
        }
    }

    /// A request of another call by the same caller, whose questions reach the same approver.
    pub(crate) fn of_the_same_caller(&self, tool: String, arguments: String) -> Self {
        Self {
            tool,
            arguments: arguments.into_bytes(),
            approval_wait: self.approval_wait,
            admission: Arc::default(),
            turn: None,
            ..self.without_arguments()
        }
    }

    /// The request of a question that was approved while nobody waited for it.
    pub(crate) fn resuming(question: &str, redeemed: Redeemed) -> Self {
        let Redeemed { tool, arguments, origin, .. } = redeemed;
        Self { origin, resumes: Some(Arc::from(question)), ..Self::new(tool, arguments) }
    }

    /// What the person has written since the call was asked for, where that supersedes it.
    pub(crate) fn superseding_note(&self) -> Option<&str> {
        self.turn.as_ref().and_then(|turn| turn.steering().note())
    }

    /// Waits until the person has written something that supersedes a call that has not started.
    pub(crate) async fn superseded(&self) {
        match &self.turn {
            Some(turn) => drop(turn.steering().steered().await),
            None => pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_traceparent_is_kept_as_one() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        assert_eq!(Request::new("a.b", "{}").trace(good).origin.trace.as_deref(), Some(good));
        let bad = [
            "",
            "00",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-\u{1b}1",
        ];
        for text in bad {
            assert_eq!(Request::new("a.b", "{}").trace(text).origin.trace, None, "{text:?}");
        }
    }

    #[test]
    fn arguments_that_serialize_are_the_text_of_the_request() {
        let request = Request::json("a.b", &serde_json::json!({ "path": "x" }));
        assert_eq!(request.arguments, br#"{"path":"x"}"#);
        assert_eq!(request.refused, None);
    }

    #[test]
    fn arguments_that_do_not_serialize_refuse_the_call() {
        let no_text_keys = std::collections::BTreeMap::from([(vec![1], 2)]);
        let (code, why) = Request::json("a.b", &no_text_keys).refused.unwrap();
        assert_eq!(code, Code::MalformedArguments);
        assert!(why.contains("key must be a string"), "{why}");
    }
}
