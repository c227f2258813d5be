//! The telemetry of a server, as a collector receives it.

use crate::guard::ask::{Answer, PATIENCE};
use crate::guard::http::{Serving, command, site};
use crate::guard::service::modern;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use portcullis_tests::Site;
use prost::Message as _;
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER_SPAN: &str = "b7ad6b7169203331";
const SECRET: &str = "collector-secret";

/// The bodies that a collector has received, each with its path and its token.
#[derive(Clone, Default)]
struct Received(Arc<Mutex<Vec<(String, String, Bytes)>>>);

/// A collector on the loopback address.
struct Collector {
    address: SocketAddr,
    received: Received,
}

impl Collector {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, received) = (listener.local_addr().unwrap(), Received::default());
        let reports = received.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let reports = reports.clone();
                let service = service_fn(move |request| receive(request, reports.clone()));
                tokio::spawn(async move {
                    let connection = hyper::server::conn::http1::Builder::new();
                    let _ = connection.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Self { address, received }
    }

    fn bodies(&self, path: &str) -> Vec<Bytes> {
        let received = self.received.0.lock().unwrap();
        received.iter().filter(|(known, _, _)| known == path).map(|(_, _, body)| body.clone()).collect()
    }

    /// Returns the spans so far.
    fn spans(&self) -> Vec<Span> {
        let requests =
            self.bodies("/v1/traces").into_iter().map(|body| ExportTraceServiceRequest::decode(body).unwrap());
        let resources = requests.flat_map(|request| request.resource_spans);
        resources.flat_map(|resource| resource.scope_spans).flat_map(|scope| scope.spans).collect()
    }

    /// Returns the services that sent spans.
    fn services(&self) -> Vec<Option<String>> {
        let requests =
            self.bodies("/v1/traces").into_iter().map(|body| ExportTraceServiceRequest::decode(body).unwrap());
        let resources = requests.flat_map(|request| request.resource_spans).filter_map(|spans| spans.resource);
        resources.map(|resource| text(&resource.attributes, "service.name")).collect()
    }

    /// Returns the last report of metrics.
    fn metrics(&self) -> Option<ExportMetricsServiceRequest> {
        let last = self.bodies("/v1/metrics").pop()?;
        Some(ExportMetricsServiceRequest::decode(last).unwrap())
    }

    /// Waits until as many spans have this name.
    async fn spans_of(&self, name: &str, count: usize) -> Vec<Span> {
        let found = async {
            loop {
                let spans: Vec<Span> = self.spans().into_iter().filter(|span| span.name == name).collect();
                if spans.len() >= count {
                    return spans;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, found).await.unwrap_or_else(|_| panic!("no {count} spans {name}: {:?}", self.spans()))
    }
}

async fn receive(request: Request<Incoming>, received: Received) -> Result<Response<Full<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    assert_eq!(parts.headers["content-type"], "application/x-protobuf");
    let token = parts.headers.get("x-token").map(|token| token.to_str().unwrap().to_owned()).unwrap_or_default();
    let body = body.collect().await.unwrap().to_bytes();
    received.0.lock().unwrap().push((parts.uri.path().to_owned(), token, body));
    Ok(Response::new(Full::default()))
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        other => panic!("{key} is {other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Starts a server that sends to a collector often.
async fn serve(site: &Site, endpoint: &str, more: &[(&str, &str)]) -> Serving {
    let token = format!("x-token={SECRET}");
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint),
        ("OTEL_EXPORTER_OTLP_HEADERS", token.as_str()),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "50"),
    ];
    Serving::start_with(site, &["--no-auth"], &[&variables[..], more].concat()).await
}

/// Calls a tool, with a trace in the message and another one in the header.
async fn call(serving: &Serving, in_message: Option<&str>, in_header: Option<&str>) -> Answer {
    let mut message = modern("tools/call", json!({ "name": "good__run", "arguments": {} }));
    if let Some(trace) = in_message {
        message["params"]["_meta"]["traceparent"] = trace.into();
    }
    let ask = serving.ask("", "good__run");
    let ask = in_header.into_iter().fold(ask, |ask, trace| ask.with("traceparent", trace));
    ask.body(message.to_string()).send(serving.address).await.is(200)
}

#[tokio::test]
async fn a_call_has_a_span_with_its_steps_in_the_trace_of_its_caller() {
    let (site, collector) = (site(), Collector::start().await);
    let serving = serve(&site, &format!("http://{}", collector.address), &[]).await;
    let parent = format!("00-{TRACE}-{CALLER_SPAN}-01");
    let other = format!("00-{}-{CALLER_SPAN}-01", "1".repeat(32));
    let answer = call(&serving, Some(&parent), Some(&other)).await.last();
    let id = answer["result"]["_meta"]["portcullis/call"].as_str().unwrap().to_owned();
    let span = collector.spans_of("execute_tool good.run", 1).await.pop().unwrap();
    assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (TRACE.to_owned(), CALLER_SPAN.to_owned()));
    assert_eq!(span.kind, SpanKind::Server as i32);
    let attribute = |key| text(&span.attributes, key);
    assert_eq!(attribute("gen_ai.operation.name").as_deref(), Some("execute_tool"));
    assert_eq!(attribute("gen_ai.tool.name").as_deref(), Some("good.run"));
    assert_eq!(attribute("gen_ai.tool.call.id"), Some(id));
    assert_eq!(attribute("portcullis.code").as_deref(), Some("completed"));
    assert_eq!(attribute("portcullis.decision").as_deref(), Some("allow"));
    for name in ["decide", "instantiate", "execute"] {
        let step = collector.spans_of(name, 1).await.pop().unwrap();
        assert_eq!((&step.trace_id, &step.parent_span_id), (&span.trace_id, &span.span_id), "{name}");
        let inside = span.start_time_unix_nano <= step.start_time_unix_nano
            && step.start_time_unix_nano <= step.end_time_unix_nano
            && step.end_time_unix_nano <= span.end_time_unix_nano;
        assert!(inside, "{step:?} in {span:?}");
    }
    assert!(
        collector.services().iter().all(|name| name.as_deref() == Some("portcullis")),
        "{:?}",
        collector.services()
    );
    let received = collector.received.0.lock().unwrap();
    assert!(received.iter().all(|(_, token, _)| token == SECRET), "a report has no token");
}

#[tokio::test]
async fn the_header_joins_a_trace_too_and_a_call_without_one_begins_its_own() {
    let (site, collector) = (site(), Collector::start().await);
    let serving = serve(&site, &format!("http://{}/", collector.address), &[("OTEL_SERVICE_NAME", "gate")]).await;
    call(&serving, None, Some(&format!("00-{TRACE}-{CALLER_SPAN}-01"))).await;
    let span = collector.spans_of("execute_tool good.run", 1).await.pop().unwrap();
    assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (TRACE.to_owned(), CALLER_SPAN.to_owned()));
    let answer = call(&serving, None, Some("not-a-trace")).await.last();
    let spans = collector.spans_of("execute_tool good.run", 2).await;
    let own = spans.iter().find(|span| span.parent_span_id.is_empty()).unwrap();
    assert_eq!(hex(&own.trace_id), answer["result"]["_meta"]["portcullis/call"].as_str().unwrap());
    assert!(collector.services().iter().all(|name| name.as_deref() == Some("gate")), "{:?}", collector.services());
}

#[tokio::test]
async fn a_caller_that_is_not_sampled_has_no_spans_and_the_sampler_can_be_off() {
    let (site, collector) = (site(), Collector::start().await);
    let endpoint = format!("http://{}", collector.address);
    let serving = serve(&site, &endpoint, &[]).await;
    call(&serving, Some(&format!("00-{TRACE}-{CALLER_SPAN}-00")), None).await;
    call(&serving, None, None).await;
    let spans = collector.spans_of("execute_tool good.run", 1).await;
    assert!(spans.iter().all(|span| hex(&span.trace_id) != TRACE), "{spans:?}");
    drop(serving.interrupt().await);
    let before = collector.spans().len();
    let serving = serve(&site, &endpoint, &[("OTEL_TRACES_SAMPLER", "always_off")]).await;
    call(&serving, Some(&format!("00-{TRACE}-{CALLER_SPAN}-01")), None).await;
    // Everything that is queued is sent before the server ends.
    let (status, said) = serving.interrupt().await;
    assert_eq!((status.code(), collector.spans().len()), (Some(0), before), "{said}");
}

#[tokio::test]
async fn the_calls_of_a_batch_are_below_it_in_one_trace() {
    let (site, collector) = (site(), Collector::start().await);
    let serving = serve(&site, &format!("http://{}", collector.address), &[]).await;
    let calls = json!([{ "tool": "good__run", "arguments": {} }, { "tool": "second__run", "arguments": {} }]);
    let message = modern("tools/call", json!({ "name": "tools__batch", "arguments": { "calls": calls } }));
    let ask = serving.ask("", "tools__batch").body(message.to_string());
    ask.send(serving.address).await.is(200);
    let batch = collector.spans_of("execute_tool tools.batch", 1).await.pop().unwrap();
    assert!(batch.parent_span_id.is_empty(), "{batch:?}");
    for name in ["execute_tool good.run", "execute_tool second.run"] {
        let span = collector.spans_of(name, 1).await.pop().unwrap();
        assert_eq!((&span.trace_id, &span.parent_span_id), (&batch.trace_id, &batch.span_id), "{span:?}");
        assert_eq!(span.kind, SpanKind::Internal as i32);
    }
}

#[tokio::test]
async fn a_collector_receives_the_metrics_of_the_server_and_what_is_left_at_its_end() {
    let (site, collector) = (site(), Collector::start().await);
    let endpoint = format!("http://{}", collector.address);
    // The last report is the only one after the first.
    let serving = serve(&site, &endpoint, &[("OTEL_METRIC_EXPORT_INTERVAL", "3600000")]).await;
    for _ in 0..3 {
        call(&serving, None, None).await;
    }
    let (status, said) = serving.interrupt().await;
    assert_eq!(status.code(), Some(0), "{said}");
    assert_eq!(collector.spans_of("execute_tool good.run", 3).await.len(), 3);
    let report = collector.metrics().unwrap();
    let resource = report.resource_metrics[0].resource.as_ref().unwrap();
    assert_eq!(text(&resource.attributes, "service.name").as_deref(), Some("portcullis"));
    let metrics = &report.resource_metrics[0].scope_metrics[0].metrics;
    let find = |name: &str| metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("no {name}"));
    let Some(Data::Sum(calls)) = &find("portcullis_calls").data else { panic!("{metrics:?}") };
    assert!(calls.is_monotonic);
    let point = &calls.data_points[0];
    assert_eq!(text(&point.attributes, "tool").as_deref(), Some("good.run"));
    assert_eq!(format!("{:?}", point.value), "Some(AsInt(3))");
    let durations = find("portcullis_call_duration");
    let Some(Data::Histogram(histogram)) = &durations.data else { panic!("{durations:?}") };
    let point = &histogram.data_points[0];
    assert_eq!((durations.unit.as_str(), point.count), ("s", 3));
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
    assert!(matches!(find("portcullis_run_slots").data, Some(Data::Gauge(_))));
}

#[tokio::test]
async fn a_server_works_without_its_collector_and_says_so_once() {
    let site = site();
    // Nothing listens there any more.
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let mut serving = serve(&site, &format!("http://{closed}"), &[]).await;
    call(&serving, None, None).await;
    serving.says("the collector does not take telemetry").await;
    call(&serving, None, None).await;
    let (status, said) = serving.interrupt().await;
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(!said.contains("does not take telemetry") && !said.contains(SECRET), "{said}");
}

#[tokio::test]
async fn variables_that_cannot_be_followed_keep_the_server_from_starting() {
    let site = site();
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9");
    let rows: [(&[(&str, &str)], &str); 5] = [
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector.example")], "must be an `http://` URL"),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "collector")], "is not a URL"),
        (&[base, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], "only http/protobuf is supported"),
        (&[base, ("OTEL_TRACES_SAMPLER", "jaeger_remote")], "is not supported"),
        (&[base, ("OTEL_EXPORTER_OTLP_HEADERS", "secret-without-name")], "is not a list"),
    ];
    for (variables, reason) in rows {
        let mut command = command(&site, &["--http", "127.0.0.1:0"]);
        let output = command.envs(variables.iter().copied()).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{variables:?}: {said}");
        assert!(said.contains(reason) && !said.contains("secret-without-name"), "{variables:?}: {said}");
    }
    let disabled = [base, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), ("OTEL_SDK_DISABLED", "true")];
    let serving = Serving::start_with(&site, &["--no-auth"], &disabled).await;
    call(&serving, None, None).await;
}
