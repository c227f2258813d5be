//! Quotas of a store, and limits on its use by a call.

use crate::state::desk::{ONE, all, call, get, list, notes, ok, open, refused, set, site, take};
use portcullis::Code;
use serde_json::{Value, json};

const NOTHING: Value = Value::Null;

#[tokio::test]
async fn the_length_of_a_value_is_limited() {
    let site = site().await;
    let host = open(&site, &notes("value-bytes = 10")).await;
    let full = refused("the store is full: a value may have 10 bytes");
    let steps = json!([set("x", "0123456789"), set("x", "0123456789a"), get("x"), set("y", "0123456789a"), list()]);
    let expected = [ok(NOTHING), full.clone(), ok("0123456789"), full, all(&["x"])];
    assert_eq!(take(&host, steps).await, expected);
}

#[tokio::test]
async fn the_number_of_keys_is_limited() {
    let site = site().await;
    let host = open(&site, &notes("keys = 3")).await;
    let flood = json!({"op": "set", "store": "notes", "key": "k{}", "times": 1_000_000});
    let full = "the store is full: it may have 3 keys";
    let delete = json!({"op": "delete", "store": "notes", "key": "k1"});
    let steps =
        json!([flood, list(), set("k2", "over"), set("new", ""), delete, set("new", ""), set("newer", ""), list()]);
    let expected = [
        json!({"error": full, "times": 3}),
        all(&["k0", "k1", "k2"]),
        ok(NOTHING),
        refused(full),
        ok(NOTHING),
        ok(NOTHING),
        refused(full),
        all(&["k0", "k2", "new"]),
    ];
    assert_eq!(take(&host, steps).await, expected);
}

/// Keys count like values, and space that is freed can be used again.
#[tokio::test]
async fn the_size_of_a_store_is_limited() {
    let site = site().await;
    let host = open(&site, &notes("bytes = 20")).await;
    let full = refused("the store is full: it may have 20 bytes in all");
    let delete = json!({"op": "delete", "store": "notes", "key": "12345"});
    let steps = json!([
        set("12345", "12345"),
        set("abcde", "12345"),
        set("x", ""),
        set("abcde", "123456"),
        set("abcde", "1234"),
        set("x", ""),
        delete,
        set("abcde", "12345678901234"),
        list(),
    ]);
    let expected = [
        ok(NOTHING),
        ok(NOTHING),
        full.clone(),
        full.clone(),
        ok(NOTHING),
        ok(NOTHING),
        ok(NOTHING),
        ok(NOTHING),
        all(&["abcde", "x"]),
    ];
    assert_eq!(take(&host, steps).await, expected);
    assert_eq!(take(&host, json!([set("y", "")])).await, [full]);
}

#[tokio::test]
async fn a_store_over_a_new_quota_can_be_read_and_shrunk() {
    let site = site().await;
    let host = open(&site, &notes("")).await;
    let long = "x".repeat(1000);
    take(&host, json!([set("a", &long), set("b", &long), set("c", &long)])).await;
    drop(host);
    let host = open(&site, &notes("keys = 1, bytes = 1000, value-bytes = 1000")).await;
    let steps = json!([get("a"), set("a", &long), set("a", &long[..900]), set("a", &long), set("d", ""), list()]);
    let full = "the store is full: it may have 1000 bytes in all";
    let expected = [
        ok(long),
        ok(NOTHING),
        ok(NOTHING),
        refused(full),
        refused("the store is full: it may have 1 keys"),
        all(&["a", "b", "c"]),
    ];
    assert_eq!(take(&host, steps).await, expected);
}

#[tokio::test]
async fn a_value_of_a_gigabyte_is_rejected_without_harm_to_others() {
    let site = site().await;
    let host = open(&site, &notes("value-bytes = \"1 MiB\", bytes = \"1 MiB\"")).await;
    for megabytes in [9, 40, 1000] {
        let flood =
            json!({"op": "set", "store": "notes", "key": "x", "text": "y".repeat(1000), "copies": megabytes * 1000});
        let reply = call(&host, ONE, &json!([flood])).await;
        assert_ne!(reply.code, Code::Completed, "{megabytes} MB");
    }
    assert_eq!(take(&host, json!([list(), set("x", "1"), get("x")])).await, [all(&[]), ok(NOTHING), ok("1")]);
}

#[tokio::test]
async fn a_key_has_1_to_512_bytes() {
    let site = site().await;
    let host = open(&site, &notes("")).await;
    let refusal = refused("a key must have 1 to 512 bytes");
    let (longest, longer, umlauts) = ("k".repeat(512), "k".repeat(513), "ä".repeat(257));
    for key in ["", &longer, &umlauts] {
        for op in ["set", "get", "exists", "delete"] {
            let step = json!({"op": op, "store": "notes", "key": key});
            assert_eq!(take(&host, json!([step])).await, std::slice::from_ref(&refusal), "{op}");
        }
    }
    assert_eq!(take(&host, json!([set(&longest, "kept"), get(&longest)])).await[1], ok("kept"));
}

#[tokio::test]
async fn the_number_of_store_operations_per_call_is_limited() {
    let site = site().await;
    let host = open(&site, &notes("")).await;
    let spent = "a call can make at most 10000 store operations";
    let hammer = json!({"op": "exists", "store": "notes", "key": "x", "times": 1_000_000});
    let mut steps = vec![hammer];
    steps.extend(["get", "set", "delete", "exists", "list"].map(|op| json!({"op": op, "store": "notes", "key": "x"})));
    let found = take(&host, Value::Array(steps)).await;
    assert_eq!(found[0], json!({"error": spent, "times": 10_000}));
    assert!(found[1..].iter().all(|found| *found == refused(spent)), "{found:?}");
    assert_eq!(take(&host, json!([set("x", "1"), get("x")])).await[1], ok("1"), "the next call has its own limit");
}

#[tokio::test]
async fn the_bytes_sent_to_stores_per_call_are_limited() {
    let site = site().await;
    let host = open(&site, &notes("value-bytes = \"4 MiB\", bytes = \"8 MiB\"")).await;
    let text = "x".repeat(1024);
    let rewrite = json!({"op": "set", "store": "notes", "key": "x", "text": text, "copies": 4096, "times": 1000});
    let expected = json!({"error": "a call can send at most 67108864 bytes to its stores", "times": 15});
    assert_eq!(take(&host, json!([rewrite, set("y", "")])).await, [expected, ok(NOTHING)]);
}

#[tokio::test]
async fn an_increment_respects_the_quotas_and_changes_nothing_on_failure() {
    let site = site().await;
    let host = open(&site, &notes("keys = 2, value-bytes = 3, bytes = 8")).await;
    let add = |key: &str, number: u64| json!({"op": "increment", "store": "notes", "key": key, "number": number});
    let steps = json!([
        add("n", 998),
        add("n", 1),
        add("n", 1),
        get("n"),
        add("m", 1),
        add("o", 1),
        set("m", "07"),
        add("m", 1),
        get("m"),
        add("", 1),
    ]);
    let found = take(&host, steps).await;
    let number = refused("it cannot be incremented: the value is not a whole number");
    let expected = [
        ok(json!(998)),
        ok(json!(999)),
        refused("the store is full: a value may have 3 bytes"),
        ok("999"),
        ok(json!(1)),
        refused("the store is full: it may have 2 keys"),
        ok(NOTHING),
        number,
        ok("07"),
        refused("a key must have 1 to 512 bytes"),
    ];
    assert_eq!(found, expected);
}
