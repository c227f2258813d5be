//! Values that replace the application's, for one call or for a host in a test. The plugin does not change.

use crate::services::desk::{Answering, Desk, SEARCH, answered, call, request, steps, take};
use portcullis::services::{Key, Service};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const WORD: Key<String> = Key::new("word");

fn saying(word: Arc<String>) -> Arc<dyn Service> {
    Arc::new(Answering::with(move |_, _, _| Ok(json!(*word))))
}

#[tokio::test]
async fn a_value_in_a_request_applies_only_to_that_call() {
    let made = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&made);
    let desk = Desk::new().await;
    let host = desk
        .builder()
        .provide(&WORD, move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Ok("the application's".to_owned())
        })
        .provide_async(&SEARCH, |injector| async move { Ok(saying(injector.get(&WORD).await?)) })
        .service("search", &SEARCH)
        .open()
        .await
        .unwrap();
    let asked = request(&json!([call("say", "1")]));
    let of = async |request| answered(&take(&host, request).await.0[0]);

    assert_eq!(of(asked.clone().provide(&WORD, "a test's".to_owned())).await, "a test's");
    assert_eq!(made.load(Ordering::SeqCst), 0, "its provider must not run");
    assert_eq!(of(asked.clone()).await, "the application's");

    // The later of two values counts. The service itself can be replaced too.
    let twice = asked.clone().provide(&WORD, "first".to_owned()).provide(&WORD, Arc::new("second".to_owned()));
    assert_eq!(of(twice).await, "second");
    assert_eq!(of(asked.clone().provide(&SEARCH, saying(Arc::new("whole".to_owned())))).await, "whole");

    // A clone from before keeps its own value.
    let one = asked.clone().provide(&WORD, "one".to_owned());
    let other = one.clone().provide(&WORD, "other".to_owned());
    assert_eq!((of(one).await, of(other).await), (json!("one"), json!("other")));
}

#[tokio::test]
async fn a_value_without_a_provider_can_be_in_the_request() {
    let desk = Desk::new().await;
    let host = desk.builder().service("search", &SEARCH).open().await.unwrap();
    let asked = request(&json!([call("say", "1")]));
    let (found, outcome) = take(&host, asked.clone()).await;
    assert_eq!(found, [json!({"unavailable": "failed"})]);
    assert_eq!(outcome["services"]["search"]["detail"], "nothing provides `search`");
    let (found, _) = take(&host, asked.provide(&SEARCH, saying(Arc::new("brought".to_owned())))).await;
    assert_eq!(answered(&found[0]), "brought");
}

#[tokio::test]
async fn the_later_provider_and_the_later_service_replace_the_earlier() {
    const OTHER: Key<dyn Service> = Key::new("other");
    let desk = Desk::new().await;
    let builder = || {
        desk.builder()
            .provide(&SEARCH, |_| Ok(saying(Arc::new("the application's".to_owned()))))
            .service("search", &SEARCH)
    };
    let host = builder().provide(&SEARCH, |_| Ok(saying(Arc::new("a test's".to_owned())))).open().await.unwrap();
    assert_eq!(answered(&steps(&host, json!([call("say", "1")])).await[0]), "a test's");
    drop(host);

    let other = builder().provide(&OTHER, |_| Ok(saying(Arc::new("another".to_owned())))).service("search", &OTHER);
    let host = other.open().await.unwrap();
    assert_eq!(answered(&steps(&host, json!([call("say", "1")])).await[0]), "another");
}
