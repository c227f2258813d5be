//! Where telemetry goes, from the standard variables of OpenTelemetry.

use super::sampling::Sampling;
use super::variables::variable;
use anyhow::{Context as _, bail, ensure};
use http::{HeaderName, HeaderValue, Uri};
use std::time::Duration;

/// The default interval between two reports of metrics.
const METRICS_INTERVAL: Duration = Duration::from_secs(60);

/// The only protocol that is spoken.
const PROTOCOL: &str = "http/protobuf";

/// Where telemetry goes.
pub(super) struct TelemetrySettings {
    pub(super) traces: Option<Uri>,
    pub(super) metrics: Option<Uri>,
    /// The headers of a report of metrics. The library reads those of traces itself.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) interval: Duration,
    pub(super) sampling: Sampling,
}

impl TelemetrySettings {
    /// Reads the variables. `None` if no collector is named, or telemetry is disabled.
    ///
    /// # Errors
    /// A variable is invalid, or asks for what is not supported.
    pub(super) fn read() -> anyhow::Result<Option<Self>> {
        if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let (traces, metrics) = (endpoint("TRACES", "v1/traces")?, endpoint("METRICS", "v1/metrics")?);
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        for signal in ["", "TRACES_", "METRICS_"] {
            let name = format!("OTEL_EXPORTER_OTLP_{signal}PROTOCOL");
            let protocol = variable(&name).unwrap_or_else(|| PROTOCOL.to_owned());
            ensure!(protocol == PROTOCOL, "{name} is {protocol:?}, and only {PROTOCOL} is supported");
        }
        Ok(Some(Self { traces, metrics, headers: headers()?, interval: interval()?, sampling: Sampling::read()? }))
    }

    /// Returns the ports of the collectors, which the process must be able to reach.
    pub(super) fn ports(&self) -> Vec<u16> {
        self.traces.iter().chain(&self.metrics).map(port).collect()
    }
}

/// Returns the port of a collector.
pub(super) fn port(endpoint: &Uri) -> u16 {
    endpoint.port_u16().unwrap_or(80)
}

/// Returns where one kind of telemetry goes. `None` if nowhere.
fn endpoint(signal: &str, path: &str) -> anyhow::Result<Option<Uri>> {
    let exporter = format!("OTEL_{signal}_EXPORTER");
    match variable(&exporter).as_deref() {
        None | Some("otlp") => {}
        Some("none") => return Ok(None),
        Some(other) => bail!("{exporter} is {other:?}, and only \"otlp\" and \"none\" are supported"),
    }
    let own = format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT");
    let (name, text) = match (variable(&own), variable("OTEL_EXPORTER_OTLP_ENDPOINT")) {
        // The endpoint of one signal is used as it is. A base endpoint gets the path of the signal.
        (Some(own_endpoint), _) => (own, own_endpoint),
        (None, Some(base)) => {
            ("OTEL_EXPORTER_OTLP_ENDPOINT".to_owned(), format!("{}/{path}", base.trim_end_matches('/')))
        }
        (None, None) => return Ok(None),
    };
    let uri: Uri = text.parse().with_context(|| format!("{name} is not a URL"))?;
    ensure!(
        uri.scheme_str() == Some("http") && uri.host().is_some(),
        "{name} must be an `http://` URL: run a collector on this machine or in your network, which encrypts"
    );
    Ok(Some(uri))
}

/// Returns the headers of reports of metrics: `name=value`, separated by commas, with percent escapes in values.
fn headers() -> anyhow::Result<Vec<(HeaderName, HeaderValue)>> {
    let name = "OTEL_EXPORTER_OTLP_METRICS_HEADERS";
    let text = variable(name).or_else(|| variable("OTEL_EXPORTER_OTLP_HEADERS")).unwrap_or_default();
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let headers = pairs.map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.trim().parse().ok()?, HeaderValue::from_bytes(&unescaped(value.trim())).ok()?))
    });
    // The values may be secrets, so the error quotes nothing.
    headers.collect::<Option<_>>().context("OTEL_EXPORTER_OTLP_HEADERS is not a list of `name=value`")
}

/// Replaces percent escapes. Leaves what is none as it is.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

fn interval() -> anyhow::Result<Duration> {
    let name = "OTEL_METRIC_EXPORT_INTERVAL";
    let Some(text) = variable(name) else { return Ok(METRICS_INTERVAL) };
    let milliseconds: u64 = text.parse().with_context(|| format!("{name} is not a number of milliseconds"))?;
    ensure!(milliseconds > 0, "{name} must be greater than 0");
    Ok(Duration::from_millis(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_escapes_are_replaced_and_other_text_stays() {
        for (text, bytes) in [("a%20b", "a b"), ("100%", "100%"), ("%zz", "%zz"), ("%41%", "A%"), ("", "")] {
            assert_eq!(unescaped(text), bytes.as_bytes(), "{text}");
        }
    }
}
