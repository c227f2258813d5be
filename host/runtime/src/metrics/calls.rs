//! Counts calls by tool, decision and code, and measures them.

use super::code_cache::CodeCacheCounters;
use super::histogram::{Histogram, MACHINE_BOUNDS, PERSON_BOUNDS};
use super::observer::{CallObserver, FinishedCall};
use super::snapshot::{CallCount, CountedTool, HostMetrics, PolicyAnswer};
use super::step::CallStep;
use super::waiting_entries::WaitingEntries;
use crate::reply::Code;
use portcullis_policy::ToolName;
use portcullis_policy::recovery::RecoverMutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Maximum tools that are counted separately. Plugins can generate tools, and each reload can bring other names. The
/// calls of further tools count together.
pub const TOOLS_MAX: usize = 1024;

/// The counters of a host.
pub(crate) struct CallMetrics {
    /// One lock for everything that a call counts: taking it costs less than counting atomically.
    ended: Mutex<EndedCalls>,
    pub(crate) waiting_entries: WaitingEntries,
    observer: Option<Arc<dyn CallObserver>>,
}

/// The calls that have ended. A tool has few rows: one for each way in which its calls have ended.
#[derive(Debug)]
struct EndedCalls {
    tools: HashMap<ToolName, Vec<CallRow>>,
    other: Vec<CallRow>,
    unknown: Vec<CallRow>,
    durations: Histogram,
    steps: [Histogram; CallStep::ALL.len()],
}

#[derive(Debug)]
struct CallRow {
    answer: PolicyAnswer,
    code: Code,
    calls: u64,
}

impl CallMetrics {
    /// Creates counters at zero. The observer learns about each call.
    pub(crate) fn new(observer: Option<Arc<dyn CallObserver>>) -> Self {
        Self { ended: Mutex::default(), waiting_entries: WaitingEntries::default(), observer }
    }

    /// Counts a call that has ended, and tells the observer.
    pub(crate) fn count(&self, call: &FinishedCall<'_>) {
        self.ended.lock_recovered().count(call);
        // The observer is code of the embedder, so it runs without the lock.
        if let Some(observer) = &self.observer {
            observer.ended(call);
        }
    }

    /// Returns what is counted here, with everything else at zero.
    pub(crate) fn snapshot(&self, code_cache: &CodeCacheCounters) -> HostMetrics {
        let (code_cache_hits, code_cache_misses) = code_cache.counts();
        let ended = self.ended.lock_recovered();
        let steps = CallStep::ALL.into_iter().zip(&ended.steps);
        HostMetrics {
            calls: ended.calls(),
            durations: ended.durations.snapshot(),
            steps: steps.map(|(step, histogram)| (step, histogram.snapshot())).collect(),
            calls_under_way: 0,
            run_slots_used: 0,
            run_slots: 0,
            instances_used: 0,
            session_instances: 0,
            instances: 0,
            code_cache_hits,
            code_cache_misses,
            audit_entries_waiting: self.waiting_entries.count(),
            approval_requests_open: None,
            plugins_ready: 0,
            plugins_loading: 0,
            plugins_refused: 0,
            is_audit_anchored: None,
            ledger_policies: None,
            is_policy_current: true,
        }
    }
}

impl fmt::Debug for CallMetrics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallMetrics").finish_non_exhaustive()
    }
}

impl Default for EndedCalls {
    fn default() -> Self {
        let bounds_of = |step| match step {
            CallStep::Approval => PERSON_BOUNDS,
            CallStep::Decide | CallStep::Queue | CallStep::Slot | CallStep::Instantiate | CallStep::Execute => {
                MACHINE_BOUNDS
            }
        };
        Self {
            tools: HashMap::new(),
            other: Vec::new(),
            unknown: Vec::new(),
            durations: Histogram::new(MACHINE_BOUNDS),
            steps: CallStep::ALL.map(|step| Histogram::new(bounds_of(step))),
        }
    }
}

impl EndedCalls {
    fn count(&mut self, call: &FinishedCall<'_>) {
        self.durations.record(call.took);
        for (histogram, step) in self.steps.iter_mut().zip(CallStep::ALL) {
            if let Some(took) = call.times.measured(step) {
                histogram.record(took);
            }
        }
        let is_full = self.tools.len() >= TOOLS_MAX;
        let rows = match call.tool {
            None => &mut self.unknown,
            Some(tool) => match self.tools.get_mut(tool) {
                Some(rows) => rows,
                None if is_full => &mut self.other,
                None => self.tools.entry(tool.clone()).or_default(),
            },
        };
        match rows.iter_mut().find(|row| row.answer == call.answer && row.code == call.code) {
            Some(row) => row.calls += 1,
            None => rows.push(CallRow { answer: call.answer, code: call.code, calls: 1 }),
        }
    }

    /// Returns how many calls have ended in which way, sorted by tool.
    fn calls(&self) -> Vec<CallCount> {
        let known = self.tools.iter().map(|(tool, rows)| (CountedTool::Known(tool.clone()), rows));
        let all = known.chain([(CountedTool::Other, &self.other), (CountedTool::Unknown, &self.unknown)]);
        let mut calls: Vec<CallCount> = all.flat_map(|(tool, rows)| of_rows(&tool, rows)).collect();
        calls.sort_by(|one, other| one.tool.cmp(&other.tool));
        calls
    }
}

fn of_rows(tool: &CountedTool, rows: &[CallRow]) -> Vec<CallCount> {
    let count = |row: &CallRow| CallCount { tool: tool.clone(), answer: row.answer, code: row.code, calls: row.calls };
    rows.iter().map(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::step::StepTimes;
    use portcullis_policy::Decision;
    use std::time::{Duration, Instant, SystemTime};

    fn count(metrics: &CallMetrics, tool: Option<&ToolName>, code: Code) {
        let (answer, began) = (PolicyAnswer::Decided(Decision::Allow), Instant::now());
        let (started, took) = (SystemTime::now(), Duration::from_millis(3));
        let (id, first, parent, trace, times) = ("", "", None, None, &StepTimes::default());
        metrics.count(&FinishedCall { id, first, parent, trace, tool, answer, code, started, took, began, times });
    }

    #[test]
    fn calls_count_by_tool_and_code_and_unknown_tools_together() {
        let (metrics, tool) = (CallMetrics::new(None), "files.read".parse::<ToolName>().unwrap());
        for code in [Code::Completed, Code::Completed, Code::Busy] {
            count(&metrics, Some(&tool), code);
        }
        count(&metrics, None, Code::UnknownTool);
        count(&metrics, None, Code::UnknownTool);
        let calls: Vec<_> =
            metrics.ended.lock_recovered().calls().into_iter().map(|row| (row.tool, row.code, row.calls)).collect();
        let known = CountedTool::Known(tool);
        assert_eq!(
            calls,
            [(known.clone(), Code::Completed, 2), (known, Code::Busy, 1), (CountedTool::Unknown, Code::UnknownTool, 2)]
        );
        assert_eq!(metrics.ended.lock_recovered().durations.snapshot().count(), 5);
    }

    #[test]
    fn names_beyond_the_maximum_count_together_so_that_reloads_cannot_grow_the_table() {
        let metrics = CallMetrics::new(None);
        for number in 0..TOOLS_MAX + 100 {
            count(&metrics, Some(&format!("made.tool-{number}").parse().unwrap()), Code::Completed);
        }
        let calls = metrics.ended.lock_recovered().calls();
        assert_eq!(calls.len(), TOOLS_MAX + 1);
        let other = calls.iter().find(|row| row.tool == CountedTool::Other).unwrap();
        assert_eq!(other.calls, 100);
    }
}
