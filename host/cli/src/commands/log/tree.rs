//! Puts each call below the call whose tool made it.

use super::logged_call::LoggedCall;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum levels that are shown indented. The host allows fewer.
const LEVELS_MAX: usize = 16;

/// Returns the calls in the order of a tree, each with its level. A call whose parent is not among them is at the top.
pub(super) fn ordered(calls: Vec<LoggedCall>) -> Vec<LoggedCall> {
    let mut below: BTreeMap<Option<String>, Vec<LoggedCall>> = BTreeMap::new();
    let known: BTreeSet<String> = calls.iter().map(|call| call.id.clone()).collect();
    for call in calls {
        let parent = call.parent.clone().filter(|parent| known.contains(parent));
        below.entry(parent).or_default().push(call);
    }
    let (mut ordered, mut waiting) = (Vec::new(), below.remove(&None).unwrap_or_default());
    waiting.reverse();
    while let Some(call) = waiting.pop() {
        let mut inner = below.remove(&Some(call.id.clone())).unwrap_or_default();
        inner.iter_mut().for_each(|inner| inner.level = (call.level + 1).min(LEVELS_MAX));
        inner.reverse();
        ordered.push(call);
        waiting.extend(inner);
    }
    // A log that was tampered with can name parents in a circle.
    ordered.extend(below.into_values().flatten());
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(id: &str, parent: Option<&str>) -> LoggedCall {
        let mut call = LoggedCall::begin(id, &json!({ "seq": 1, "time": "2025-01-01T00:00:00Z" }));
        call.add(&json!({ "kind": "decision", "tool": "a.b", "parent": parent }));
        call
    }

    #[test]
    fn every_call_comes_after_the_call_that_made_it_and_none_is_lost() {
        let calls = vec![
            call("a", None),
            call("b", None),
            call("a1", Some("a")),
            call("a11", Some("a1")),
            call("a2", Some("a")),
            call("lost", Some("gone")),
            call("x", Some("y")),
            call("y", Some("x")),
        ];
        let shown: Vec<_> = ordered(calls).into_iter().map(|call| (call.id, call.level)).collect();
        let expected = [("a", 0), ("a1", 1), ("a11", 2), ("a2", 1), ("b", 0), ("lost", 0), ("y", 0), ("x", 0)];
        assert_eq!(shown, expected.map(|(id, level)| (id.to_owned(), level)));
    }
}
