//! What the record says of calls, read back through the public API.

use portcullis::Host;
use serde_json::Value;

/// Every outcome in the record, oldest first.
pub fn outcomes(host: &Host) -> Vec<Value> {
    let mut outcomes = Vec::new();
    let verified = host.audit().read(|entry| {
        if entry.document["kind"] == "outcome" {
            outcomes.push(entry.document);
        }
        Ok(())
    });
    assert_eq!(verified.expect("the record can be read").fault, None);
    outcomes
}

/// The one outcome of a call.
pub fn outcome_of(host: &Host, call: &str) -> Value {
    let mut outcomes = outcomes(host);
    outcomes.retain(|outcome| outcome["call"] == call);
    assert_eq!(outcomes.len(), 1, "a call has one outcome: {outcomes:?}");
    outcomes.remove(0)
}

/// Asserts that the record is what was written.
pub fn assert_verifies(host: &Host) {
    let verified = host.audit().verify().expect("the record can be read");
    assert_eq!(verified.fault, None);
}
