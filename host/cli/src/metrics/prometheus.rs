//! The metrics in the text format of Prometheus, as OpenMetrics defines it.

use super::family::{MetricFamily, MetricValues};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;

/// The content type of the text.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The prefix of all names.
const PREFIX: &str = "portcullis";

/// The families of one response.
#[derive(Debug)]
struct Families(Vec<MetricFamily>);

/// Writes the families as text.
pub(crate) fn text(families: Vec<MetricFamily>) -> String {
    let mut registry = Registry::with_prefix(PREFIX);
    registry.register_collector(Box::new(Families(families)));
    let mut written = String::new();
    // Writing to a string does not fail. Half a response would not end as the format says, so a reader refuses it.
    let _ = text::encode(&mut written, &registry);
    written
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|family| encode(family, &mut encoder))
    }
}

fn encode(MetricFamily { name, help, values }: &MetricFamily, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
    match values {
        MetricValues::Counters(rows) => {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            rows.iter().try_for_each(|(labels, value)| {
                family.encode_family(labels)?.encode_counter::<NoLabelSet, u64, f64>(value, None)
            })
        }
        MetricValues::Gauges(rows) => {
            let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            rows.iter().try_for_each(|(labels, value)| family.encode_family(labels)?.encode_gauge(value))
        }
        MetricValues::Seconds(rows) => {
            let mut family = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Histogram)?;
            rows.iter().try_for_each(|(labels, times)| {
                let mut encoder = family.encode_family(labels)?;
                encoder.encode_histogram::<NoLabelSet>(times.sum_seconds, times.count(), &times.buckets, None)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_its_prefix_its_labels_escaped_and_an_end() {
        let values = MetricValues::Counters(vec![(vec![("tool", "a\"b\\c\nd".to_owned())], 3)]);
        let gauge = MetricValues::Gauges(vec![(Vec::new(), 2)]);
        let written = text(vec![
            MetricFamily { name: "calls", help: "Calls", values },
            MetricFamily { name: "slots", help: "Slots", values: gauge },
        ]);
        assert_eq!(
            written,
            "# HELP portcullis_calls Calls\n# TYPE portcullis_calls counter\n\
             portcullis_calls_total{tool=\"a\\\"b\\\\c\\nd\"} 3\n\
             # HELP portcullis_slots Slots\n# TYPE portcullis_slots gauge\nportcullis_slots 2\n# EOF\n"
        );
    }
}
