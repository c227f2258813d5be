//! The context of one `tools/call` request.

use super::client::ClientAbilities;
use crate::call::Named;
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
    /// Sends the client a progress message, if it asked for progress.
    pub(super) async fn say(&self, text: &str) {
        if let Some(voice) = &self.named.voice {
            voice.say(text).await;
        }
    }
}
