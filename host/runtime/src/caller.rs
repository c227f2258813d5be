//! The caller of tools, which holds what its requests have in common.

use crate::approvals::ApproverChannel;
use crate::approver::Approver;
use crate::origin::RequestOrigin;
use crate::request::Request;
use portcullis_policy::{Principal, Unattended};
use portcullis_sandbox::Cancellation;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// The caller of tools: what all its requests have in common. Each setter means the same as that of [`Request`].
///
/// ```
/// use portcullis::Caller;
/// use serde_json::json;
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let caller = Caller::new().session("chat-7").principal("ada".parse()?).agent("my-agent");
/// let read = caller.request("files.read", r#"{"path":"README.md"}"#);
/// let list = caller.request_json("files.list", &json!({ "path": "src" }));
/// # let _ = (read, list);
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Caller {
    origin: RequestOrigin,
    channel: Option<ApproverChannel>,
    approval_wait: Option<Duration>,
    cancellation: Option<Cancellation>,
}

impl Caller {
    /// Creates a caller with the session `default` and the principal `local`, whose session a person started.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the session that the calls belong to.
    #[must_use]
    pub fn session(mut self, session: &str) -> Self {
        self.origin.session = Arc::from(session);
        self
    }

    /// Sets the principal that the calls are made for.
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.origin.principal = principal;
        self
    }

    /// Declares that a schedule or a program started the session, and not a person.
    #[must_use]
    pub fn automated(mut self) -> Self {
        self.origin.automated = true;
        self
    }

    /// Sets the message of the conversation that asks for the calls.
    #[must_use]
    pub fn message(mut self, message: &str) -> Self {
        self.origin.message = Some(Arc::from(message));
        self
    }

    /// Sets the agent that makes the calls.
    #[must_use]
    pub fn agent(mut self, agent: &str) -> Self {
        self.origin.agent = Some(Arc::from(agent));
        self
    }

    /// Sets the model that makes the calls.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        self.origin.model = Some(Arc::from(model));
        self
    }

    /// Limits the calls to the tools of a toolset, as [`Request::toolset`] does.
    #[must_use]
    pub fn toolset(mut self, toolset: &str) -> Self {
        self.origin.toolset = Some(Arc::from(toolset));
        self
    }

    /// Sets the trace that the calls are part of, as [`Request::trace`] does.
    #[must_use]
    pub fn trace(mut self, traceparent: &str) -> Self {
        self.origin.set_trace(traceparent);
        self
    }

    /// Sets the approver of the calls, in place of the host's own.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.channel = Some(ApproverChannel::Approver(approver));
        self
    }

    /// Lets approval requests wait for an answer through [`crate::Host::approvals`].
    #[must_use]
    pub fn answered_elsewhere(mut self) -> Self {
        self.channel = Some(ApproverChannel::Elsewhere);
        self
    }

    /// Declares that no approver is present for the calls.
    #[must_use]
    pub fn unattended(mut self, unattended: Unattended) -> Self {
        self.channel = Some(ApproverChannel::NoApprover(unattended));
        self
    }

    /// Sets how long a call waits for an approver before it leaves its approval request behind.
    #[must_use]
    pub fn approval_wait(mut self, longest: Duration) -> Self {
        self.approval_wait = Some(longest);
        self
    }

    /// Sets the cancellation of all calls together. Without this, each request has its own.
    #[must_use]
    pub fn cancellation(mut self, cancellation: impl Into<Cancellation>) -> Self {
        self.cancellation = Some(cancellation.into());
        self
    }

    /// Creates a request of this caller. The arguments are those of [`Request::new`].
    pub fn request(&self, tool: impl Into<String>, arguments: impl Into<Vec<u8>>) -> Request {
        self.asks(Request::new(tool, arguments))
    }

    /// Creates a request of this caller. The arguments are those of [`Request::json`].
    pub fn request_json(&self, tool: impl Into<String>, arguments: &(impl Serialize + ?Sized)) -> Request {
        self.asks(Request::json(tool, arguments))
    }

    fn asks(&self, request: Request) -> Request {
        Request {
            origin: self.origin.clone(),
            channel: self.channel.clone(),
            approval_wait: self.approval_wait,
            cancellation: self.cancellation.clone().unwrap_or_default(),
            ..request
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_all_that_its_caller_has() {
        let caller = Caller::new().session("s").principal("ada".parse().unwrap()).automated().message("m").agent("a");
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let caller = caller.trace(trace).unattended(Unattended::Deny).approval_wait(Duration::from_secs(3));
        let request = caller.request("a.b", "{}");
        let origin = &request.origin;
        assert_eq!((request.tool.as_str(), request.arguments.text()), ("a.b", b"{}".as_slice()));
        assert_eq!((&*origin.session, origin.principal.as_str(), origin.automated), ("s", "ada", true));
        let texts = [&origin.message, &origin.agent, &origin.trace].map(|text| text.as_deref());
        assert_eq!(texts, [Some("m"), Some("a"), Some(trace)]);
        assert!(matches!(request.channel, Some(ApproverChannel::NoApprover(Unattended::Deny))));
        assert_eq!(request.approval_wait, Some(Duration::from_secs(3)));
    }

    #[test]
    fn a_caller_without_settings_makes_the_same_requests_as_none() {
        let (of_caller, of_none) = (Caller::new().request("a.b", "{}"), Request::new("a.b", "{}"));
        assert_eq!(format!("{of_caller:?}"), format!("{of_none:?}"));
    }

    #[test]
    fn requests_of_one_caller_share_only_the_cancellation_that_it_has() {
        let caller = Caller::new();
        let (one, other) = (caller.request("a.b", "{}"), caller.request("a.b", "{}"));
        one.cancellation.cancel();
        assert!(!other.cancellation.is_cancelled());
        assert!(!Arc::ptr_eq(&one.admission, &other.admission), "each call is admitted for itself");
        let cancellation = Cancellation::new();
        let request = caller.cancellation(cancellation.clone()).request("a.b", "{}");
        cancellation.cancel();
        assert!(request.cancellation.is_cancelled());
    }
}
