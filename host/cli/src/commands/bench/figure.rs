//! The figures of a run: what each is called, its unit, and how it is shown.

use crate::view::size;
use std::time::Duration;

/// Declares the figures, each with its meaning, its name, its label for people, its unit, and whether it decides about
/// `--fail-above`.
macro_rules! figure_kinds {
    ($($kind:ident $name:literal $label:literal $unit:ident $role:ident $meaning:literal,)+) => {
        /// What a figure measures.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum FigureKind {
            $(#[doc = $meaning] $kind,)+
        }

        impl FigureKind {
            /// Returns the stable name.
            pub(super) fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)+
                }
            }

            /// Returns the label for people.
            pub(super) fn label(self) -> &'static str {
                match self {
                    $(Self::$kind => $label,)+
                }
            }

            /// Returns the unit.
            pub(super) fn unit(self) -> FigureUnit {
                match self {
                    $(Self::$kind => FigureUnit::$unit,)+
                }
            }

            fn role(self) -> FigureRole {
                match self {
                    $(Self::$kind => FigureRole::$role,)+
                }
            }
        }
    };
}

figure_kinds! {
    Compile "compile" "compile, no cached code" Microseconds Decides
        "The median time to compile and describe the plugin.",
    Cold "cold" "cold: a new process" Microseconds Decides
        "The median time of a new process that makes one call.",
    WarmMedian "warm-median" "warm: median" Microseconds Decides
        "The median time of a call in a running host.",
    WarmP95 "warm-p95" "warm: p95" Microseconds Informs "Its 95th percentile.",
    WarmP99 "warm-p99" "warm: p99" Microseconds Informs "Its 99th percentile.",
    WarmSandbox "warm-sandbox" "warm: in the sandbox" Microseconds Decides
        "The median of the part of it in the sandbox.",
    WarmHost "warm-host" "warm: in the host" Microseconds Informs
        "The median of the other part, which is the host's.",
    ConcurrentRate "concurrent-rate" "concurrent: calls per s" CallsPerSecond Decides
        "The completed calls per second while many are in flight.",
    ConcurrentMedian "concurrent-median" "concurrent: median" Microseconds Informs "The median time of such a call.",
    ConcurrentP99 "concurrent-p99" "concurrent: p99" Microseconds Informs "Its 99th percentile.",
    GuestMemory "memory-guest" "memory: guest's peak" Bytes Decides "The peak of the guest's linear memory.",
    LoadedMemory "memory-loaded" "memory: loaded plugin" Bytes Informs
        "The resident memory that the process gained when it loaded and called the plugin.",
    CallMemory "memory-call" "memory: running call" Bytes Informs
        "The resident memory that each running call adds to the process.",
}

/// Whether a figure decides about `--fail-above`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureRole {
    Decides,
    /// It varies too much from run to run: a high percentile, a small part, or the memory of the process.
    Informs,
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FigureUnit {
    Microseconds,
    CallsPerSecond,
    Bytes,
}

/// A measured value, and the number of samples behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure {
    pub(super) kind: FigureKind,
    pub(super) value: f64,
    pub(super) samples: usize,
}

impl Figure {
    /// Returns a percentile of times, or `None` of no times.
    pub(super) fn of_times(kind: FigureKind, percent: usize, times: impl Iterator<Item = Duration>) -> Option<Self> {
        let mut times: Vec<Duration> = times.collect();
        times.sort_unstable();
        // The nearest rank: the smallest time that is not below this part of all times.
        let rank = (times.len() * percent).div_ceil(100).max(1);
        let value = times.get(rank - 1)?.as_secs_f64() * 1e6;
        Some(Self { kind, value, samples: times.len() })
    }

    /// Returns a number of bytes.
    pub(super) fn of_bytes(kind: FigureKind, bytes: u64, samples: usize) -> Self {
        // The figure is only shown and compared, so the precision of a float is enough.
        Self { kind, value: bytes as f64, samples }
    }

    /// Returns the value for people.
    pub(super) fn shown(&self) -> String {
        self.kind.unit().shown(self.value)
    }
}

impl FigureKind {
    /// Returns by which factor a value is worse than an earlier one, from their ratio. `None` if the figure decides
    /// nothing.
    pub(super) fn worsening(self, ratio: f64) -> Option<f64> {
        let factor = match self.unit() {
            FigureUnit::Microseconds | FigureUnit::Bytes => ratio,
            FigureUnit::CallsPerSecond => 1.0 / ratio,
        };
        (self.role() == FigureRole::Decides).then_some(factor)
    }
}

impl FigureUnit {
    /// Returns the stable name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "us",
            Self::CallsPerSecond => "calls/s",
            Self::Bytes => "bytes",
        }
    }

    /// Formats a value for people.
    pub(super) fn shown(self, value: f64) -> String {
        match self {
            Self::Microseconds if value < 1e3 => format!("{value:.1} us"),
            Self::Microseconds if value < 1e6 => format!("{:.2} ms", value / 1e3),
            Self::Microseconds => format!("{:.2} s", value / 1e6),
            Self::CallsPerSecond if value < 100.0 => format!("{value:.2}"),
            Self::CallsPerSecond => format!("{value:.0}"),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a cast of a float keeps to the bounds of an integer"
            )]
            Self::Bytes => size(value as u64),
        }
    }
}

/// Returns a value as a multiple of an earlier one, or `None` of zero.
pub(super) fn ratio(before: f64, now: f64) -> Option<f64> {
    (before > 0.0).then(|| now / before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let times = |count: u64| (1..=count).rev().map(Duration::from_micros);
        let at = |percent, count| Figure::of_times(FigureKind::Cold, percent, times(count)).map(|figure| figure.value);
        assert_eq!((at(50, 0), at(50, 1), at(99, 1)), (None, Some(1.0), Some(1.0)));
        assert_eq!((at(50, 100), at(95, 100), at(99, 100)), (Some(50.0), Some(95.0), Some(99.0)));
    }

    #[test]
    fn fewer_calls_per_second_are_worse_and_more_time_too() {
        assert_eq!(FigureKind::ConcurrentRate.worsening(0.5), Some(2.0));
        assert_eq!(FigureKind::WarmMedian.worsening(2.0), Some(2.0));
        assert_eq!(FigureKind::WarmP99.worsening(9.0), None);
    }

    #[test]
    fn values_are_shown_in_the_unit_that_fits() {
        let rows = [(31.25, "31.2 us"), (12_345.0, "12.35 ms"), (2_500_000.0, "2.50 s")];
        for (value, shown) in rows {
            assert_eq!(FigureUnit::Microseconds.shown(value), shown);
        }
        assert_eq!(FigureUnit::CallsPerSecond.shown(12_345.6), "12346");
        assert_eq!(FigureUnit::Bytes.shown(2048.0), "2.0 KiB");
    }
}
