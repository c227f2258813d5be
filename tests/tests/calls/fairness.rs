//! The run slots of a host are shared: the calls of one principal or one plugin do not starve the others.

use crate::calls::desk::{Desk, until, word};
use portcullis::events::Events;
use portcullis::{Cancellation, Code, Host, Reply, Request};
use std::future::Future;
use tokio::task::JoinHandle;

/// Builds a call that never ends, in its own session.
fn sleeping(host: &Host, principal: &str, session: &str, own: &Cancellation) -> JoinHandle<Reply> {
    let request = Request::new("sleep-in-execute.run", "{}").session(session);
    let request = request.principal(principal.parse().unwrap()).cancellation(own.clone());
    let host = host.clone();
    tokio::spawn(async move { host.call(request).await })
}

fn good(host: &Host, principal: &str) -> impl Future<Output = Reply> {
    let request = Request::new("good.run", "{}").principal(principal.parse().unwrap());
    let host = host.clone();
    async move { host.call(request).await }
}

/// Returns the sessions of the next calls that start to run.
async fn begun(events: &mut Events, count: usize) -> Vec<String> {
    let mut sessions = Vec::new();
    until(events, |event| {
        if word(event) == "running" {
            sessions.push(event.session.to_string());
        }
        sessions.len() == count
    })
    .await;
    sessions
}

/// Forty calls of alice never end. Bob's calls still run immediately, and so do alice's calls of another plugin.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_by_one_principal_leaves_run_slots_for_others() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.builder().calls(8).open().await.unwrap();
    let mut events = host.events();
    let own = Cancellation::new();
    let flood: Vec<_> = (0..40)
        .map(|at| {
            // Calls of a sub-agent count for its principal.
            let principal = if at % 2 == 0 { "alice" } else { "alice/agent" };
            sleeping(&host, principal, &at.to_string(), &own)
        })
        .collect();
    // One of eight slots is reserved for other principals, and one of the remaining slots for other plugins.
    begun(&mut events, 6).await;
    for principal in ["bob", "alice"] {
        assert_eq!(good(&host, principal).await.code, Code::Completed, "{principal}");
    }
    own.cancel();
    for call in flood {
        assert_eq!(call.await.unwrap().code, Code::Cancelled);
    }
    assert_eq!(good(&host, "alice").await.code, Code::Completed);
}

/// With every slot taken and a queue, the next free slot goes to the principal that has none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_free_run_slot_goes_to_each_principal_in_turn() {
    let desk = Desk::new().with("sleep-in-execute");
    let host = desk.builder().calls(2).open().await.unwrap();
    let mut events = host.events();
    let (first, rest, bob) = (Cancellation::new(), Cancellation::new(), Cancellation::new());
    let running: Vec<_> = (0..2).map(|at| sleeping(&host, "alice", &at.to_string(), &first)).collect();
    begun(&mut events, 2).await;
    let queue: Vec<_> = (2..12).map(|at| sleeping(&host, "alice", &at.to_string(), &rest)).collect();
    until(&mut events, |event| word(event) == "pending" && &*event.session == "11").await;
    // A call that stops waiting leaves the queue.
    let gone = Cancellation::new();
    let left = sleeping(&host, "bob", "left", &gone);
    until(&mut events, |event| word(event) == "pending").await;
    gone.cancel();
    assert_eq!(left.await.unwrap().code, Code::Cancelled);
    let innocent = sleeping(&host, "bob", "innocent", &bob);
    until(&mut events, |event| word(event) == "pending").await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    first.cancel();
    let next = begun(&mut events, 2).await;
    assert!(next.contains(&"innocent".to_owned()), "{next:?}");
    for cancellation in [rest, bob] {
        cancellation.cancel();
    }
    for call in running.into_iter().chain(queue).chain([innocent]) {
        assert_eq!(call.await.unwrap().code, Code::Cancelled);
    }
}
