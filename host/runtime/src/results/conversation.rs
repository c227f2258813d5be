//! The results of one conversation, in order. Decides which of them are to be replaced.

use super::budget::ResultsBudget;
use crate::trimmed_result::TrimmedResult;
use portcullis_definitions::tokens::estimate_tokens;
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum results that are counted in one conversation. Older ones are replaced and then forgotten.
pub(super) const RESULTS_MAX: usize = 512;

/// The results of one conversation, as the host counts them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConversationResults {
    /// The estimated tokens of all results, with the trimmed forms of those that are replaced. This is above the budget
    /// if too few results can be replaced.
    pub tokens: u64,
    /// All results that are to be replaced, oldest first. A result that is in this list stays in it.
    pub trimmed: Vec<TrimmedResult>,
}

/// One result, as a model has it.
pub(super) struct CountedResult {
    pub(super) call: Arc<str>,
    pub(super) tool: Arc<str>,
    pub(super) tokens: u64,
    /// The text that can replace it. `None` if it must stay: it is short, an error, or could not be kept.
    pub(super) replacement: Option<Arc<str>>,
}

/// A result with what became of it.
struct PlacedResult {
    result: CountedResult,
    /// The tokens of the replacement, once the result is to be replaced.
    trimmed: Option<u64>,
}

/// The results of one conversation.
#[derive(Default)]
pub(super) struct Conversation {
    results: VecDeque<PlacedResult>,
    /// The tokens of all results, with the replacements of those that are trimmed.
    tokens: u64,
}

impl PlacedResult {
    fn tokens(&self) -> u64 {
        self.trimmed.unwrap_or(self.result.tokens)
    }

    fn trimmed_form(&self) -> Option<TrimmedResult> {
        let (call, tool) = (self.result.call.to_string(), self.result.tool.to_string());
        self.result.replacement.as_ref().map(|text| TrimmedResult { call, tool, text: text.to_string() })
    }
}

impl Conversation {
    /// Adds the newest result. Returns the results that are to be replaced from now on, oldest first.
    pub(super) fn add(&mut self, result: CountedResult, budget: ResultsBudget) -> Vec<TrimmedResult> {
        // A call that waited for an approver has a second result, which replaces the first one.
        if let Some(at) = self.results.iter().position(|placed| placed.result.call == result.call) {
            self.remove(at);
        }
        let mut trimmed = Vec::new();
        self.tokens = self.tokens.saturating_add(result.tokens);
        self.results.push_back(PlacedResult { result, trimmed: None });
        if self.results.len() > RESULTS_MAX {
            // A forgotten result can no longer be replaced, so it is replaced before.
            trimmed.extend(self.trim(0));
            self.remove(0);
        }
        if self.tokens > budget.tokens {
            for at in 0..self.results.len().saturating_sub(budget.newest) {
                if self.tokens <= budget.target() {
                    break;
                }
                trimmed.extend(self.trim(at));
            }
        }
        trimmed
    }

    /// Marks a result as one to replace. Returns its trimmed form, or `None` if it stays or is replaced already.
    fn trim(&mut self, at: usize) -> Option<TrimmedResult> {
        let placed = self.results.get_mut(at).filter(|placed| placed.trimmed.is_none())?;
        let after = estimate_tokens(placed.result.replacement.as_deref()?);
        let form = placed.trimmed_form().filter(|_| after < placed.result.tokens)?;
        placed.trimmed = Some(after);
        self.tokens = self.tokens.saturating_sub(placed.result.tokens - after);
        Some(form)
    }

    fn remove(&mut self, at: usize) {
        if let Some(placed) = self.results.remove(at) {
            self.tokens = self.tokens.saturating_sub(placed.tokens());
        }
    }

    /// Returns the tokens, and all results that are to be replaced, oldest first.
    pub(super) fn summary(&self) -> ConversationResults {
        let trimmed = self.results.iter().filter(|placed| placed.trimmed.is_some());
        let trimmed = trimmed.filter_map(PlacedResult::trimmed_form).collect();
        ConversationResults { tokens: self.tokens, trimmed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(call: &str, tokens: u64) -> CountedResult {
        let replacement = (tokens > 10).then(|| Arc::from("kept"));
        CountedResult { call: call.into(), tool: "a.b".into(), tokens, replacement }
    }

    fn calls(trimmed: &[TrimmedResult]) -> Vec<&str> {
        trimmed.iter().map(|trimmed| trimmed.call.as_str()).collect()
    }

    #[test]
    fn the_oldest_are_replaced_until_a_quarter_is_free() {
        let (mut conversation, budget) = (Conversation::default(), ResultsBudget::tokens(100).newest(1));
        for call in ["a", "b"] {
            assert_eq!(conversation.add(result(call, 40), budget), []);
        }
        // An error is as short as this one, and stays.
        assert_eq!(conversation.add(result("short", 10), budget), []);
        assert_eq!(calls(&conversation.add(result("c", 40), budget)), ["a", "b"]);
        assert_eq!(conversation.tokens, 2 * estimate_tokens("kept") + 10 + 40);
        assert_eq!(conversation.add(result("d", 40), budget), []);
        assert_eq!(calls(&conversation.summary().trimmed), ["a", "b"]);
    }

    #[test]
    fn the_newest_are_never_replaced() {
        let (mut conversation, budget) = (Conversation::default(), ResultsBudget::tokens(1).newest(2));
        for call in ["a", "b"] {
            assert_eq!(conversation.add(result(call, 40), budget), []);
        }
        assert_eq!(calls(&conversation.add(result("c", 40), budget)), ["a"]);
    }

    #[test]
    fn a_second_result_of_a_call_replaces_the_first() {
        let (mut conversation, budget) = (Conversation::default(), ResultsBudget::tokens(1000));
        conversation.add(result("a", 10), budget);
        conversation.add(result("a", 40), budget);
        assert_eq!((conversation.tokens, conversation.results.len()), (40, 1));
    }

    #[test]
    fn a_result_is_replaced_before_it_is_forgotten() {
        let (mut conversation, budget) = (Conversation::default(), ResultsBudget::tokens(u64::MAX));
        for call in 0..RESULTS_MAX {
            assert_eq!(conversation.add(result(&call.to_string(), 40), budget), []);
        }
        assert_eq!(calls(&conversation.add(result("last", 40), budget)), ["0"]);
        assert_eq!(conversation.results.len(), RESULTS_MAX);
        assert_eq!(conversation.tokens, RESULTS_MAX as u64 * 40);
    }
}
