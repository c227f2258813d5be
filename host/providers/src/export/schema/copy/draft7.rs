//! Replaces keywords that draft-07 lacks, or moves them to the description. The result means the same in draft-07 and
//! in 2020-12.

use super::Words;
use crate::export::notes::Notes;
use serde_json::{Map, Value, json};

/// Keywords that draft-07 cannot express otherwise.
const UNKNOWN: [&str; 6] = [
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Converts a schema whose subschemas are converted already.
pub(super) fn touch(copy: &mut Map<String, Value>, at: &str, notes: &mut Notes) {
    let mut words = Words::default();
    if copy.get("minContains").is_some_and(|least| *least == json!(0)) {
        // Without `minContains`, `contains` would require at least one match.
        if let Some(value) = copy.remove("contains") {
            words.say(at, "contains", &value, notes);
        }
    }
    for keyword in UNKNOWN {
        if let Some(value) = copy.remove(keyword) {
            words.say(at, keyword, &value, notes);
        }
    }
    if let Some(Value::Array(prefix)) = copy.remove("prefixItems") {
        words.say(at, "prefixItems", &Value::Array(prefix.clone()), notes);
        one_for_all(copy, prefix, at, notes);
    }
    words.write(copy);
}

/// Combines `prefixItems` and `items` into one `items`.
fn one_for_all(copy: &mut Map<String, Value>, mut prefix: Vec<Value>, at: &str, notes: &mut Notes) {
    let most = prefix.len();
    match copy.remove("items") {
        // Items after the prefix may be anything, so the combined schema would accept anything.
        None | Some(Value::Bool(true)) => return,
        Some(Value::Bool(false)) => {
            let given = copy.get("maxItems").and_then(Value::as_u64);
            let most = u64::try_from(most).map_or(given, |most| Some(given.map_or(most, |given| given.min(most))));
            copy.insert("maxItems".to_owned(), json!(most));
        }
        Some(rest) => prefix.push(rest),
    }
    notes.add(at, "items", "exported for every item: it may match any of the schemas");
    copy.insert("items".to_owned(), json!({ "anyOf": prefix }));
}
