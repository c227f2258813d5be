//! A new policy keeps the counts of the limits that it does not change.

use crate::rates::counting::{ALLOW, call, limited};
use crate::reload::policy::{entries, open, write};
use portcullis::Code;
use portcullis_tests::Site;

#[tokio::test]
async fn a_reload_keeps_the_counts_of_limits_whose_numbers_did_not_change() {
    let site = Site::new();
    let host = open(&site, &limited("rate = '1/h'\nburst = 2")).await;
    for code in [Code::Completed, Code::Completed, Code::RateLimited] {
        assert_eq!(call(&host, "good.run", "alice").await.code, code);
    }
    // Another line, another order, and one more limit.
    write(&site, &limited("\nconcurrent = 9\n[[rate-limit]]\nburst = 2\nrate = '1/h'"));
    host.reload().await.unwrap();
    assert_eq!(call(&host, "good.run", "alice").await.code, Code::RateLimited);
    write(&site, &limited("rate = '1/h'\nburst = 3"));
    host.reload().await.unwrap();
    assert_eq!(call(&host, "good.run", "alice").await.code, Code::Completed);
    write(&site, ALLOW);
    host.reload().await.unwrap();
    for _ in 0..5 {
        assert_eq!(call(&host, "good.run", "alice").await.code, Code::Completed);
    }
    let changed: Vec<String> = entries(&host, "policy").iter().map(|entry| entry["changed"].to_string()).collect();
    assert_eq!(changed.iter().filter(|changed| changed.contains("rate-limits")).count(), 3, "{changed:?}");
}
