//! Subscribes to the changes of a server's tools. Servers of the modern era only report them to subscribers.

use crate::traffic::Traffic;
use rmcp::RoleClient;
use rmcp::model::SubscriptionFilter;
use rmcp::service::Peer;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The wait before a new subscription after one that lasted.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Maximum wait before a new subscription.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Minimum life of a subscription after which the wait is short again. Many proxies end a stream without events after a
/// minute, which is no failure of the server.
const LASTING_TIME: Duration = Duration::from_secs(30);

/// Keeps a subscription until the connection ends.
pub(crate) async fn keep(peer: Peer<RoleClient>, traffic: Arc<Traffic>) {
    tokio::select! {
        () = subscribe(&peer, &traffic) => {}
        _ = traffic.closed() => {}
    }
}

async fn subscribe(peer: &Peer<RoleClient>, traffic: &Traffic) {
    let mut wait = None;
    loop {
        let mut lasted = Duration::ZERO;
        if let Ok(mut subscription) = peer.listen(SubscriptionFilter::builder().tools_list_changed().build()).await {
            // The server did not report what changed since the last subscription ended.
            if wait.is_some() {
                traffic.note_change();
            }
            let begun = Instant::now();
            // The guard takes out the notifications, so this only waits for the end.
            while let Ok(Some(_)) = subscription.next().await {}
            lasted = begun.elapsed();
        }
        let next = wait_after(lasted, wait);
        tokio::time::sleep(next).await;
        wait = Some(next);
    }
}

/// Returns the wait after a subscription. `before` is the wait before it, if it was not the first.
fn wait_after(lasted: Duration, before: Option<Duration>) -> Duration {
    match before {
        Some(before) if lasted < LASTING_TIME => WAIT_MAX.min(before * 2),
        Some(_) | None => FIRST_WAIT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_become_longer_until_a_subscription_lasts() {
        let (mut wait, mut waits) = (None, Vec::new());
        for lasted in [0, 29, 0, 30, 0].into_iter().chain([0; 9]) {
            waits.push(wait.insert(wait_after(Duration::from_secs(lasted), wait)).as_secs());
        }
        assert_eq!(waits, [1, 2, 4, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    }
}
