//! The order of the calls of one session, on every route: a call that may write runs alone.

use crate::calls::desk::{Desk, Gate, until, word};
use portcullis::events::{CallState, Event, EventKind, Events};
use portcullis::{Batch, Cancellation, Code, Host, Reply, Request};
use portcullis_tests::Manifest;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// The session of these calls.
const SESSION: &str = "shared";

/// The calls that currently run a tool, by ID, each with its tool.
#[derive(Debug, Default)]
struct RunningCalls {
    tools: BTreeMap<String, String>,
    readers_most: usize,
    ended: usize,
}

impl RunningCalls {
    /// Panics if a call that may write is not alone.
    fn hear(&mut self, event: &Event) {
        let EventKind::State(state) = &event.kind else { return };
        match state {
            CallState::Pending => {}
            CallState::Running => drop(self.tools.insert(event.call.to_string(), event.tool.to_string())),
            CallState::Waiting => drop(self.tools.remove(&*event.call)),
            CallState::Ended(_) => {
                self.tools.remove(&*event.call);
                self.ended += 1;
            }
        }
        if self.tools.values().any(|tool| tool != "reader.run") {
            assert_eq!(self.tools.len(), 1, "{:?}", self.tools);
        }
        self.readers_most = self.readers_most.max(self.tools.len());
    }
}

fn request(name: &str, at: usize) -> Request {
    Request::new(format!("{name}.run"), format!(r#"{{"at":{at}}}"#)).session(SESSION)
}

fn spawn(host: &Host, request: Request) -> JoinHandle<Reply> {
    let host = host.clone();
    tokio::spawn(async move { host.call(request).await })
}

async fn heard(events: &mut Events, wanted: &str) {
    until(events, |event| word(event) == wanted).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_may_write_runs_alone_in_its_session() {
    let desk = Desk::new().with_naps();
    let host = desk.open().await;
    let mut events = host.events();
    let names = ["reader", "reader", "writer", "writer", "sequential", "reader", "sequential"].repeat(4);
    let single = names.iter().enumerate().map(|(at, name)| spawn(&host, request(name, at)));
    let mut single: Vec<_> = single.collect();
    // A batch of the same session at the same time.
    let requests = names.iter().enumerate().map(|(at, name)| request(name, names.len() + at)).collect();
    let batch = host.batch(Batch::new(requests));
    let mut running = RunningCalls::default();
    let hearing = until(&mut events, |event| {
        running.hear(event);
        running.ended == 2 * names.len()
    });
    let (replies, _) = tokio::join!(batch, hearing);
    assert!(replies.iter().all(|reply| reply.code == Code::Completed));
    for call in single.drain(..) {
        assert_eq!(call.await.unwrap().code, Code::Completed);
    }
    assert!(running.readers_most > 1, "readers must run concurrently");
}

/// Calls of another session do not wait, nor do calls of another principal with a session of the same name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_do_not_wait_for_each_other() {
    let sleeps = Manifest::of("sleeps").tool(|tool| tool.hints = 16);
    let desk = Desk::new().with_naps().with_named("sleep-in-execute", &sleeps);
    let host = desk.open().await;
    let mut events = host.events();
    let own = Cancellation::new();
    let sleeping = spawn(&host, request("sleeps", 0).cancellation(own.clone()));
    heard(&mut events, "running").await;
    for other in [request("writer", 1).session("another"), request("writer", 2).principal("another".parse().unwrap())] {
        assert_eq!(host.call(other).await.code, Code::Completed);
    }
    let waits = spawn(&host, request("writer", 3));
    until(&mut events, |event| word(event) == "pending" && &*event.session == SESSION).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waits.is_finished());
    // A call that waits for its session can be cancelled, and leaves nothing behind.
    let cancelled = Cancellation::new();
    let waits_too = spawn(&host, request("writer", 4).cancellation(cancelled.clone()));
    cancelled.cancel();
    assert_eq!(waits_too.await.unwrap().code, Code::Cancelled);
    own.cancel();
    assert_eq!(sleeping.await.unwrap().code, Code::Cancelled);
    assert_eq!(waits.await.unwrap().code, Code::Completed);
}

/// The calls of a batch may be clones of one request. Each keeps its own part in the order of the session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clones_of_a_request_in_a_batch_are_ordered_each_for_itself() {
    let sleeper = Manifest::of("sleeper").tool(|tool| (tool.required, tool.hints) = (1, 1));
    let desk = Desk::new().with_naps().with_named("sleep-in-execute", &sleeper);
    let host = desk.open().await;
    let mut events = host.events();
    let (sleeps, own) = (request("sleeper", 0), Cancellation::new());
    let requests = vec![sleeps.clone(), sleeps.cancellation(own.clone())];
    let cancellation = Cancellation::new();
    let batch = Batch::new(requests).cancellation(cancellation.clone());
    let batch = tokio::spawn({
        let host = host.clone();
        async move { host.batch(batch).await }
    });
    heard(&mut events, "running").await;
    heard(&mut events, "running").await;
    // The end of one must not end the part of the other.
    own.cancel();
    heard(&mut events, "cancelled").await;
    let writes = spawn(&host, request("writer", 1));
    until(&mut events, |event| word(event) == "pending" && &*event.tool == "writer.run").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!writes.is_finished(), "it ran beside a reader of its session");
    cancellation.cancel();
    assert_eq!(writes.await.unwrap().code, Code::Completed);
    assert!(batch.await.unwrap().iter().all(|reply| reply.code == Code::Cancelled));
}

/// A pending approval, before or during a call, blocks no other call of the session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pending_approval_blocks_no_call_of_its_session() {
    let desk = Desk::new().with_naps().with_asks().with_asked();
    let gate = Gate::closed();
    let host = desk.builder().approver(Arc::clone(&gate) as _).open().await.unwrap();
    let mut events = host.events();
    let asked = spawn(&host, request("asked", 0));
    heard(&mut events, "waiting").await;
    assert_eq!(host.call(request("writer", 1)).await.code, Code::Completed);
    gate.yes.add_permits(1);
    assert_eq!(asked.await.unwrap().code, Code::Completed);

    let asks = spawn(&host, request("asks", 2));
    // The first approval is for the call itself, which then asks while it runs.
    heard(&mut events, "waiting").await;
    gate.yes.add_permits(1);
    heard(&mut events, "running").await;
    heard(&mut events, "waiting").await;
    assert_eq!(host.call(request("writer", 3)).await.code, Code::Completed);
    gate.yes.add_permits(1);
    assert_eq!(asks.await.unwrap().code, Code::Completed);
}

/// Two processes with one state directory, such as two commands, order the calls of a session that they share.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_on_one_state_directory_share_the_order_of_a_session() {
    let sleeps = Manifest::of("sleeps").tool(|tool| tool.hints = 16);
    let desk = Desk::new().with_naps().with_named("sleep-in-execute", &sleeps);
    let one = desk.builder().share_sessions().open().await.unwrap();
    let other = desk.builder().share_sessions().open().await.unwrap();
    let mut events = one.events();
    let own = Cancellation::new();
    let sleeping = spawn(&one, request("sleeps", 0).cancellation(own.clone()));
    heard(&mut events, "running").await;
    let waits = spawn(&other, request("writer", 1));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!waits.is_finished());
    assert_eq!(other.call(request("writer", 2).session("another")).await.code, Code::Completed);
    own.cancel();
    assert_eq!(sleeping.await.unwrap().code, Code::Cancelled);
    assert_eq!(waits.await.unwrap().code, Code::Completed);
}
