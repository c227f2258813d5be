//! How many calls may be in progress at one time.

use crate::calls::desk::{until, word};
use crate::rates::counting::{call, limited};
use portcullis::{Cancellation, Code, Host, Reply, Request};
use portcullis_tests::{Manifest, Site, guest};
use tokio::task::JoinHandle;

/// Opens a host with a tool that never ends. Its site must be kept.
async fn open(keys: &str) -> (Site, Host) {
    let site = Site::new();
    site.plugin("sleep-in-execute", &guest("sleep-in-execute", &Manifest::of("sleep-in-execute")));
    let host = site.open(&format!("{}[limits]\ntime = \"60 s\"\n", limited(keys))).await;
    (site, host)
}

/// Begins a call that never ends, and waits until it runs.
async fn sleeping(host: &Host, principal: &str, own: &Cancellation) -> JoinHandle<Reply> {
    let mut events = host.events();
    let request = Request::new("sleep-in-execute.run", "{}").principal(principal.parse().unwrap());
    let (request, caller) = (request.session(principal).cancellation(own.clone()), host.clone());
    let call = tokio::spawn(async move { caller.call(request).await });
    until(&mut events, |event| word(event) == "running").await;
    call
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_beyond_those_in_progress_are_refused_until_one_ends() {
    let (_site, host) = open("per = 'principal'\nconcurrent = 2").await;
    let (one, two, other) = (Cancellation::new(), Cancellation::new(), Cancellation::new());
    let first = sleeping(&host, "alice", &one).await;
    let second = sleeping(&host, "alice/agent", &two).await;
    let refused = call(&host, "good.run", "alice").await;
    assert_eq!(refused.code, Code::RateLimited);
    let told = "Not run: too many calls at the same time. The policy allows 2 calls of any tool in progress. Make the \
                same call again when one of them has ended.";
    assert_eq!(refused.message, told);
    assert!(refused.retry_after.is_some());
    let third = sleeping(&host, "bob", &other).await;
    assert_eq!(call(&host, "good.run", "bob").await.code, Code::Completed);
    // The place is free before the caller has its reply.
    one.cancel();
    assert_eq!(first.await.unwrap().code, Code::Cancelled);
    for _ in 0..3 {
        assert_eq!(call(&host, "good.run", "alice").await.code, Code::Completed);
    }
    two.cancel();
    other.cancel();
    assert_eq!((second.await.unwrap().code, third.await.unwrap().code), (Code::Cancelled, Code::Cancelled));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_future_is_dropped_gives_its_place_back() {
    let (_site, host) = open("concurrent = 1").await;
    let running = sleeping(&host, "alice", &Cancellation::new()).await;
    assert_eq!(call(&host, "good.run", "alice").await.code, Code::RateLimited);
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    assert_eq!(call(&host, "good.run", "alice").await.code, Code::Completed);
}

#[tokio::test]
async fn an_explanation_does_not_count_itself() {
    let (_site, host) = open("concurrent = 1").await;
    let told = host.call(Request::new("tools.explain", r#"{"tool":"good.run"}"#)).await;
    assert_eq!((told.code, told.message.as_str()), (Code::Completed, "The call would run now."));
}
