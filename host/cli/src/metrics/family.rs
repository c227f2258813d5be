//! A family of metrics: one name, and a value for each combination of its labels.

use portcullis::metrics::HistogramSnapshot;

/// The labels of one value.
pub(crate) type Labels = Vec<(&'static str, String)>;

/// A family of metrics.
#[derive(Clone, Debug)]
pub(crate) struct MetricFamily {
    /// The name, without the prefix, the unit and the suffix of its kind.
    pub(crate) name: &'static str,
    /// The description, one sentence without its full stop.
    pub(crate) help: &'static str,
    pub(crate) values: MetricValues,
}

/// The values of a family, which are all of one kind.
#[derive(Clone, Debug)]
pub(crate) enum MetricValues {
    /// Numbers that only grow while the server runs.
    Counters(Vec<(Labels, u64)>),
    /// Numbers at the moment.
    Gauges(Vec<(Labels, u64)>),
    /// Durations in seconds.
    Seconds(Vec<(Labels, HistogramSnapshot)>),
}
