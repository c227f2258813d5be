//! The capabilities of the client of one request.

use super::form;
use crate::options::{ClientAnswers, ServerOptions};
use portcullis::Question;
use rmcp::RoleServer;
use rmcp::model::ElicitationCapability;
use rmcp::service::RequestContext;

/// The capabilities of the client of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientAbilities {
    /// Whether its answers count and it can show its user a form.
    pub(crate) answers: bool,
    /// Whether it supports tasks.
    pub(crate) tasks: bool,
    /// Whether it uses a protocol version without a handshake, in which a server can only ask by a result.
    pub(crate) modern: bool,
}

impl ClientAbilities {
    /// Returns the capabilities that the client of this request declares, as far as the operator lets them count.
    pub(crate) fn of(options: &ServerOptions, cx: &RequestContext<RoleServer>) -> Self {
        let capabilities = cx.client_capabilities().unwrap_or_default();
        let counts = match options.client_answers {
            ClientAnswers::Person => true,
            ClientAnswers::NotAPerson => false,
        };
        Self {
            answers: counts && capabilities.elicitation.as_ref().is_some_and(has_forms),
            tasks: capabilities.supports_tasks(),
            modern: cx.protocol_version().is_some_and(|version| !version.has_initialize()),
        }
    }

    /// Returns whether a request of the client can be answered with a form, so that the client retries it.
    pub(crate) fn may_retry(self) -> bool {
        self.modern && self.answers
    }

    /// Returns whether the client is asked: its answers count, and the form can show the whole request.
    pub(crate) fn is_asked(self, question: &Question) -> bool {
        self.answers && form::fits(question)
    }
}

/// Returns whether the client supports forms. A capability without a mode means forms, as in versions without modes.
fn has_forms(capability: &ElicitationCapability) -> bool {
    capability.form.is_some() || capability.url.is_none()
}
