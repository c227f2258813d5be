//! A site with a guest that opens services and calls them, and services to be called.

use portcullis::services::{CallFacts, Key, Service, ServiceError};
use portcullis::{BoxFuture, Code, Host, HostBuilder, Reply, Request};
use portcullis_tests::{Site, allow_all, built_guest, outcome_of};
use serde_json::{Value, json};
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The service behind most tests, as a trait: a test provides what it needs.
pub(crate) const SEARCH: Key<dyn Service> = Key::new("search");

/// Binds the guest's key `search` to the service of the same name, with all its methods.
pub(crate) const BOUND: &str = r#"service.search = { name = "search" }"#;

/// The site, with no host open on it.
pub(crate) struct Desk {
    site: Site,
    policy: String,
}

impl Desk {
    /// The policy binds the key `search`.
    pub(crate) async fn new() -> Self {
        Self::binding(BOUND).await
    }

    /// The policy says this of the plugin.
    pub(crate) async fn binding(section: &str) -> Self {
        let site = site();
        site.warm();
        Self { site, policy: allow_all("time = \"20 s\"") + "[plugin.service]\n" + section + "\n" }
    }

    /// A builder of a host without any service.
    pub(crate) fn builder(&self) -> HostBuilder {
        self.site.builder(&self.policy)
    }

    /// A host whose service `search` is this one.
    pub(crate) async fn serving(&self, service: impl Service) -> Host {
        let service: Arc<dyn Service> = Arc::new(service);
        self.builder()
            .provide(&SEARCH, move |_| Ok(Arc::clone(&service)))
            .service("search", &SEARCH)
            .open()
            .await
            .unwrap()
    }
}

fn site() -> Site {
    let site = Site::new();
    site.plugin("service", &built_guest("service"));
    site
}

/// A request that takes these steps.
pub(crate) fn request(steps: &Value) -> Request {
    Request::new("service.run", json!({ "steps": steps }).to_string())
}

/// Takes steps, and says what came of each, with the outcome in the record.
pub(crate) async fn take(host: &Host, request: Request) -> (Vec<Value>, Value) {
    let reply = host.call(request).await;
    (results(&reply), outcome_of(host, &reply.id))
}

/// Takes steps, and says what came of each.
pub(crate) async fn steps(host: &Host, steps: Value) -> Vec<Value> {
    take(host, request(&steps)).await.0
}

/// What came of each step of a call that completed.
pub(crate) fn results(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    serde_json::from_str(&reply.message).unwrap()
}

/// What a service answered, read as JSON.
pub(crate) fn answered(result: &Value) -> Value {
    let text = result["ok"].as_str().unwrap_or_else(|| panic!("no answer, but {result}"));
    serde_json::from_str(text).unwrap()
}

/// One call of a method.
pub(crate) fn call(method: &str, input: &str) -> Value {
    json!({ "key": "search", "method": method, "input": input })
}

type Answer = dyn Fn(&CallFacts, &str, Value) -> Result<Value, ServiceError> + Send + Sync;

/// A service that answers at once, and counts how often it is reached.
#[derive(Clone)]
pub(crate) struct Answering {
    answer: Arc<Answer>,
    pub(crate) reached: Arc<AtomicU32>,
}

impl Answering {
    pub(crate) fn with(
        answer: impl Fn(&CallFacts, &str, Value) -> Result<Value, ServiceError> + Send + Sync + 'static,
    ) -> Self {
        Self { answer: Arc::new(answer), reached: Arc::default() }
    }

    /// Answers with the method and its input.
    pub(crate) fn echo() -> Self {
        Self::with(|_, method, input| Ok(json!({ "method": method, "input": input })))
    }

    pub(crate) fn times(&self) -> u32 {
        self.reached.load(Ordering::SeqCst)
    }
}

impl Service for Answering {
    fn call<'a>(
        &'a self,
        call: &'a CallFacts,
        method: &'a str,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, ServiceError>> {
        self.reached.fetch_add(1, Ordering::SeqCst);
        Box::pin(ready((self.answer)(call, method, input)))
    }
}

/// Notes when it is dropped.
#[derive(Default)]
pub(crate) struct Dropped(pub(crate) Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
