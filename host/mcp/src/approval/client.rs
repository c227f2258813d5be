//! What the client of one request can do.

use super::form;
use crate::options::{ClientAnswers, ServerOptions};
use portcullis::Question;
use rmcp::RoleServer;
use rmcp::model::ElicitationCapability;
use rmcp::service::RequestContext;

/// What the client of one request can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client {
    /// Its answers count, and it can ask its user by a form.
    pub(crate) answers: bool,
    /// It can wait for a task.
    pub(crate) tasks: bool,
    /// It speaks the protocol without a handshake, in which nobody asks it anything but by a result.
    pub(crate) modern: bool,
}

impl Client {
    /// What the client of this request can do: what it says of itself, as far as the operator lets that count.
    pub(crate) fn of(options: &ServerOptions, cx: &RequestContext<RoleServer>) -> Self {
        let capabilities = cx.client_capabilities().unwrap_or_default();
        let counts = match options.client_answers {
            ClientAnswers::Person => true,
            ClientAnswers::Nobody => false,
        };
        Self {
            answers: counts && capabilities.elicitation.as_ref().is_some_and(has_forms),
            tasks: capabilities.supports_tasks(),
            modern: cx.protocol_version().is_some_and(|version| !version.has_initialize()),
        }
    }

    /// Whether it is asked this question: it can be, and what it is about can be shown whole.
    pub(crate) fn is_asked(self, question: &Question) -> bool {
        self.answers && form::fits(question)
    }
}

/// A capability without a mode means forms, as it did before there were modes.
fn has_forms(capability: &ElicitationCapability) -> bool {
    capability.form.is_some() || capability.url.is_none()
}
