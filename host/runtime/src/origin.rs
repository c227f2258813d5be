//! The origin of a request.

use portcullis_policy::{Audience, Caller, PluginName, Principal};
use std::sync::Arc;

/// The origin of a request. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct RequestOrigin {
    pub(crate) session: Arc<str>,
    pub(crate) principal: Principal,
    /// Whether a schedule or a program started the session.
    pub(crate) automated: bool,
    pub(crate) message: Option<Arc<str>>,
    pub(crate) agent: Option<Arc<str>>,
    /// The model that makes the call.
    pub(crate) model: Option<Arc<str>>,
    /// The toolset that the caller is limited to.
    pub(crate) toolset: Option<Arc<str>>,
    /// The trace that the call belongs to.
    pub(crate) trace: Option<Arc<str>>,
}

impl RequestOrigin {
    /// Sets the trace if the text is a `traceparent`, and removes it otherwise.
    pub(crate) fn set_trace(&mut self, traceparent: &str) {
        self.trace = is_traceparent(traceparent).then(|| Arc::from(traceparent));
    }

    /// Returns the caller for the offers of the policy.
    pub(crate) fn audience(&self) -> Audience<'_> {
        Audience {
            client: self.agent.as_deref(),
            model: self.model.as_deref(),
            principal: &self.principal,
            toolset: self.toolset.as_deref(),
            session: &self.session,
            automated: self.automated,
        }
    }

    /// Returns the origin of the calls that tools of a plugin make for this caller. `None` if the chain of callers
    /// would be too long.
    pub(crate) fn of_tools_of(&self, plugin: &PluginName) -> Option<Self> {
        let principal = self.principal.attenuated(plugin.as_str()).ok()?;
        Some(Self { principal, ..self.clone() })
    }

    /// Returns the caller for the policy.
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller { session: &self.session, principal: &self.principal, automated: self.automated }
    }
}

impl Default for RequestOrigin {
    fn default() -> Self {
        let session = Arc::from("default");
        let principal = Principal::default();
        Self {
            session,
            principal,
            automated: false,
            message: None,
            agent: None,
            model: None,
            toolset: None,
            trace: None,
        }
    }
}

/// Returns whether a text is a `traceparent` of version 00: four fields of lower-case hexadecimal digits, with ids that
/// are not zero. <https://www.w3.org/TR/trace-context/#traceparent-header>
fn is_traceparent(text: &str) -> bool {
    let digits = |field: &str, length| {
        field.len() == length && field.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    let id = |field: &str, length| digits(field, length) && field.bytes().any(|byte| byte != b'0');
    let mut fields = text.split('-');
    let version = fields.next() == Some("00");
    let ids = fields.next().is_some_and(|field| id(field, 32)) && fields.next().is_some_and(|field| id(field, 16));
    version && ids && fields.next().is_some_and(|field| digits(field, 2)) && fields.next().is_none()
}
