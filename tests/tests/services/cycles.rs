//! Providers that depend on each other: they get an error, wherever the cycle starts, and never wait forever.

use crate::services::desk::{Answering, Desk, SEARCH, request, take};
use portcullis::HostBuilder;
use portcullis::services::{InjectError, Injector, Key, ProviderError, Service};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

struct Thing;

const A: Key<Thing> = Key::new("a");
const B: Key<Thing> = Key::new("b");
const C: Key<Thing> = Key::new("c");

/// The dependencies between the service and the three values.
struct Case {
    name: &'static str,
    wants: fn(HostBuilder) -> HostBuilder,
    circle: &'static str,
}

async fn after(injector: Injector, first: &'static Key<Thing>) -> Result<Thing, ProviderError> {
    injector.get(first).await?;
    Ok(Thing)
}

async fn after_both(
    injector: Injector,
    one: &'static Key<Thing>,
    other: &'static Key<Thing>,
) -> Result<Thing, ProviderError> {
    let (one, other) = tokio::join!(
        async {
            tokio::task::yield_now().await;
            injector.get(one).await
        },
        injector.get(other)
    );
    one.and(other)?;
    Ok(Thing)
}

/// Requests one value, after the others had time to request theirs.
async fn slowly_after(injector: Injector, first: &'static Key<Thing>) -> Result<Thing, ProviderError> {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
    after(injector, first).await
}

const CASES: [Case; 3] = [
    Case { name: "itself", wants: |host| host.provide_async(&A, |injector| after(injector, &A)), circle: "a -> a" },
    Case {
        name: "two",
        wants: |host| {
            host.provide_async(&A, |injector| after(injector, &B)).provide_async(&B, |injector| after(injector, &A))
        },
        circle: "b -> a -> b",
    },
    Case {
        // The names in the path do not show the cycle here. Only the waits between values do.
        name: "two branches that meet",
        wants: |host| {
            host.provide_async(&A, |injector| after_both(injector, &B, &C))
                .provide_async(&B, |injector| slowly_after(injector, &C))
                .provide_async(&C, |injector| slowly_after(injector, &B))
        },
        circle: " -> ",
    },
];

#[tokio::test]
async fn a_dependency_cycle_is_an_error() {
    for case in &CASES {
        let desk = Desk::new().await;
        let host = (case.wants)(desk.builder())
            .provide_async(&SEARCH, |injector| async move {
                injector.get(&A).await?;
                Ok(Arc::new(Answering::echo()) as Arc<dyn Service>)
            })
            .service("search", &SEARCH)
            .open()
            .await
            .unwrap();
        let taken = take(&host, request(&json!([{"key": "search"}])));
        let (found, outcome) = tokio::time::timeout(Duration::from_secs(10), taken).await.expect(case.name);
        assert_eq!(found, [json!({"unavailable": "failed"})], "{}", case.name);
        let detail = outcome["services"]["search"]["detail"].as_str().unwrap();
        assert!(detail.contains("need each other") && detail.contains(case.circle), "{}: {detail}", case.name);
    }
}

#[tokio::test]
async fn a_provider_can_handle_a_cycle_error() {
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide_async(&A, |injector| async move {
            match injector.get(&B).await {
                Err(InjectError::Failed { .. }) => Ok(Thing),
                Err(error) => Err(error.into()),
                Ok(_) => Err("there is no B without A".into()),
            }
        })
        .provide_async(&B, |injector| after(injector, &A))
        .provide_async(&SEARCH, |injector| async move {
            injector.get(&A).await?;
            Ok(Arc::new(Answering::echo()) as Arc<dyn Service>)
        })
        .service("search", &SEARCH)
        .open()
        .await
        .unwrap();
    let (found, _) = take(&host, request(&json!([{"key": "search"}]))).await;
    assert_eq!(found, [json!("open")]);
}

#[tokio::test]
async fn two_providers_that_share_a_third_are_not_a_cycle() {
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide_async(&A, |injector| after_both(injector, &B, &C))
        .provide_async(&B, |injector| slowly_after(injector, &C))
        .provide_async(&C, |_| async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            Ok(Thing)
        })
        .provide_async(&SEARCH, |injector| async move {
            injector.get(&A).await?;
            Ok(Arc::new(Answering::echo()) as Arc<dyn Service>)
        })
        .service("search", &SEARCH)
        .open()
        .await
        .unwrap();
    let (found, outcome) = take(&host, request(&json!([{"key": "search"}]))).await;
    assert_eq!(found, [json!("open")], "{outcome}");
}
