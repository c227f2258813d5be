//! Reads the audit log through the public API.

use crate::BlockOn;
use portcullis::Host;
use serde_json::Value;

/// Returns every outcome in the audit log, oldest first.
pub fn outcomes(host: &Host) -> Vec<Value> {
    let mut outcomes = Vec::new();
    let verified = host
        .audit()
        .read(|entry| {
            if entry.document["kind"] == "outcome" {
                outcomes.push(entry.document);
            }
            Ok(())
        })
        .block_on();
    assert_eq!(verified.expect("the audit log can be read").fault, None);
    outcomes
}

/// Returns the only outcome of a call.
pub fn outcome_of(host: &Host, call: &str) -> Value {
    let mut outcomes = outcomes(host);
    outcomes.retain(|outcome| outcome["call"] == call);
    assert_eq!(outcomes.len(), 1, "a call must have one outcome: {outcomes:?}");
    outcomes.remove(0)
}

/// Asserts that the audit log verifies.
pub fn assert_verifies(host: &Host) {
    let verified = host.audit().verify().block_on().expect("the audit log can be read");
    assert_eq!(verified.fault, None);
}
