//! The metrics of a server in the format of OTLP.

use crate::metrics::{Labels, MetricFamily, MetricValues};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_sdk::Resource as SdkResource;
use portcullis::metrics::HistogramSnapshot;
use std::time::{SystemTime, UNIX_EPOCH};

/// The prefix of all names. A collector that makes metrics of Prometheus of them adds the unit and the suffix, so that
/// they have the names of `/metrics`.
const PREFIX: &str = "portcullis_";

/// The time that values are about, in nanoseconds since 1970.
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    now: u64,
}

/// Returns the report of metrics since the server started.
pub(super) fn report(
    families: Vec<MetricFamily>,
    resource: &SdkResource,
    started: SystemTime,
) -> ExportMetricsServiceRequest {
    let span = Span { start: nanoseconds(started), now: nanoseconds(SystemTime::now()) };
    let scope = InstrumentationScope {
        name: "portcullis".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    };
    let metrics = families.into_iter().map(|family| metric(family, span)).collect();
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() }];
    let attributes = resource.iter().map(|(key, value)| attribute(key.as_str(), value.to_string())).collect();
    let resource = Some(Resource { attributes, ..Resource::default() });
    let resource_metrics = vec![ResourceMetrics { resource, scope_metrics, ..ResourceMetrics::default() }];
    ExportMetricsServiceRequest { resource_metrics }
}

fn metric(family: MetricFamily, span: Span) -> Metric {
    // With cumulative counts, a lost report costs nothing: the next one has everything again.
    let aggregation_temporality = AggregationTemporality::Cumulative as i32;
    let (unit, data) = match family.values {
        MetricValues::Counters(rows) => {
            let data_points = rows.into_iter().map(|(labels, value)| number(labels, value, span)).collect();
            ("1", Data::Sum(Sum { data_points, aggregation_temporality, is_monotonic: true }))
        }
        MetricValues::Gauges(rows) => {
            let data_points = rows.into_iter().map(|(labels, value)| number(labels, value, span)).collect();
            ("1", Data::Gauge(Gauge { data_points }))
        }
        MetricValues::Seconds(rows) => {
            let data_points = rows.into_iter().map(|(labels, times)| histogram(labels, &times, span)).collect();
            ("s", Data::Histogram(Histogram { data_points, aggregation_temporality }))
        }
    };
    Metric {
        name: format!("{PREFIX}{}", family.name),
        description: family.help.to_owned(),
        unit: unit.to_owned(),
        data: Some(data),
        ..Metric::default()
    }
}

fn number(labels: Labels, value: u64, span: Span) -> NumberDataPoint {
    NumberDataPoint {
        attributes: attributes(labels),
        start_time_unix_nano: span.start,
        time_unix_nano: span.now,
        value: Some(Number::AsInt(i64::try_from(value).unwrap_or(i64::MAX))),
        ..NumberDataPoint::default()
    }
}

fn histogram(labels: Labels, times: &HistogramSnapshot, span: Span) -> HistogramDataPoint {
    // The last bucket has no bound.
    let bounds = times.buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite());
    HistogramDataPoint {
        attributes: attributes(labels),
        start_time_unix_nano: span.start,
        time_unix_nano: span.now,
        count: times.count(),
        sum: Some(times.sum_seconds),
        bucket_counts: times.buckets.iter().map(|(_, count)| *count).collect(),
        explicit_bounds: bounds.collect(),
        ..HistogramDataPoint::default()
    }
}

fn attributes(labels: Labels) -> Vec<KeyValue> {
    labels.into_iter().map(|(name, value)| attribute(name, value)).collect()
}

fn attribute(key: &str, value: String) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(Value::StringValue(value)) }),
        ..KeyValue::default()
    }
}

fn nanoseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
