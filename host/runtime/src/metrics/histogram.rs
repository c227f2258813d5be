//! Histograms of durations, with fixed buckets.

use std::time::Duration;

/// The buckets of durations that depend on the machine: from a tenth of a millisecond to the longest time limit that is
/// usual. Upper bounds, in microseconds.
pub(super) const MACHINE_BOUNDS: &[u64] = &[
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
];

/// The buckets of durations that depend on a person: from a second to a day. Upper bounds, in microseconds.
pub(super) const PERSON_BOUNDS: &[u64] = &[
    1_000_000,
    5_000_000,
    15_000_000,
    30_000_000,
    60_000_000,
    120_000_000,
    300_000_000,
    600_000_000,
    1_800_000_000,
    3_600_000_000,
    14_400_000_000,
    86_400_000_000,
];

/// A histogram of durations.
#[derive(Debug)]
pub(super) struct Histogram {
    bounds: &'static [u64],
    /// One for each bound, and one for longer durations.
    buckets: Box<[u64]>,
    sum_microseconds: u64,
}

/// A histogram of durations at one moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistogramSnapshot {
    /// The buckets: the upper bound in seconds, which is infinite for the last one, and how many durations are above
    /// the bound before it and not above this one.
    pub buckets: Vec<(f64, u64)>,
    /// The sum of all durations, in seconds.
    pub sum_seconds: f64,
}

impl HistogramSnapshot {
    /// Returns the number of durations.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }
}

impl Histogram {
    pub(super) fn new(bounds: &'static [u64]) -> Self {
        Self { bounds, buckets: vec![0; bounds.len() + 1].into(), sum_microseconds: 0 }
    }

    pub(super) fn record(&mut self, duration: Duration) {
        let microseconds = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let index = self.bounds.partition_point(|bound| *bound < microseconds);
        if let Some(bucket) = self.buckets.get_mut(index) {
            *bucket += 1;
        }
        self.sum_microseconds = self.sum_microseconds.saturating_add(microseconds);
    }

    pub(super) fn snapshot(&self) -> HistogramSnapshot {
        let bounds = self.bounds.iter().map(|bound| seconds(*bound)).chain([f64::INFINITY]);
        let buckets = bounds.zip(self.buckets.iter().copied()).collect();
        HistogramSnapshot { buckets, sum_seconds: seconds(self.sum_microseconds) }
    }
}

fn seconds(microseconds: u64) -> f64 {
    Duration::from_micros(microseconds).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_counts_in_the_first_bucket_whose_bound_it_does_not_exceed() {
        let mut histogram = Histogram::new(&[10, 20]);
        for microseconds in [0, 10, 11, 20, 21, 1000] {
            histogram.record(Duration::from_micros(microseconds));
        }
        let snapshot = histogram.snapshot();
        assert_eq!(snapshot.buckets, [(0.000_01, 2), (0.000_02, 2), (f64::INFINITY, 2)]);
        assert_eq!((snapshot.count(), snapshot.sum_seconds), (6, 0.001_062));
    }

    #[test]
    fn bounds_increase() {
        for bounds in [MACHINE_BOUNDS, PERSON_BOUNDS] {
            assert!(bounds.is_sorted_by(|one, next| one < next));
        }
    }
}
