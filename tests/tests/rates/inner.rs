//! Calls that a tool or a batch makes count like calls of their caller.

use crate::composition::batch::{batch, codes};
use crate::composition::desk::{Desk, EVERY_TOOL, answers, policy, relayed, together, wanted};
use crate::rates::counting::call;
use portcullis::{Code, Host};
use serde_json::{Value, json};

/// Opens a host whose guest may call every tool, with a rate limit. Its desk must be kept.
async fn open(keys: &str) -> (Desk, Host) {
    let rules = "[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n";
    let policy = policy(&format!("{rules}[[rate-limit]]\n{keys}\n"), EVERY_TOOL);
    let desk = Desk::new();
    let host = desk.site.open(&policy).await;
    (desk, host)
}

fn good(number: usize) -> Value {
    wanted("good.run", &json!({ "n": number }))
}

#[tokio::test]
async fn the_calls_of_a_tool_count_for_the_principal_that_it_acts_for() {
    let (_desk, host) = open("tool = 'good.*'\nper = 'principal'\nrate = '1/h'\nburst = 2").await;
    let made = relayed(&host, &[good(1), good(2), good(3)]).await;
    assert!(made[0].get("text").is_some() && made[1].get("text").is_some(), "{made:?}");
    let told = made[2]["unavailable"].as_str().unwrap_or_else(|| panic!("{made:?}"));
    assert!(told.starts_with("Not run: too many calls."), "{told}");
    assert_eq!(call(&host, "good.run", "local").await.code, Code::RateLimited);
}

#[tokio::test]
async fn a_batch_counts_as_one_call_and_as_each_of_its_calls() {
    let (_desk, host) = open("rate = '1/h'\nburst = 3").await;
    let mut codes = codes(&host.call(batch(&[good(1), good(2), good(3)])).await);
    codes.sort();
    assert_eq!(codes, ["completed", "completed", "rate-limited"]);
}

/// Otherwise a limit of one call would refuse every call that a tool or a batch makes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_waits_for_its_calls_is_not_in_progress() {
    let (_desk, host) = open("per = 'principal'\nconcurrent = 1").await;
    for _ in 0..2 {
        let made = relayed(&host, &[good(1), good(2)]).await;
        assert!(made.iter().all(|answer| answer.get("text").is_some()), "{made:?}");
        assert_eq!(codes(&host.call(batch(&[good(1)])).await), ["completed"]);
    }
    // Calls at the same time are limited.
    let made = answers(&host.call(together(&[good(1), good(2), good(3)])).await);
    assert!(made.iter().any(|answer| answer.get("text").is_some()), "{made:?}");
    assert_eq!(call(&host, "good.run", "local").await.code, Code::Completed);
}
