//! Rate limits: how often calls may begin, and how many may be in progress at one time.
//!
//! A rate limit only refuses calls, so those of all layers apply, whatever their trust. This file must not know a
//! clock, or who counts the calls.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::caller::Caller;
use crate::layer::Layer;
use crate::matcher::RuleReading;
use crate::name::{PluginName, ToolName};
use crate::rule::ToolPattern;
use crate::subject::RuleSubject;

/// Maximum `[[rate-limit]]` in one text. Every call is compared with all of them.
pub const RATE_LIMITS_MAX: usize = 64;
/// Maximum calls of a rate and of a burst. No host runs that many calls in a second.
pub const RATE_CALLS_MAX: usize = 1_000_000;
/// Maximum of `concurrent`. It is far above the calls that a host runs or keeps waiting.
pub const CONCURRENT_CALLS_MAX: usize = 100_000;

/// The time that a rate counts calls for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatePeriod {
    /// One second.
    Second,
    /// One minute.
    Minute,
    /// One hour.
    Hour,
}

impl RatePeriod {
    /// Every period, in ascending order.
    pub const ALL: [Self; 3] = [Self::Second, Self::Minute, Self::Hour];

    /// Returns the unit that a policy writes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Minute => "min",
            Self::Hour => "h",
        }
    }

    /// Returns the word for messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Hour => "hour",
        }
    }

    /// Returns how long it is.
    pub fn duration(self) -> Duration {
        Duration::from_secs(match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 60 * 60,
        })
    }
}

/// How often calls may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRate {
    /// The average number of calls in a period. At least 1.
    pub calls: u32,
    /// The period.
    pub period: RatePeriod,
    /// Maximum calls at once after a time without calls. At least 1.
    pub burst: u32,
}

impl CallRate {
    /// Returns the time in which one more call becomes possible.
    pub fn interval(&self) -> Duration {
        // A division by zero would panic. The parser refuses zero, but the field is public.
        self.period.duration() / self.calls.max(1)
    }
}

impl fmt::Display for CallRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "rate {}/{}, burst {}", self.calls, self.period.as_str(), self.burst)
    }
}

/// What has a count of its own under a rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedPer {
    /// Each root principal. The calls of its sub-agents count for it.
    Principal,
    /// Each tool.
    Tool,
}

impl CountedPer {
    /// Both values, in display order.
    pub const ALL: [Self; 2] = [Self::Principal, Self::Tool];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Principal => "principal",
            Self::Tool => "tool",
        }
    }
}

/// A rate limit: the calls that it counts, and how many of them are allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct RateLimit {
    tool: Option<ToolPattern>,
    subject: RuleSubject,
    per: Vec<CountedPer>,
    rate: Option<CallRate>,
    concurrent: Option<u32>,
    place: RateLimitPlace,
    text: Arc<str>,
}

/// The place of a rate limit in the texts of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitPlace {
    /// The layer.
    pub layer: Layer,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for RateLimitPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the rate limit on line {}", self.line)
    }
}

/// The keys of a rate limit, as they were read.
#[derive(Debug, Default)]
pub(crate) struct RateLimitKeys {
    pub(crate) tool: Option<ToolPattern>,
    pub(crate) subject: RuleSubject,
    pub(crate) per: Vec<CountedPer>,
    pub(crate) rate: Option<CallRate>,
    pub(crate) concurrent: Option<u32>,
}

impl RateLimit {
    pub(crate) fn new(keys: RateLimitKeys, place: RateLimitPlace) -> Self {
        let text = Arc::from(text(&keys));
        let RateLimitKeys { tool, subject, per, rate, concurrent } = keys;
        Self { tool, subject, per, rate, concurrent, place, text }
    }

    /// Returns whether a call counts. As with a deny rule, the case of principals makes no difference. The call of a
    /// sub-agent also counts if one of its parents matches.
    pub fn counts(&self, tool: &ToolName, caller: &Caller<'_>) -> bool {
        self.tool.as_ref().is_none_or(|pattern| pattern.matches(tool))
            && (self.subject == RuleSubject::default()
                || caller.members().any(|member| self.subject.matches(&member, RuleReading::Wide)))
    }

    /// Returns whether each of these has a count of its own.
    pub fn is_counted_per(&self, per: CountedPer) -> bool {
        self.per.contains(&per)
    }

    /// Returns the pattern for tools. Without one, it counts the calls of every tool.
    pub fn tool(&self) -> Option<&ToolPattern> {
        self.tool.as_ref()
    }

    /// Returns how often calls may begin, if that is limited.
    pub fn rate(&self) -> Option<CallRate> {
        self.rate
    }

    /// Returns the maximum calls in progress at one time, if that is limited.
    pub fn concurrent(&self) -> Option<u32> {
        self.concurrent
    }

    /// Returns where it is written.
    pub fn place(&self) -> RateLimitPlace {
        self.place
    }

    /// Returns its keys and values as one line. Two limits with the same text count the same calls in the same way.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns the plugins that its pattern spells out.
    pub(crate) fn named_plugins(&self) -> impl Iterator<Item = PluginName> {
        self.tool.iter().flat_map(ToolPattern::named_plugins)
    }
}

impl fmt::Display for RateLimit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn text(keys: &RateLimitKeys) -> String {
    // The host keeps the counts of a limit under this text, so every key must be in it.
    let per: Vec<&str> = keys.per.iter().map(|per| per.as_str()).collect();
    let named = [
        Some(format!("tool {}", keys.tool.as_ref().map_or_else(|| "*.*".to_owned(), ToString::to_string))),
        keys.subject.principal_text().map(|principals| format!("principal {}", principals.escape_debug())),
        (!per.is_empty()).then(|| format!("per {}", per.join(" and "))),
        keys.rate.map(|rate| rate.to_string()),
        keys.concurrent.map(|calls| format!("concurrent {calls}")),
    ];
    named.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_the_period_divided_by_its_calls() {
        let rate = |calls, period| CallRate { calls, period, burst: 1 }.interval();
        assert_eq!(rate(1, RatePeriod::Hour), Duration::from_secs(3600));
        assert_eq!(rate(30, RatePeriod::Minute), Duration::from_secs(2));
        let most = u32::try_from(RATE_CALLS_MAX).unwrap();
        assert_eq!(rate(most, RatePeriod::Second), Duration::from_micros(1));
    }
}
