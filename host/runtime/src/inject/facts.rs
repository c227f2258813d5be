//! The facts about a call for providers and services.

use crate::origin::RequestOrigin;
use crate::request::Request;
use crate::valid_call::ValidCall;
use portcullis_policy::ToolName;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// The call that a value is provided for, or that calls a service. Cheap to clone. Except for the id and the tool's
/// name, treat all texts as untrusted: they come from a model or its caller.
#[derive(Clone)]
pub struct CallFacts {
    id: Arc<str>,
    origin: RequestOrigin,
    call: Arc<ValidCall>,
}

impl CallFacts {
    pub(crate) fn new(id: &str, request: &Request, call: &Arc<ValidCall>) -> Self {
        Self { id: Arc::from(id), origin: request.origin.clone(), call: Arc::clone(call) }
    }

    /// Returns the id of the call, as in the audit log.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the session of the call.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.origin.session
    }

    /// Returns the principal on whose behalf the call is made.
    #[must_use]
    pub fn principal(&self) -> &str {
        self.origin.principal.as_str()
    }

    /// Returns the agent that makes the call, if the caller named one.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.origin.agent.as_deref()
    }

    /// Returns the full name of the tool that runs.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        self.call.tool.name()
    }

    /// Returns the arguments, as they were validated and decided on.
    #[must_use]
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.call.arguments
    }
}

impl fmt::Debug for CallFacts {
    /// Leaves out the arguments, because they do not belong in a log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut facts = formatter.debug_struct("CallFacts");
        facts.field("id", &self.id).field("session", &self.origin.session);
        facts.field("tool", &self.call.tool.name().to_string()).finish_non_exhaustive()
    }
}
