//! Random numbers: the system's, or a sequence from an embedder's seed.

use crate::state::desk::{ONE, builder, call, open, site, take};
use portcullis::Code;
use portcullis_tests::Site;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn steps() -> Value {
    json!([
        {"op": "random", "number": 32},
        {"op": "insecure", "number": 32},
        {"op": "insecure-seed"},
        {"op": "random", "number": 32},
        {"op": "insecure", "number": 32},
    ])
}

async fn seeded(site: &Site, seed: u64) -> Vec<Value> {
    let host = builder(site, "").random_seed(seed).open().await.unwrap();
    let first = take(&host, steps()).await;
    assert_eq!(take(&host, steps()).await, first, "each call must restart the sequence");
    first
}

#[tokio::test]
async fn a_seed_gives_the_same_random_numbers_in_every_host() {
    let (one, two) = (site().await, site().await);
    let found = seeded(&one, 7).await;
    assert_eq!(seeded(&two, 7).await, found);
    assert_ne!(seeded(&one, 8).await, found);
    // Within a call, no two requests get the same bytes, whichever interface they use.
    let different: BTreeSet<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(different.len(), found.len());
    let (random, insecure) = (&found[0]["ok"][0], &found[1]["ok"][0]);
    assert_ne!(random, insecure);
}

#[tokio::test]
async fn without_a_seed_every_call_has_new_random_numbers() {
    let site = site().await;
    let host = open(&site, "").await;
    let (first, second) = (take(&host, steps()).await, take(&host, steps()).await);
    for (first, second) in first.iter().zip(&second) {
        assert_ne!(first, second);
    }
}

#[tokio::test]
async fn a_seed_gives_no_more_bytes_than_the_limit() {
    let site = site().await;
    for seeded in [false, true] {
        let builder = builder(&site, "");
        let builder = if seeded { builder.random_seed(7) } else { builder };
        let host = builder.open().await.unwrap();
        for op in ["random", "insecure"] {
            let reply = call(&host, ONE, &json!([{"op": op, "number": 64 * 1024 + 1}])).await;
            assert_ne!(reply.code, Code::Completed, "{op}");
        }
    }
}
