//! Progress: sent only to a client that asked for it, with increasing values, and never after the result.

use crate::mcp::wire::{Desk, ERAS, Era, OPEN};
use portcullis_tests::{Manifest, guest};
use serde_json::{Value, json};

#[test]
fn progress_is_sent_in_order_and_before_the_result() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        for token in [json!("mine"), json!(7)] {
            let mut wire = desk.client(era);
            let params =
                json!({ "name": "clerk__count", "arguments": { "to": 10 }, "_meta": { "progressToken": token } });
            let id = wire.request("tools/call", params);
            wire.answer(&json!(id));
            // All progress arrived before the response, so there is nothing to wait for.
            let told = wire.heard_already("notifications/progress");
            let values: Vec<f64> = told.iter().map(|told| told["params"]["progress"].as_f64().unwrap()).collect();
            // A tenth has no exact value in 32 bits. The client must not see rounding errors.
            assert_eq!(values, [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0]);
            for (number, told) in told.iter().enumerate() {
                assert_eq!(told["params"]["progressToken"], token);
                assert_eq!(told["params"]["total"], 100.0);
                assert_eq!(told["params"]["message"], format!("at {}", number + 1));
            }
            assert_eq!(wire.unasked(), Vec::<Value>::new(), "a message followed the response");
        }
    }
}

#[test]
fn a_client_that_did_not_ask_for_progress_gets_none() {
    let desk = Desk::new(OPEN);
    for era in ERAS {
        let mut wire = desk.client(era);
        wire.call("clerk__count", json!({ "to": 5 }));
        assert_eq!(wire.unasked(), Vec::<Value>::new(), "{era:?}");
    }
}

#[test]
fn a_flood_of_progress_is_throttled_and_its_message_is_one_short_line() {
    let desk = Desk::new(OPEN);
    desk.site.plugin("flood", &guest("progress-flood", &Manifest::of("flood")));
    let mut wire = desk.client(Era::Legacy);
    let params = json!({ "name": "flood__run", "arguments": {}, "_meta": { "progressToken": 1 } });
    let id = wire.request("tools/call", params);
    wire.answer(&json!(id));
    let told = wire.heard_already("notifications/progress");
    assert!(!told.is_empty() && told.len() < 5_000, "{}", told.len());
    for told in told {
        assert!(told["params"]["message"].as_str().unwrap().len() <= 256);
        assert!(told["params"].get("total").is_none(), "a total that is not a number must be left out");
    }
}
