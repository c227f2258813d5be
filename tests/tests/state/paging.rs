//! Listings: in pages, in a stable order, whatever is deleted meanwhile.

use crate::state::desk::{all, notes, ok, open, site, take};
use portcullis::Host;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Maximum number of keys per page.
const PAGE: usize = 1000;

async fn page(host: &Host, cursor: &Value) -> (Vec<String>, Value) {
    let step = json!({"op": "list", "store": "notes", "number": cursor});
    let page = take(host, json!([step])).await.remove(0)["ok"].take();
    (serde_json::from_value(page["keys"].clone()).unwrap(), page["cursor"].clone())
}

async fn pages(host: &Host) -> Vec<Vec<String>> {
    let (mut pages, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let (keys, next) = page(host, &cursor).await;
        pages.push(keys);
        if next.is_null() {
            return pages;
        }
        assert_ne!(next, cursor);
        cursor = next;
    }
}

async fn filled(host: &Host, keys: usize) {
    let fill = json!({"op": "set", "store": "notes", "key": "k{}", "times": keys});
    assert_eq!(take(host, json!([fill])).await[0]["times"], keys);
}

fn numbered(numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|number| format!("k{number}")).collect()
}

#[tokio::test]
async fn all_keys_are_listed_once_in_the_order_of_their_creation() {
    let site = site().await;
    let host = open(&site, &notes("keys = 10000")).await;
    for (keys, sizes) in
        [(0, vec![0]), (1, vec![1]), (PAGE, vec![PAGE]), (PAGE + 1, vec![PAGE, 1]), (2500, vec![1000, 1000, 500])]
    {
        filled(&host, keys).await;
        let pages = pages(&host).await;
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
        assert_eq!(pages.concat(), numbered(0..keys), "{keys} keys");
    }
}

#[tokio::test]
async fn a_listing_continues_correctly_after_deletions_and_insertions() {
    let site = site().await;
    let host = open(&site, &notes("keys = 10000")).await;
    filled(&host, 2200).await;
    let (first, cursor) = page(&host, &Value::Null).await;
    assert_eq!(first, numbered(0..PAGE));
    // Delete keys that were listed, the last listed key, the next key, and others. Then restore two, and overwrite one.
    let gone = [0, 500, PAGE - 1, PAGE, PAGE + 1, 1700];
    let mut steps = gone.map(|number| json!({"op": "delete", "store": "notes", "key": format!("k{number}")})).to_vec();
    steps.extend(["k500", "k0", "k3"].map(|key| json!({"op": "set", "store": "notes", "key": key, "text": "new"})));
    let done = take(&host, Value::Array(steps)).await;
    assert!(done.iter().all(|done| *done == ok(Value::Null)), "{done:?}");
    let (second, cursor) = page(&host, &cursor).await;
    let (third, end) = page(&host, &cursor).await;
    assert_eq!(end, Value::Null);
    let mut expected = numbered((PAGE..2200).filter(|number| !gone.contains(number)));
    expected.extend(["k500".to_owned(), "k0".to_owned()]);
    assert_eq!([second, third].concat(), expected);
}

#[tokio::test]
async fn a_page_of_long_keys_is_shorter() {
    let site = site().await;
    let host = open(&site, &notes("")).await;
    let long = "x".repeat(508);
    let keys = (100..400).map(|number| json!({"op": "set", "store": "notes", "key": format!("{number}{long}")}));
    take(&host, keys.collect()).await;
    let pages = pages(&host).await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [128, 128, 44]);
    assert_eq!(pages.concat().into_iter().collect::<BTreeSet<_>>().len(), 300);
}

#[tokio::test]
async fn a_forged_cursor_leads_nowhere_else() {
    let site = site().await;
    let host = open(&site, &notes("")).await;
    filled(&host, 3).await;
    for (cursor, keys) in
        [(0, &["k0", "k1", "k2"][..]), (2, &["k2"]), (3, &[]), (1 << 40, &[]), (1 << 63, &[]), (u64::MAX, &[])]
    {
        let step = json!({"op": "list", "store": "notes", "number": cursor});
        assert_eq!(
            take(&host, json!([step, {"op": "exists", "store": "notes", "key": "k0"}])).await,
            [all(keys), ok(true)]
        );
    }
}
