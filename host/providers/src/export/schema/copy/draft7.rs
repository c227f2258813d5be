//! What draft-07 has not: it is said otherwise, or in words. The result reads the same as 2020-12.

use super::Words;
use crate::export::notes::Notes;
use serde_json::{Map, Value, json};

/// Keywords that draft-07 has no other way to say.
const UNKNOWN: [&str; 6] = [
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Says a schema, whose subschemas are said already, without what draft-07 has not.
pub(super) fn touch(copy: &mut Map<String, Value>, at: &str, notes: &mut Notes) {
    let mut words = Words::default();
    if copy.get("minContains").is_some_and(|least| *least == json!(0)) {
        // Without that, at least one would have to be there.
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

/// `items` for what `prefixItems` and `items` said of each place.
fn one_for_all(copy: &mut Map<String, Value>, mut prefix: Vec<Value>, at: &str, notes: &mut Notes) {
    let most = prefix.len();
    match copy.remove("items") {
        // Places beyond the prefix may hold anything, so all may.
        None | Some(Value::Bool(true)) => return,
        Some(Value::Bool(false)) => {
            let given = copy.get("maxItems").and_then(Value::as_u64);
            let most = u64::try_from(most).map_or(given, |most| Some(given.map_or(most, |given| given.min(most))));
            copy.insert("maxItems".to_owned(), json!(most));
        }
        Some(rest) => prefix.push(rest),
    }
    notes.add(at, "items", "said of every place: one of what any place may hold");
    copy.insert("items".to_owned(), json!({ "anyOf": prefix }));
}
