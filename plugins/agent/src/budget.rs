//! What a sub-agent may use: turns, tokens, time and money. The caller can only lower what the settings allow.

use std::time::{Duration, Instant};

use crate::message::Usage;
use crate::money::Money;

/// The limits of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Budget {
    /// Requests to the model.
    pub(crate) turns: u32,
    /// Tokens of all requests and answers together.
    pub(crate) tokens: u64,
    pub(crate) time: Duration,
    /// With the prices of a million tokens of input and output.
    pub(crate) money: Option<(Money, Prices)>,
}

/// What a million tokens cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prices {
    pub(crate) input: Money,
    pub(crate) output: Money,
}

/// What a run has used.
#[derive(Debug)]
pub(crate) struct Spent {
    since: Instant,
    pub(crate) turns: u32,
    pub(crate) usage: Usage,
    /// Whether some tokens are an estimate, because the server did not count them.
    pub(crate) is_estimate: bool,
}

/// The part of a budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exhausted {
    Turns,
    Tokens,
    Time,
    Money,
}

impl Exhausted {
    /// Returns the word for programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Tokens => "tokens",
            Self::Time => "time",
            Self::Money => "money",
        }
    }
}

impl Spent {
    pub(crate) fn begin() -> Self {
        Self { since: Instant::now(), turns: 0, usage: Usage::default(), is_estimate: false }
    }

    /// Adds an exchange.
    pub(crate) fn add(&mut self, usage: Usage) {
        self.usage.input = self.usage.input.saturating_add(usage.input);
        self.usage.output = self.usage.output.saturating_add(usage.output);
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.usage.input.saturating_add(self.usage.output)
    }

    pub(crate) fn time(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Budget {
    /// Returns what is used up, if something is.
    pub(crate) fn exhausted(&self, spent: &Spent) -> Option<Exhausted> {
        if spent.turns >= self.turns {
            return Some(Exhausted::Turns);
        }
        if spent.tokens() >= self.tokens {
            return Some(Exhausted::Tokens);
        }
        if spent.time() >= self.time {
            return Some(Exhausted::Time);
        }
        let (money, _) = self.money?;
        (self.cost(spent)? >= money).then_some(Exhausted::Money)
    }

    /// Returns the price of what was used, if the settings name prices.
    pub(crate) fn cost(&self, spent: &Spent) -> Option<Money> {
        let (_, prices) = self.money?;
        Some(prices.input.of_tokens(spent.usage.input).plus(prices.output.of_tokens(spent.usage.output)))
    }

    /// Returns the time that is left.
    pub(crate) fn time_left(&self, spent: &Spent) -> Duration {
        self.time.saturating_sub(spent.time())
    }

    /// Returns the tokens that are left.
    pub(crate) fn tokens_left(&self, spent: &Spent) -> u64 {
        self.tokens.saturating_sub(spent.tokens())
    }
}
