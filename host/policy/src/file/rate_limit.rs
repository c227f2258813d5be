//! The sections `[[rate-limit]]`.
//!
//! This file must not know how calls are counted.

use super::faults::Misplaced;
use super::limits::read_amount;
use super::node::{TomlNode, TomlTable};
use super::place::PolicyText;
use super::subject;
use crate::amount::{AmountError, Unit};
use crate::error::PolicyFault;
use crate::layer::Layer;
use crate::rate_limit::{
    CONCURRENT_CALLS_MAX, CallRate, CountedPer, RATE_CALLS_MAX, RATE_LIMITS_MAX, RateLimit, RateLimitKeys,
    RateLimitPlace, RatePeriod,
};
use crate::rule::ToolPattern;
use crate::subject::RuleSubject;

/// The keys of a rate limit.
const KEYS: &[&str] = &["tool", "principal", "per", "rate", "burst", "concurrent"];

/// Parses all rate limits.
pub(super) fn read(section: &TomlNode<'_>, place: &PolicyText<'_>, layer: Layer) -> Result<Vec<RateLimit>, Misplaced> {
    let nodes = section.list_of_at_most(RATE_LIMITS_MAX)?;
    let lines = place.lines(nodes.iter().map(TomlNode::offset));
    let read = |(node, line)| Some(RateLimit::new(read_limit(node)?, RateLimitPlace { layer, line }));
    Ok(nodes.iter().zip(lines).filter_map(read).collect())
}

/// Parses a rate limit. Notes every fault of it.
fn read_limit(node: &TomlNode<'_>) -> Option<RateLimitKeys> {
    let table = node.keep(node.table(KEYS))?;
    let principals = table.read("principal", subject::read_principals);
    let limit = RateLimitKeys {
        tool: table.read("tool", |node| ToolPattern::new(node.text()?).map_err(|fault| node.fail(fault))),
        subject: RuleSubject { principals, ..RuleSubject::default() },
        per: table.read("per", read_per).unwrap_or_default(),
        rate: read_rate(&table),
        concurrent: table.read("concurrent", |node| read_count(node, CONCURRENT_CALLS_MAX)),
    };
    // A misspelt key was noted already, and probably is the missing one.
    let limits_nothing = table.get("rate").is_none() && table.get("concurrent").is_none();
    if limits_nothing && !table.is_misspelt("rate") {
        node.keep::<()>(Err(node.fail(PolicyFault::LimitsNothing)));
    }
    Some(limit)
}

/// Parses `per`: a word, or a list of words.
fn read_per(node: &TomlNode<'_>) -> Result<Vec<CountedPer>, Misplaced> {
    let words = node.each(&node.one_or_more()?, |word| word.word(&CountedPer::ALL, CountedPer::as_str));
    // In display order and without repetitions, so that the same limit always has the same text.
    Ok(CountedPer::ALL.into_iter().filter(|per| words.contains(per)).collect())
}

/// Parses `rate` and `burst`. A burst alone would limit nothing.
fn read_rate(table: &TomlTable<'_, '_>) -> Option<CallRate> {
    let burst = table.read("burst", |node| read_count(node, RATE_CALLS_MAX));
    let rate = if table.get("burst").is_some() {
        table.need("rate", read_calls_per_period)
    } else {
        table.read("rate", read_calls_per_period)
    };
    let (calls, period) = rate?;
    Some(CallRate { calls, period, burst: burst.unwrap_or(calls) })
}

/// Parses a text such as `10/s`.
fn read_calls_per_period(node: &TomlNode<'_>) -> Result<(u32, RatePeriod), Misplaced> {
    let misspelt = || {
        node.fail(AmountError::Spelling {
            wanted: "a rate",
            remedy: "write a number of calls and a time, such as \"10/s\" (units: s, min, h)",
        })
    };
    let (calls, unit) = node.text()?.split_once('/').ok_or_else(misspelt)?;
    let period = RatePeriod::ALL.into_iter().find(|period| period.as_str() == unit).ok_or_else(misspelt)?;
    // `parse` would accept a plus sign.
    if calls.is_empty() || !calls.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(misspelt());
    }
    let calls = calls.parse().map_err(|_| misspelt())?;
    Ok((admit(node, calls, RATE_CALLS_MAX)?, period))
}

/// Parses a number of calls, up to a ceiling.
pub(super) fn read_count(node: &TomlNode<'_>, ceiling: usize) -> Result<u32, Misplaced> {
    admit(node, read_amount(node, Unit::Count)?, ceiling)
}

fn admit(node: &TomlNode<'_>, amount: u64, ceiling: usize) -> Result<u32, Misplaced> {
    let admitted = Unit::Count.admit(amount, ceiling).map_err(|fault| node.fail(fault))?;
    u32::try_from(admitted).map_err(|_| node.fail(AmountError::AboveCeiling { ceiling: ceiling.to_string() }))
}
