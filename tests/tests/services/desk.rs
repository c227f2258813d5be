//! A site with a guest that opens services and calls them, and services for it.

use portcullis::services::{CallFacts, Key, Service, ServiceError};
use portcullis::{BoxFuture, Code, Host, HostBuilder, Reply, Request};
use portcullis_tests::{Site, allow_all, built_guest, outcome_of};
use serde_json::{Value, json};
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The service of most tests, as a trait: each test provides its own implementation.
pub(crate) const SEARCH: Key<dyn Service> = Key::new("search");

/// Binds the guest's key `search` to the service of the same name, with all its methods.
pub(crate) const BOUND: &str = r#"service.search = { name = "search" }"#;

/// A site on which no host is open.
pub(crate) struct Desk {
    site: Site,
    policy: String,
}

impl Desk {
    /// Makes a site whose policy binds the key `search`.
    pub(crate) async fn new() -> Self {
        Self::binding(BOUND).await
    }

    /// Makes a site with these policy lines for the plugin.
    pub(crate) async fn binding(section: &str) -> Self {
        let site = site();
        site.warm();
        Self { site, policy: allow_all("time = \"20 s\"") + "[plugin.service]\n" + section + "\n" }
    }

    /// Returns a builder of a host without services.
    pub(crate) fn builder(&self) -> HostBuilder {
        self.site.builder(&self.policy)
    }

    /// Opens a host with this service as `search`.
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

/// Builds a request that performs these steps.
pub(crate) fn request(steps: &Value) -> Request {
    Request::new("service.run", json!({ "steps": steps }).to_string())
}

/// Performs steps. Returns the result of each, and the recorded outcome.
pub(crate) async fn take(host: &Host, request: Request) -> (Vec<Value>, Value) {
    let reply = host.call(request).await;
    (results(&reply), outcome_of(host, &reply.id))
}

/// Performs steps. Returns the result of each.
pub(crate) async fn steps(host: &Host, steps: Value) -> Vec<Value> {
    take(host, request(&steps)).await.0
}

/// Returns the result of each step of a completed call.
pub(crate) fn results(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.code, Code::Completed, "{}", reply.message);
    serde_json::from_str(&reply.message).unwrap()
}

/// Parses the JSON that a service returned.
pub(crate) fn answered(result: &Value) -> Value {
    let text = result["ok"].as_str().unwrap_or_else(|| panic!("no answer, but {result}"));
    serde_json::from_str(text).unwrap()
}

/// Builds a step that calls a method.
pub(crate) fn call(method: &str, input: &str) -> Value {
    json!({ "key": "search", "method": method, "input": input })
}

type Answer = dyn Fn(&CallFacts, &str, Value) -> Result<Value, ServiceError> + Send + Sync;

/// A service that returns immediately and counts its calls.
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

    /// Returns the method and its input.
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

/// Records when it is dropped.
#[derive(Default)]
pub(crate) struct Dropped(pub(crate) Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}
