//! Which calls have spans.

use super::variables::variable;
use anyhow::{Context as _, bail, ensure};
use opentelemetry::TraceId;

/// Which calls have spans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sampling {
    rule: SamplingRule,
    follows: Follows,
}

/// The rule for calls without a decision of their caller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SamplingRule {
    All,
    None,
    /// The share of traces, from 0 to 1.
    Share(f64),
}

/// Whether the decision of the caller counts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    Caller,
    RuleAlone,
}

/// The decision of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallerSampling {
    Sampled,
    NotSampled,
    /// The caller has no trace.
    Absent,
}

impl Sampling {
    /// Reads `OTEL_TRACES_SAMPLER` and its argument. By default, a call has spans unless its caller decided otherwise.
    ///
    /// # Errors
    /// The sampler is unknown, or its argument is no share.
    pub(super) fn read() -> anyhow::Result<Self> {
        let Some(name) = variable("OTEL_TRACES_SAMPLER") else {
            return Ok(Self { rule: SamplingRule::All, follows: Follows::Caller });
        };
        let (rule, follows) = match name.strip_prefix("parentbased_") {
            Some(rule) => (rule, Follows::Caller),
            None => (name.as_str(), Follows::RuleAlone),
        };
        let rule = match rule {
            "always_on" => SamplingRule::All,
            "always_off" => SamplingRule::None,
            "traceidratio" => SamplingRule::Share(share()?),
            _ => bail!("OTEL_TRACES_SAMPLER is {name:?}, which is not supported"),
        };
        Ok(Self { rule, follows })
    }

    /// Returns whether a call has spans.
    pub(super) fn samples(self, trace: TraceId, caller: CallerSampling) -> bool {
        match (self.follows, caller) {
            (Follows::Caller, CallerSampling::Sampled) => true,
            (Follows::Caller, CallerSampling::NotSampled) => false,
            (Follows::Caller, CallerSampling::Absent) | (Follows::RuleAlone, _) => self.rule.samples(trace),
        }
    }
}

impl SamplingRule {
    /// Returns whether a trace is in the share. Every service decides the same about one trace.
    fn samples(self, trace: TraceId) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Share(share) => {
                let [.., a, b, c, d] = trace.to_bytes();
                f64::from(u32::from_be_bytes([a, b, c, d])) < share * f64::from(u32::MAX)
            }
        }
    }
}

fn share() -> anyhow::Result<f64> {
    let name = "OTEL_TRACES_SAMPLER_ARG";
    let Some(text) = variable(name) else { return Ok(1.0) };
    let share: f64 = text.parse().with_context(|| format!("{name} is not a number"))?;
    ensure!((0.0..=1.0).contains(&share), "{name} must be from 0 to 1");
    Ok(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caller_decides_first_if_the_sampler_follows_it() {
        let trace = TraceId::from(1);
        let rows = [
            (SamplingRule::None, Follows::Caller, CallerSampling::Sampled, true),
            (SamplingRule::All, Follows::Caller, CallerSampling::NotSampled, false),
            (SamplingRule::All, Follows::Caller, CallerSampling::Absent, true),
            (SamplingRule::None, Follows::RuleAlone, CallerSampling::Sampled, false),
            (SamplingRule::Share(0.0), Follows::Caller, CallerSampling::Absent, false),
            (SamplingRule::Share(1.0), Follows::Caller, CallerSampling::Absent, true),
        ];
        for (rule, follows, caller, samples) in rows {
            assert_eq!(Sampling { rule, follows }.samples(trace, caller), samples, "{rule:?} {follows:?} {caller:?}");
        }
    }
}
