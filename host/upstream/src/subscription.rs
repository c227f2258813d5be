//! Subscribes to the changes of a server's tools. Servers of the modern era only report them to subscribers.

use crate::traffic::Traffic;
use rmcp::RoleClient;
use rmcp::model::SubscriptionFilter;
use rmcp::service::Peer;
use std::sync::Arc;
use std::time::Duration;

/// The wait before the first new subscription after one has ended.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Maximum wait before a new subscription.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Keeps a subscription until the connection ends.
pub(crate) async fn keep(peer: Peer<RoleClient>, traffic: Arc<Traffic>) {
    tokio::select! {
        () = subscribe(&peer, &traffic) => {}
        _ = traffic.closed() => {}
    }
}

async fn subscribe(peer: &Peer<RoleClient>, traffic: &Traffic) {
    let mut wait = FIRST_WAIT;
    loop {
        if let Ok(mut subscription) = peer.listen(SubscriptionFilter::builder().tools_list_changed().build()).await {
            // The guard takes out the notifications, so this only waits for the end.
            while let Ok(Some(_)) = subscription.next().await {}
            // Changes may be lost until the next subscription.
            traffic.note_change();
        }
        tokio::time::sleep(wait).await;
        wait = WAIT_MAX.min(wait * 2);
    }
}
