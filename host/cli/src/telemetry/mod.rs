//! Telemetry of a server: spans of its calls and its metrics, sent to a collector over OTLP.
//!
//! It is off unless the standard variables of OpenTelemetry name a collector. It sends the names of tools, codes and
//! times, and no arguments, results or principals.

mod client;
mod otlp_metrics;
mod sampling;
mod settings;
mod spans;
mod variables;

use crate::metrics::families;
use anyhow::Context as _;
use client::CollectorClient;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Uri};
use opentelemetry::KeyValue;
use opentelemetry_http::{Bytes, Request};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanProcessor};
use portcullis::Host;
use portcullis::metrics::CallObserver;
use portcullis_mcp::http::HttpCounters;
use prost::Message;
use settings::TelemetrySettings;
use spans::CallSpans;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{MissedTickBehavior, interval, timeout};
use variables::variable;

/// Maximum time to send the remaining reports when the server stops.
const END_TIME_MAX: Duration = Duration::from_secs(3);

/// The telemetry of a server.
pub(crate) struct Telemetry {
    settings: TelemetrySettings,
    client: CollectorClient,
    resource: Resource,
    started: SystemTime,
    spans: Option<Arc<CallSpans>>,
}

/// The reports of a running server. They end when this is dropped.
pub(crate) struct TelemetryReports {
    telemetry: Arc<Telemetry>,
    host: Host,
    counters: Option<HttpCounters>,
    metrics: JoinHandle<()>,
}

impl Drop for TelemetryReports {
    fn drop(&mut self) {
        self.metrics.abort();
    }
}

impl TelemetryReports {
    /// Sends the remaining reports, when the server has stopped.
    pub(crate) async fn end(self) {
        // No regular report may follow the last one.
        self.metrics.abort();
        let telemetry = &self.telemetry;
        // Spans and metrics are sent at the same time, so that the end waits only once.
        let spans = telemetry.spans.clone().map(|spans| spawn_blocking(move || spans.end(END_TIME_MAX)));
        // A collector that takes longer does not get the last metrics.
        let _ = timeout(END_TIME_MAX, telemetry.report(&self.host, self.counters.as_ref())).await;
        if let Some(spans) = spans {
            let _ = spans.await;
        }
    }
}

impl Telemetry {
    /// Prepares the telemetry that the variables ask for. `None` if they ask for none.
    ///
    /// # Errors
    /// A variable is invalid, or asks for what is not supported.
    pub(crate) fn begin() -> anyhow::Result<Option<Arc<Self>>> {
        let Some(settings) = TelemetrySettings::read()? else { return Ok(None) };
        let (client, resource) = (CollectorClient::new(), resource());
        let spans = settings.traces.is_some().then(|| spans(&settings, &client, &resource)).transpose()?;
        let started = SystemTime::now();
        Ok(Some(Arc::new(Self { settings, client, resource, started, spans: spans.map(Arc::new) })))
    }

    /// Returns the observer of calls, if they have spans.
    pub(crate) fn observer(&self) -> Option<Arc<dyn CallObserver>> {
        self.spans.clone().map(|spans| spans as _)
    }

    /// Returns the ports of the collectors, which the process must be able to reach.
    pub(crate) fn ports(&self) -> Vec<u16> {
        self.settings.ports()
    }

    /// Reports metrics in the interval that the variables say, until the result is dropped.
    pub(crate) fn reports(self: &Arc<Self>, host: &Host, counters: Option<HttpCounters>) -> TelemetryReports {
        let (telemetry, reported, counted) = (Arc::clone(self), host.clone(), counters.clone());
        let metrics = tokio::spawn(async move {
            let mut ticks = interval(telemetry.settings.interval);
            // After a slow report, the reports that were due meanwhile do not follow at once.
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                telemetry.report(&reported, counted.as_ref()).await;
            }
        });
        TelemetryReports { telemetry: Arc::clone(self), host: host.clone(), counters, metrics }
    }

    async fn report(&self, host: &Host, counters: Option<&HttpCounters>) {
        let Some(endpoint) = &self.settings.metrics else { return };
        let report = otlp_metrics::report(families(&host.metrics().await, counters), &self.resource, self.started);
        // If the collector does not take the report, the client says so. The next one has the same counters.
        let _ = self.client.send(self.request(endpoint, report.encode_to_vec())).await;
    }

    fn request(&self, endpoint: &Uri, body: Vec<u8>) -> Request<Bytes> {
        let mut request = Request::new(Bytes::from(body));
        *request.method_mut() = http::Method::POST;
        request.uri_mut().clone_from(endpoint);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        request.headers_mut().extend(self.settings.headers.iter().cloned());
        request
    }
}

fn spans(settings: &TelemetrySettings, client: &CollectorClient, resource: &Resource) -> anyhow::Result<CallSpans> {
    // The library reads the endpoint, the headers and the sizes of its queue from the variables.
    let exporter = SpanExporter::builder().with_http().with_http_client(client.clone()).build();
    let exporter = exporter.context("the variables of OpenTelemetry are invalid")?;
    let mut processor = BatchSpanProcessor::builder(exporter).build();
    processor.set_resource(resource);
    Ok(CallSpans::new(processor, settings.sampling))
}

/// Returns what the telemetry is about: `service.name` and the attributes of the variables.
fn resource() -> Resource {
    let named = ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"].map(variable);
    let is_named = named[0].is_some() || named[1].as_ref().is_some_and(|list| list.contains("service.name="));
    let builder = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    // `with_service_name` would replace the name that the variables give.
    if is_named { builder.build() } else { builder.with_service_name("portcullis").build() }
}
