//! Requests for calls.

use crate::admission::Admission;
use crate::approvals::{ApproverChannel, Redeemed};
use crate::approver::Approver;
use crate::batched_call::BatchedCall;
use crate::events::{Ear, Events};
use crate::inject::Overrides;
use crate::origin::RequestOrigin;
use crate::parent_call::ParentCall;
use crate::provenance::Provenance;
use crate::reply::Code;
use crate::request_arguments::RequestArguments;
use crate::stream::{Pieces, TextStream};
use crate::text::OneLine;
use crate::turn::Turn;
use portcullis_policy::{Principal, Unattended};
use portcullis_sandbox::Cancellation;
use serde::Serialize;
use serde_json::{Map, Value};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

/// A request to call one tool.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) tool: String,
    pub(crate) arguments: RequestArguments,
    pub(crate) origin: RequestOrigin,
    pub(crate) cancellation: Cancellation,
    /// The id of the approved request that this call resumes and spends.
    pub(crate) resumes: Option<Arc<str>>,
    /// The call's run slot and its place in the order of its session.
    pub(crate) admission: Arc<Admission>,
    /// The call's turn in its batch.
    pub(crate) turn: Option<Arc<Turn>>,
    /// Values that replace those of the application's providers.
    pub(crate) overrides: Overrides,
    /// The approval channel, instead of the host's own.
    pub(crate) channel: Option<ApproverChannel>,
    /// How long a call waits for an approver before it leaves its request open.
    pub(crate) approval_wait: Option<Duration>,
    /// The event listener of only this call.
    pub(crate) ear: Option<Arc<Ear>>,
    /// The listener for the answer's text while it is written.
    pub(crate) pieces: Option<Pieces>,
    /// The origin of the arguments.
    pub(crate) provenance: Option<Arc<Provenance>>,
    /// The hash of the definition that the arguments were made for.
    pub(crate) definition: Option<[u8; 32]>,
    /// The reason why the caller itself does not want it to run.
    pub(crate) refused: Option<(Code, Arc<str>)>,
    /// The call whose tool makes this call.
    pub(crate) parent: Option<Arc<ParentCall>>,
    /// The id of the call of `tools.batch` that makes this call.
    pub(crate) in_batch: Option<Arc<str>>,
    /// What the caller knows of the calls in this batch. If `None`, it knows every tool by its own name.
    pub(crate) batched: Option<Arc<[BatchedCall]>>,
}

impl Request {
    /// Creates a request for `plugin.tool`, with arguments as JSON text: an object, or a string that contains one.
    pub fn new(tool: impl Into<String>, arguments: impl Into<Vec<u8>>) -> Self {
        Self {
            tool: tool.into(),
            arguments: RequestArguments::Text(arguments.into()),
            origin: RequestOrigin::default(),
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
            parent: None,
            in_batch: None,
            batched: None,
        }
    }

    /// Creates a request for `plugin.tool`, with arguments that are parsed already. The parser must have refused
    /// duplicate keys, and numbers that it would round, as [`crate::parse_json`] does: an object no longer shows them.
    /// Every other rule for arguments is checked here as for text.
    pub fn object(tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self { arguments: RequestArguments::object(arguments), ..Self::new(tool, Vec::new()) }
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

    /// Sets the session of the call. The default is `default`.
    #[must_use]
    pub fn session(mut self, session: &str) -> Self {
        self.origin.session = Arc::from(session);
        self
    }

    /// Sets the principal on whose behalf the call is made. The default is `local`. Use [`Principal::attenuated`] for a
    /// sub-agent, which then gets at most what its parent gets.
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

    /// Sets the id of the conversation's message that requested the call.
    #[must_use]
    pub fn message(mut self, message: &str) -> Self {
        self.origin.message = Some(Arc::from(message));
        self
    }

    /// Sets the agent that makes the call. An `[[offer]]` of the policy can name it as the client.
    #[must_use]
    pub fn agent(mut self, agent: &str) -> Self {
        self.origin.agent = Some(Arc::from(agent));
        self
    }

    /// Sets the model that makes the call. An `[[offer]]` of the policy can name it.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        self.origin.model = Some(Arc::from(model));
        self
    }

    /// Limits the call, and the calls that its tool makes, to the tools of a toolset. Other tools do not exist for it.
    /// If the policy has no such toolset, only the host's own tools exist.
    #[must_use]
    pub fn toolset(mut self, toolset: &str) -> Self {
        self.origin.toolset = Some(Arc::from(toolset));
        self
    }

    /// Sets how the call can be cancelled: with a [`Cancellation`], or a `CancellationToken` of tokio-util. Dropping
    /// the future of the call also ends it, at once.
    #[must_use]
    pub fn cancellation(mut self, cancellation: impl Into<Cancellation>) -> Self {
        self.cancellation = cancellation.into();
        self
    }

    /// Sets the approver of this call, instead of the host's own approver. [`crate::Host::approvals`] can still answer
    /// too.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.channel = Some(ApproverChannel::Approver(approver));
        self
    }

    /// Makes approval requests of this call wait for an answer through [`crate::Host::approvals`], without asking the
    /// host's own approver.
    #[must_use]
    pub fn answered_elsewhere(mut self) -> Self {
        self.channel = Some(ApproverChannel::Elsewhere);
        self
    }

    /// Declares that no approver is present for this call, whatever the host's channel is. Its approval request stays
    /// pending, or is denied at once.
    #[must_use]
    pub fn unattended(mut self, unattended: Unattended) -> Self {
        self.channel = Some(ApproverChannel::NoApprover(unattended));
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

    /// Subscribes to the events of the calls of this request. The subscription ends with the request and its calls.
    /// It includes the calls of a clone: [`crate::Host::start`] keeps them apart.
    pub fn watched(mut self) -> (Self, Events) {
        let (ear, events) = Ear::new();
        self.ear = Some(Arc::new(ear));
        (self, events)
    }

    /// Subscribes to the text of the answer while its tool writes it. The texts of clones are mixed:
    /// [`crate::Host::start`] keeps them apart.
    pub fn streamed(mut self) -> (Self, TextStream) {
        let (pieces, stream) = Pieces::new();
        self.pieces = Some(pieces);
        (self, stream)
    }

    /// Sets the trace of the call for the audit log: a `traceparent` of W3C Trace Context level 1. Any other text is
    /// ignored.
    #[must_use]
    pub fn trace(mut self, traceparent: &str) -> Self {
        self.origin.set_trace(traceparent);
        self
    }

    /// Sets the origin of the arguments, for the audit log. Repaired arguments need approval, and are refused if the
    /// policy does not allow repairs for the plugin.
    #[must_use]
    pub fn provenance(mut self, provenance: Arc<Provenance>) -> Self {
        self.provenance = Some(provenance);
        self
    }

    /// Sets the SHA-256 of the definition that the arguments were made for. If the tool's definition has changed, the
    /// call does not run.
    #[must_use]
    pub fn of_definition(mut self, sha256: [u8; 32]) -> Self {
        self.definition = Some(sha256);
        self
    }

    /// Sets what the caller knows of the calls in a call of `tools.batch` ([`crate::plugins::BATCH_TOOL`]), in their
    /// order. The batch makes no further calls. By default, the caller knows every tool that it is offered, by its own
    /// name.
    #[must_use]
    pub fn batched(mut self, calls: impl Into<Arc<[BatchedCall]>>) -> Self {
        self.batched = Some(calls.into());
        self
    }

    /// Changes the tool and the arguments.
    #[must_use]
    pub fn asking_for(mut self, tool: impl Into<String>, arguments: impl Into<Vec<u8>>) -> Self {
        self.tool = tool.into();
        self.arguments = RequestArguments::Text(arguments.into());
        self
    }

    /// Marks the request as one that must not run. It is recorded, and the reply has this reason. A code that is not
    /// about an invalid request becomes [`Code::CallerRefused`].
    #[must_use]
    pub fn refused(mut self, code: Code, why: &str) -> Self {
        self.refused = Some((code.of_refusal(), Arc::from(why)));
        self
    }

    /// Returns whether the arguments were repaired.
    pub(crate) fn is_repaired(&self) -> bool {
        self.provenance.as_deref().is_some_and(Provenance::is_repaired)
    }

    /// Returns a copy without the arguments.
    pub(crate) fn without_arguments(&self) -> Self {
        Self {
            tool: String::new(),
            arguments: RequestArguments::default(),
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
            parent: self.parent.clone(),
            in_batch: None,
            batched: None,
        }
    }

    /// Creates a request for another call by the same caller, with the same approval channel.
    pub(crate) fn of_the_same_caller(&self, tool: String, arguments: String) -> Self {
        Self {
            tool,
            arguments: RequestArguments::Text(arguments.into_bytes()),
            approval_wait: self.approval_wait,
            admission: Arc::default(),
            turn: None,
            ..self.without_arguments()
        }
    }

    /// Returns the request that runs a call whose approval request was approved while no caller waited.
    pub(crate) fn resuming(question: &str, redeemed: Redeemed) -> Self {
        let Redeemed { tool, arguments, origin, .. } = redeemed;
        Self { origin, resumes: Some(Arc::from(question)), ..Self::new(tool, arguments) }
    }

    /// Returns the tools that made the call, from the one that a caller called.
    pub(crate) fn called_by(&self) -> Vec<String> {
        self.parent.as_ref().map(|parent| parent.chain()).unwrap_or_default()
    }

    /// Returns the id of the call whose tool, or which as a batch, makes this call.
    pub(crate) fn made_by(&self) -> Option<&Arc<str>> {
        self.parent.as_ref().map(|parent| parent.id()).or(self.in_batch.as_ref())
    }

    /// Returns the id of the call that a caller made, and that led to this one. `None` if a caller made this one.
    pub(crate) fn first_call(&self) -> Option<&Arc<str>> {
        self.parent.as_ref().map(|parent| parent.first_call()).or(self.in_batch.as_ref())
    }

    /// Returns the principal whose session orders the call.
    pub(crate) fn ordered_for(&self) -> &Principal {
        self.parent.as_ref().map_or(&self.origin.principal, |parent| parent.outermost())
    }

    /// Returns the user's message that supersedes the call, if there is one.
    pub(crate) fn superseding_note(&self) -> Option<&str> {
        self.turn.as_ref().and_then(|turn| turn.steering().note())
    }

    /// Waits until a message of the user supersedes the call.
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
    fn only_a_valid_traceparent_is_kept() {
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
        assert_eq!(request.arguments.text(), br#"{"path":"x"}"#);
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
