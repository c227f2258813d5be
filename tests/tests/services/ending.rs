//! A provider or a service that never ends: the end of the call stops it and drops its values.

use crate::services::desk::{Desk, Dropped, SEARCH, call, request};
use portcullis::services::{CallFacts, Service, ServiceError};
use portcullis::{BoxFuture, Cancellation, Code, Host, LimitKind};
use portcullis_tests::{outcome_of, outcomes};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::sync::Notify;

/// Never returns. Records its calls, and the drops of its future and of itself.
struct Stuck {
    reached: Arc<Notify>,
    future: Arc<AtomicU32>,
    _itself: Dropped,
}

impl Service for Stuck {
    fn call<'a>(&'a self, _: &'a CallFacts, _: &'a str, _: Value) -> BoxFuture<'a, Result<Value, ServiceError>> {
        Box::pin(async move {
            let _dropped = Dropped(Arc::clone(&self.future));
            self.reached.notify_one();
            pending().await
        })
    }
}

#[derive(Clone, Default)]
struct Signs {
    reached: Arc<Notify>,
    future: Arc<AtomicU32>,
    itself: Arc<AtomicU32>,
}

impl Signs {
    /// Opens a host whose service or provider never returns.
    async fn open(&self, desk: &Desk, stuck_provider: bool) -> Host {
        let signs = self.clone();
        let builder = desk.builder().provide_async(&SEARCH, move |_| {
            let signs = signs.clone();
            async move {
                let itself = Dropped(signs.itself);
                if stuck_provider {
                    let _dropped = Dropped(Arc::clone(&signs.future));
                    signs.reached.notify_one();
                    pending::<()>().await;
                }
                Ok(Arc::new(Stuck { reached: signs.reached, future: signs.future, _itself: itself })
                    as Arc<dyn Service>)
            }
        });
        builder.service("search", &SEARCH).open().await.unwrap()
    }

    fn assert_dropped(&self) {
        assert_eq!(self.future.load(Ordering::SeqCst), 1, "its future must be dropped");
        assert_eq!(self.itself.load(Ordering::SeqCst), 1, "the value must be dropped");
    }
}

fn look() -> Value {
    json!([call("look", "1")])
}

#[tokio::test]
async fn the_time_limit_of_a_call_stops_a_service() {
    for stuck_provider in [false, true] {
        let desk = Desk::binding("limits.time = \"300 ms\"\nservice.search = { name = \"search\" }").await;
        let signs = Signs::default();
        let host = signs.open(&desk, stuck_provider).await;
        let reply = host.call(request(&look())).await;
        assert_eq!(reply.code, Code::Limit(LimitKind::Time), "{}", reply.message);
        signs.assert_dropped();
        let methods = if stuck_provider { json!({}) } else { json!({"look": 1}) };
        let services = &outcome_of(&host, &reply.id)["services"];
        assert_eq!(*services, json!({"search": {"name": "search", "methods": methods}}));
    }
}

#[tokio::test]
async fn cancelling_a_call_stops_a_service() {
    for stuck_provider in [false, true] {
        let desk = Desk::new().await;
        let signs = Signs::default();
        let host = signs.open(&desk, stuck_provider).await;
        let cancellation = Cancellation::new();
        let asked = request(&look()).cancellation(cancellation.clone());
        let (reply, ()) = tokio::join!(host.call(asked), async {
            signs.reached.notified().await;
            cancellation.cancel();
        });
        assert_eq!(reply.code, Code::Cancelled, "{}", reply.message);
        signs.assert_dropped();
    }
}

#[tokio::test]
async fn dropping_a_call_stops_a_service_and_records_the_call() {
    let desk = Desk::new().await;
    let signs = Signs::default();
    let host = signs.open(&desk, false).await;
    tokio::select! {
        _ = host.call(request(&look())) => unreachable!("it is stuck"),
        () = signs.reached.notified() => {}
    }
    signs.assert_dropped();
    let outcome = outcomes(&host).remove(0);
    assert_eq!(
        (&outcome["outcome"], &outcome["services"]),
        (&json!("cancelled"), &json!({"search": {"name": "search", "methods": {"look": 1}}}),)
    );
}
