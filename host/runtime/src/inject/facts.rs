//! What a provider and a service may know of the call they work for.

use crate::call::ValidCall;
use crate::origin::Origin;
use crate::request::Request;
use portcullis_policy::ToolName;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// The call that a value is made for, or that a service is called from. Cheap to clone. All texts but the tool's name
/// are those of a model or its caller.
#[derive(Clone)]
pub struct CallFacts {
    id: Arc<str>,
    origin: Origin,
    call: Arc<ValidCall>,
}

impl CallFacts {
    pub(crate) fn new(id: &str, request: &Request, call: &Arc<ValidCall>) -> Self {
        Self { id: Arc::from(id), origin: request.origin.clone(), call: Arc::clone(call) }
    }

    /// The id of the call, by which the record knows it.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The session it belongs to.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.origin.session
    }

    /// On whose behalf it is made.
    #[must_use]
    pub fn principal(&self) -> &str {
        self.origin.principal.as_str()
    }

    /// The agent that asks, where the caller named it.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.origin.agent.as_deref()
    }

    /// The tool that runs, with its plugin.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.call.tool.name
    }

    /// The arguments, as they were validated and decided on.
    #[must_use]
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.call.arguments
    }
}

impl fmt::Debug for CallFacts {
    /// Leaves the arguments out: a log is no place for them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut facts = formatter.debug_struct("CallFacts");
        facts.field("id", &self.id).field("session", &self.origin.session);
        facts.field("tool", &self.call.tool.name.to_string()).finish_non_exhaustive()
    }
}
