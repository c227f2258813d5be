//! Every command that opens a ledger that was replaced by an older copy reports it, and its content is ignored. G07.

use crate::binary::desk::{Desk, OPEN};
use serde_json::json;
use std::fs;

#[test]
fn an_older_ledger_is_reported_and_does_not_count() {
    let desk = Desk::new(OPEN);
    let (ledger, older) = (desk.site.state().join("ledger.sqlite"), desk.site.path("older"));
    desk.run(&["trust", "portcullis.toml", "--yes"]).ends(0);
    fs::copy(&ledger, &older).unwrap();
    desk.run(&["trust", "--remove", "portcullis.toml"]).ends(0);
    fs::copy(&older, &ledger).unwrap();
    let damaged = desk.run(&["audit", "verify"]).ends(8);
    assert!(damaged.err.contains("the ledger was replaced by an older copy"), "{damaged:?}");
    let document = desk.run(&["--json", "audit", "verify"]).ends(8).document();
    assert_eq!((&document["verifies"], &document["ledger_rollbacks"]), (&json!(false), &json!([])));
    // The first command that opens the ledger warns and repairs it.
    let call = ["call", "hello.greet", r#"{"name":"Ann"}"#];
    let denied = desk.run_in_project(&call).ends(3);
    assert!(denied.err.contains("warning: the ledger was replaced by an older copy"), "{denied:?}");
    let denied = desk.run_in_project(&call).ends(3);
    assert!(!denied.err.contains("warning:"), "{denied:?}");
    let verified = desk.run(&["audit", "verify"]).ends(0);
    assert!(verified.err.contains("the ledger was replaced or removed"), "{verified:?}");
    let document = desk.run(&["--json", "audit", "verify"]).ends(0).document();
    assert_eq!(document["ledger_rollbacks"].as_array().map(Vec::len), Some(1), "{document}");
    // Also a command that makes no call, because none after it would find the older copy again.
    fs::copy(&older, &ledger).unwrap();
    let ran = desk.run(&["server", "list"]).ends(0);
    assert!(ran.err.contains("warning: the ledger was replaced by an older copy"), "{ran:?}");
    fs::copy(&older, &ledger).unwrap();
    let ran = desk.run(&["--json", "doctor"]);
    assert!(ran.out.contains("nothing in it counts any more"), "{ran:?}");
}
