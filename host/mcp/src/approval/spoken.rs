//! The context of one `tools/call` request.

use super::ask_by::AskBy;
use super::client::ClientAbilities;
use super::session::CallNews;
use super::stage::CallPhase;
use crate::call::named::Named;
use crate::server::Server;
use rmcp::RoleServer;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use tokio_util::sync::CancellationToken;

/// The context of one `tools/call` request.
#[derive(Clone, Copy)]
pub(super) struct Spoken<'a> {
    pub(super) server: &'a Server,
    pub(super) named: &'a Named,
    pub(super) params: &'a CallToolRequestParams,
    pub(super) cx: &'a RequestContext<RoleServer>,
    pub(super) client: ClientAbilities,
    pub(super) unwanted: &'a CancellationToken,
}

impl Spoken<'_> {
    /// Returns what a call does, and how its approval request is answered. `None` is a call whose task has ended
    /// without a reply.
    pub(super) fn news(&self, phase: Option<CallPhase>) -> CallNews {
        match phase {
            Some(CallPhase::Work) => CallNews::Works,
            Some(CallPhase::Asking(question)) => {
                let unattended = self.server.inner().host.policy().approvals().unattended;
                let by = AskBy::of(self.client, &question, unattended);
                CallNews::Asks(question, by)
            }
            Some(CallPhase::Over(_)) => CallNews::Over,
            Some(CallPhase::Lost) | None => CallNews::Lost,
        }
    }

    /// Sends the client a progress message, if it asked for progress.
    pub(super) async fn say(&self, text: &str) {
        if let Some(voice) = &self.named.voice {
            voice.say(text).await;
        }
    }
}
