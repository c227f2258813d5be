//! Who wants to hear that the list of tools has changed: peers of the handshake era, which all do, and modern clients
//! that listen. Each is told by a task or a request of its own, so that a slow one holds up no other.

use crate::server::Server;
use portcullis::plugins::Catalog;
use rmcp::model::SubscriptionFilter;
use rmcp::service::{Peer, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

/// Subscribers of one server: each costs a task, and a client that never goes away must not use up the host.
const SUBSCRIBERS_MAX: usize = 1024;

/// How often a subscriber is looked at, to see whether it is still there.
const LIFE_CHECKED: Duration = Duration::from_secs(30);

/// The subscribers of a server.
pub(crate) struct Subscribers {
    places: Arc<Semaphore>,
}

impl Default for Subscribers {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(SUBSCRIBERS_MAX)) }
    }
}

impl Subscribers {
    fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }
}

/// What of a subscription is served.
pub(crate) fn accepted(requested: &SubscriptionFilter) -> SubscriptionFilter {
    let accepted = SubscriptionFilter::builder();
    if requested.tools_list_changed == Some(true) { accepted.tools_list_changed().build() } else { accepted.build() }
}

/// Tells a peer of the handshake era of changes from now on, until it is gone. Where there are too many, it is told of
/// none.
pub(crate) fn follow(server: &Server, peer: Peer<RoleServer>) {
    let Some(place) = server.inner().subscribers.place() else { return };
    let changes = server.inner().host.catalog_changes();
    // The task holds nothing of the server: where that is gone, no more changes come.
    tokio::spawn(tell(peer, changes, place));
}

async fn tell(peer: Peer<RoleServer>, mut changes: watch::Receiver<Arc<Catalog>>, _place: OwnedSemaphorePermit) {
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

/// Serves a modern client that listens, until it stops or the host ends.
///
/// # Errors
/// There are too many subscribers.
pub(crate) async fn listen(server: &Server, context: &SubscriptionContext) -> Result<(), ErrorData> {
    let Some(_place) = server.inner().subscribers.place() else {
        return Err(ErrorData::internal_error("there are too many subscriptions; end one of them", None));
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

/// Whether the listener is still there.
async fn tell_listener(context: &SubscriptionContext) -> bool {
    if context.accepted().tools_list_changed != Some(true) {
        return true;
    }
    context.sink().notify_tool_list_changed().await.is_ok()
}
