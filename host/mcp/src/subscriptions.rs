//! Subscribers to changes of the tool list: all peers of the handshake era, and modern clients that subscribe. Each is
//! notified by its own task or request, so that a slow subscriber does not block the others.

use crate::caller::principal_of;
use crate::principal_shares::SharePermits;
use crate::rpc_error;
use crate::server::Server;
use portcullis::plugins::Catalog;
use rmcp::model::SubscriptionFilter;
use rmcp::service::{NotificationContext, Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Interval at which a task checks whether its subscriber is still connected.
const LIFE_CHECKED: Duration = Duration::from_secs(30);

/// Returns the part of a subscription filter that this server supports.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let accepted = SubscriptionFilter::builder();
    if requested.tools_list_changed == Some(true) { accepted.tools_list_changed().build() } else { accepted.build() }
}

/// Notifies a peer of the handshake era of changes from now on, until it disconnects. If there are too many
/// subscribers, the peer gets no notifications.
pub(crate) fn follow(server: &Server, context: NotificationContext<RoleServer>) {
    let principal = principal_of(server, &context.extensions);
    let Some(place) = server.inner().subscribers.place(principal) else { return };
    let changes = server.inner().host.catalog_changes();
    // The task does not keep the server alive. It ends when the host's sender is dropped.
    tokio::spawn(tell(context.peer, changes, place));
}

async fn tell(peer: Peer<RoleServer>, mut changes: watch::Receiver<Arc<Catalog>>, _place: SharePermits) {
    while !peer.is_transport_closed() {
        match timeout(LIFE_CHECKED, changes.changed()).await {
            Err(_) => {}
            Ok(Err(_)) => return,
            Ok(Ok(())) => {
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Serves the subscription of a modern client, until the client cancels it or the host ends.
///
/// # Errors
/// There are too many subscribers.
pub(crate) async fn listen(server: &Server, context: &SubscriptionContext) -> Result<(), ErrorData> {
    let principal = principal_of(server, &context.request_context().extensions);
    let Some(_place) = server.inner().subscribers.place(principal) else {
        return Err(rpc_error::limit_exceeded("too many subscriptions on this server; cancel one first"));
    };
    let mut changes = server.inner().host.catalog_changes();
    loop {
        tokio::select! {
            () = context.cancelled() => return Ok(()),
            changed = changes.changed() => {
                if changed.is_err() || !tell_listener(context).await {
                    return Ok(());
                }
            }
        }
    }
}

/// Notifies a subscriber of a change. Returns whether it is still connected.
async fn tell_listener(context: &SubscriptionContext) -> bool {
    if context.accepted().tools_list_changed != Some(true) {
        return true;
    }
    context.sink().notify_tool_list_changed().await.is_ok()
}
