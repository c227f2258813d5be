//! The settings of a budget.

/// Default number of the newest results that are never replaced. A model still works with them.
const NEWEST_DEFAULT: usize = 4;

/// The part of the budget that is left full when results are replaced, in percent. Each replacement makes a provider
/// read the messages after it again without its cache, so several are replaced at once and rarely.
const FILL_PERCENT: u64 = 75;

/// How many tokens the results of one conversation may take before older ones are to be replaced.
///
/// ```
/// use portcullis::{Host, ResultsBudget};
///
/// let builder = Host::builder("plugins", "state").results_budget(ResultsBudget::tokens(50_000).newest(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultsBudget {
    pub(super) tokens: u64,
    pub(super) newest: usize,
}

impl ResultsBudget {
    /// Creates a budget of this many tokens, as [`estimate_tokens`](crate::estimate_tokens) counts them.
    pub fn tokens(tokens: u64) -> Self {
        Self { tokens, newest: NEWEST_DEFAULT }
    }

    /// Sets how many of the newest results are never replaced. The default is 4.
    #[must_use]
    pub fn newest(mut self, results: usize) -> Self {
        self.newest = results;
        self
    }

    /// Returns the tokens that are left when results are replaced.
    pub(super) fn target(self) -> u64 {
        self.tokens / 100 * FILL_PERCENT + self.tokens % 100 * FILL_PERCENT / 100
    }
}
