//! Which calls have spans.

use super::variables::variable;
use anyhow::{Context as _, bail, ensure};
use opentelemetry::TraceId;
use opentelemetry::trace::SpanKind;
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, ShouldSample};

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
    /// Returns whether a trace is in the share. The SDK decides, so that services which use one decide the same about a
    /// trace.
    fn samples(self, trace: TraceId) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Share(share) => {
                let sampler = Sampler::TraceIdRatioBased(share);
                let sampled = sampler.should_sample(None, trace, "", &SpanKind::Server, &[], &[]);
                sampled.decision == SamplingDecision::RecordAndSample
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

    /// Other services take the lower half of the id without its last bit. A trace is whole only if all decide the same.
    #[test]
    fn a_share_is_taken_of_the_lower_half_of_the_trace_id() {
        let rows = [
            (0x8000_0000_0000_0000, 0.5, false),
            (0x7fff_ffff_ffff_ffff, 0.5, true),
            (0x3fff_ffff_ffff_ffff, 0.25, true),
            (0x4000_0000_0000_0000, 0.25, false),
            (0xffff_ffff_0000_0000_0000_0000_ffff_ffff, 0.25, true),
            (u128::MAX, 1.0, true),
            (0, 0.0, false),
        ];
        for (id, share, samples) in rows {
            assert_eq!(SamplingRule::Share(share).samples(TraceId::from(id)), samples, "{id:x} {share}");
        }
    }

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
