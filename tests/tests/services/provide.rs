//! Provided values: made on first use, once per call, from other values and from the details of the call.

use crate::services::desk::{Answering, Desk, Dropped, SEARCH, answered, call, request, results, steps};
use portcullis::services::{CallFacts, Injector, Key, Service, ServiceError};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Barrier;

struct Pool(u32);

const POOL: Key<Pool> = Key::new("pool");

/// A service that returns the number of its pool.
fn over(pool: Arc<Pool>) -> Arc<dyn Service> {
    Arc::new(Answering::with(move |_, _, _| Ok(json!(pool.0))))
}

/// Counts from 1.
fn counter() -> (Arc<AtomicU32>, impl Fn() -> u32 + Clone) {
    let count = Arc::new(AtomicU32::new(0));
    let shared = Arc::clone(&count);
    (count, move || shared.fetch_add(1, Ordering::SeqCst) + 1)
}

#[tokio::test]
async fn a_value_is_made_once_per_call() {
    let (made, next) = counter();
    let desk = Desk::binding(
        "service.search = { name = \"search\" }\nservice.other = { name = \"other\", methods = [\"look\"] }",
    )
    .await;
    const OTHER: Key<dyn Service> = Key::new("other");
    let host = desk
        .builder()
        .provide(&POOL, move |_| Ok(Pool(next())))
        .provide_async(&SEARCH, |injector| async move { Ok(over(injector.get(&POOL).await?)) })
        .provide_async(&OTHER, |injector| async move { Ok(over(injector.get(&POOL).await?)) })
        .service("search", &SEARCH)
        .service("other", &OTHER)
        .open()
        .await
        .unwrap();
    for number in 1..=2 {
        let found = steps(
            &host,
            json!([
                {"key": "search", "method": "look", "input": "1", "times": 3},
                {"key": "other", "method": "look", "input": "1"},
                {"key": "search", "again": true, "times": 5},
                {"key": "search", "method": "look", "input": "1"},
            ]),
        )
        .await;
        for answer in [&found[0], &found[1], &found[3]] {
            assert_eq!(answered(answer), json!(number));
        }
        assert_eq!(made.load(Ordering::SeqCst), number);
    }
    // A call that opens nothing makes no value.
    steps(&host, json!([])).await;
    assert_eq!(made.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_provider_and_a_service_know_their_call() {
    let facts = |call: &CallFacts| {
        json!({
            "id": call.id(), "session": call.session(), "principal": call.principal(), "agent": call.agent(),
            "tool": call.tool().to_string(), "steps": call.arguments()["steps"].as_array().unwrap().len(),
        })
    };
    let desk = Desk::new().await;
    let provider = move |injector: &Injector| {
        let known = facts(injector.call());
        let service = Answering::with(move |call, _, _| Ok(json!([known, facts(call)])));
        Ok(Arc::new(service) as Arc<dyn Service>)
    };
    let host = desk.builder().provide(&SEARCH, provider).service("search", &SEARCH).open().await.unwrap();
    let asked = request(&json!([call("look", "1")])).session("s").principal("ada".parse().unwrap()).agent("scout");
    let reply = host.call(asked).await;
    let expected = json!({
        "id": reply.id, "session": "s", "principal": "ada", "agent": "scout", "tool": "service.run", "steps": 1,
    });
    assert_eq!(answered(&results(&reply)[0]), json!([expected, expected]));
}

#[tokio::test]
async fn a_value_that_two_providers_request_concurrently_is_made_once() {
    let (made, next) = counter();
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide_async(&POOL, move |_| {
            let number = next();
            async move {
                tokio::task::yield_now().await;
                Ok(Pool(number))
            }
        })
        .provide_async(&SEARCH, |injector| async move {
            let (one, other) = tokio::join!(injector.get(&POOL), injector.get(&POOL));
            let (one, other) = (one?, other?);
            let same = Arc::ptr_eq(&one, &other);
            Ok(Arc::new(Answering::with(move |_, _, _| Ok(json!(same)))) as Arc<dyn Service>)
        })
        .service("search", &SEARCH)
        .open()
        .await
        .unwrap();
    assert_eq!(answered(&steps(&host, json!([call("look", "1")])).await[0]), json!(true));
    assert_eq!(made.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_provider_that_failed_is_not_tried_again_in_the_same_call() {
    let (tried, next) = counter();
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide(&SEARCH, move |_| Err::<Arc<dyn Service>, _>(format!("attempt {}", next()).into()))
        .service("search", &SEARCH)
        .open()
        .await
        .unwrap();
    for number in 1..=2 {
        let found = steps(&host, json!([{"key": "search", "times": 5}])).await;
        assert_eq!(found, [json!({"unavailable": "failed"})]);
        assert_eq!(tried.load(Ordering::SeqCst), number);
    }
}

#[tokio::test]
async fn keys_with_one_name_and_different_types_are_different() {
    const WORD: Key<String> = Key::new("pool");
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide(&POOL, |_| Ok(Pool(7)))
        .provide(&WORD, |_| Ok("seven".to_owned()))
        .provide_async(&SEARCH, |injector| async move {
            let (pool, word) = (injector.get(&POOL).await?, injector.get(&WORD).await?);
            Ok(Arc::new(Answering::with(move |_, _, _| Ok(json!([pool.0, *word])))) as Arc<dyn Service>)
        })
        .service("search", &SEARCH)
        .open()
        .await
        .unwrap();
    assert_eq!(answered(&steps(&host, json!([call("look", "1")])).await[0]), json!([7, "seven"]));
}

/// Keeps the injector that made it, which would leak the value of a careless application.
struct Keeping(Mutex<Vec<Injector>>, #[expect(dead_code, reason = "it says when this is dropped")] Dropped);

impl Service for Keeping {
    fn call<'a>(
        &'a self,
        _: &'a CallFacts,
        _: &'a str,
        _: Value,
    ) -> portcullis::BoxFuture<'a, Result<Value, ServiceError>> {
        Box::pin(async move { Ok(json!(self.0.lock().unwrap().len())) })
    }
}

#[tokio::test]
async fn values_are_dropped_with_their_call_and_a_kept_injector_has_none() {
    const KEEPING: Key<Keeping> = Key::new("keeping");
    let dropped = Arc::new(AtomicU32::new(0));
    let kept: Arc<Mutex<Option<Injector>>> = Arc::default();
    let (notes, outside) = (Arc::clone(&dropped), Arc::clone(&kept));
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide(&POOL, |_| Ok(Pool(1)))
        .provide_async(&KEEPING, move |injector| {
            *outside.lock().unwrap() = Some(injector.clone());
            let dropped = Dropped(Arc::clone(&notes));
            async move { Ok(Keeping(Mutex::new(vec![injector]), dropped)) }
        })
        .service("search", &KEEPING)
        .open()
        .await
        .unwrap();
    assert_eq!(answered(&steps(&host, json!([call("look", "1")])).await[0]), json!(1));
    assert_eq!(dropped.load(Ordering::SeqCst), 1, "the value must be dropped when the call has ended");
    let kept = kept.lock().unwrap().take().unwrap();
    let late = kept.get(&POOL).await.map(|_| ()).unwrap_err();
    assert_eq!(late.to_string(), "the call has ended");
}

#[tokio::test]
async fn concurrent_calls_have_their_own_values() {
    let together = Arc::new(Barrier::new(2));
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide_async(&SEARCH, move |injector| {
            let together = Arc::clone(&together);
            async move {
                // Both calls are making their value.
                together.wait().await;
                let of = injector.call().principal().to_owned();
                let same = move |call: &CallFacts, _: &str, _: Value| Ok(json!([of, call.principal()]));
                Ok(Arc::new(Answering::with(same)) as Arc<dyn Service>)
            }
        })
        .service("search", &SEARCH)
        .open()
        .await
        .unwrap();
    let ask = |who: &str| host.call(request(&json!([call("look", "1")])).principal(who.parse().unwrap()));
    let (ada, bob) = tokio::join!(ask("ada"), ask("bob"));
    assert_eq!(answered(&results(&ada)[0]), json!(["ada", "ada"]));
    assert_eq!(answered(&results(&bob)[0]), json!(["bob", "bob"]));
}
