//! Calls that a chart draws together: how many by decision, and how long they took.

use crate::log::CallRow;

/// The calls of one hour or of one tool.
#[derive(Clone, Debug, Default)]
pub(super) struct CallGroup {
    pub(super) allow: usize,
    pub(super) ask: usize,
    pub(super) deny: usize,
    /// How long the calls took that ran.
    microseconds: Vec<u64>,
}

impl CallGroup {
    /// Adds a call.
    pub(super) fn add(&mut self, row: &CallRow) {
        match row.decision.as_str() {
            "allow" => self.allow += 1,
            "ask" => self.ask += 1,
            _ => self.deny += 1,
        }
        if let Some(outcome) = row.outcome.as_ref().filter(|outcome| outcome.microseconds > 0) {
            self.microseconds.push(outcome.microseconds);
        }
    }

    /// Returns the number of calls.
    pub(super) fn all(&self) -> usize {
        self.allow + self.ask + self.deny
    }

    /// Returns whether a call of the group ran.
    pub(super) fn has_times(&self) -> bool {
        !self.microseconds.is_empty()
    }

    /// Returns the time that this share of the calls that ran did not exceed.
    pub(super) fn quantile(&self, percent: usize) -> u64 {
        let mut sorted = self.microseconds.clone();
        sorted.sort_unstable();
        sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::CallOutcome;

    #[test]
    fn only_calls_that_ran_have_a_time() {
        let row = |decision: &str, microseconds: u64| CallRow {
            decision: decision.to_owned(),
            outcome: Some(CallOutcome { microseconds, ..CallOutcome::default() }),
            ..CallRow::default()
        };
        let mut group = CallGroup::default();
        group.add(&row("deny", 0));
        assert!(group.all() == 1 && !group.has_times() && group.quantile(95) == 0);
        (1..=100).for_each(|time| group.add(&row("allow", time)));
        assert_eq!((group.allow, group.deny, group.quantile(50), group.quantile(95)), (100, 1, 51, 96));
    }
}
