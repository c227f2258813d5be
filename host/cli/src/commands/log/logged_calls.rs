//! Puts the entries of the audit log together to calls. The memory is bounded, whatever the length of the log.

use super::filter::LogFilter;
use super::logged_call::LoggedCall;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};

/// Maximum calls that have begun and not ended. A host runs far fewer at the same time.
const OPEN_MAX: usize = 10_000;

/// The calls that have begun, and the last ones that match.
pub(super) struct LoggedCalls {
    filter: LogFilter,
    open: HashMap<String, LoggedCall>,
    ended: VecDeque<LoggedCall>,
    most: usize,
    /// How many matching calls are not in `ended` any more.
    pub(super) left_out: u64,
    /// The sequence number of the last entry.
    last: u64,
}

impl LoggedCalls {
    pub(super) fn new(filter: LogFilter, most: usize) -> Self {
        Self { filter, open: HashMap::new(), ended: VecDeque::new(), most, left_out: 0, last: 0 }
    }

    /// Adds an entry. An entry that was added before is skipped.
    pub(super) fn add(&mut self, entry: &Value) {
        let sequence = entry.get("seq").and_then(Value::as_u64).unwrap_or_default();
        if sequence <= self.last {
            return;
        }
        self.last = sequence;
        let Some(id) = entry.get("call").and_then(Value::as_str) else { return };
        if self.open.len() >= OPEN_MAX && !self.open.contains_key(id) {
            // These calls are lost, or wait for an approver for long. They are shown as they are.
            let calls: Vec<LoggedCall> = self.open.drain().map(|(_, call)| call).collect();
            calls.into_iter().for_each(|call| self.end(call));
        }
        let call = self.open.entry(id.to_owned()).or_insert_with(|| LoggedCall::begin(id, entry));
        call.add(entry);
        // A call that waits for an approver after its caller left has a second outcome later.
        if entry.get("kind").and_then(Value::as_str) == Some("outcome")
            && call.outcome.as_deref() != Some("pending")
            && let Some(call) = self.open.remove(id)
        {
            self.end(call);
        }
    }

    /// Takes the matching calls that have ended, oldest first.
    pub(super) fn take_ended(&mut self) -> Vec<LoggedCall> {
        self.ended.drain(..).collect()
    }

    /// Takes the matching calls in the order in which they began, with those that have not ended. The latter are kept,
    /// and are taken again when they end.
    pub(super) fn take(&mut self) -> Vec<LoggedCall> {
        let open = self.open.values().filter(|call| self.filter.matches(call)).cloned();
        let mut calls: Vec<LoggedCall> = self.ended.drain(..).chain(open).collect();
        calls.sort_by_key(|call| call.sequence);
        let surplus = calls.len().saturating_sub(self.most);
        self.left_out += surplus as u64;
        calls.split_off(surplus)
    }

    fn end(&mut self, call: LoggedCall) {
        if self.filter.matches(&call) {
            self.ended.push_back(call);
            if self.ended.len() > self.most {
                self.ended.pop_front();
                self.left_out += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn outcome(sequence: u64, call: &str, outcome: &str) -> Value {
        json!({ "seq": sequence, "kind": "outcome", "call": call, "tool": "a.b", "outcome": outcome })
    }

    #[test]
    fn only_the_last_calls_are_kept() {
        let mut calls = LoggedCalls::new(LogFilter::default(), 2);
        for sequence in 1..=5 {
            calls.add(&outcome(sequence, &sequence.to_string(), "completed"));
        }
        calls.add(&outcome(5, "again", "completed"));
        let ids: Vec<String> = calls.take().into_iter().map(|call| call.id).collect();
        assert_eq!((ids, calls.left_out), (vec!["4".to_owned(), "5".to_owned()], 3));
    }

    #[test]
    fn a_call_that_waits_is_one_call_until_it_has_run() {
        let mut calls = LoggedCalls::new(LogFilter::default(), 10);
        calls.add(&outcome(1, "a", "pending"));
        assert_eq!(calls.take().len(), 1);
        calls.add(&outcome(2, "a", "completed"));
        let taken = calls.take();
        assert_eq!((taken.len(), taken[0].outcome.as_deref()), (1, Some("completed")));
        assert!(calls.take().is_empty());
    }

    #[test]
    fn calls_without_an_end_do_not_pile_up() {
        let mut calls = LoggedCalls::new(LogFilter::default(), 5);
        for sequence in 1..=25_000_u64 {
            calls.add(&json!({ "seq": sequence, "kind": "decision", "call": sequence.to_string(), "tool": "a.b" }));
        }
        assert!(calls.open.len() <= OPEN_MAX && calls.ended.len() <= 5);
    }
}
