//! The stand-in for telemetry in a program without the cargo feature `otlp`.

use crate::environment;
use anyhow::ensure;
use portcullis::Host;
use portcullis::metrics::CallObserver;
use portcullis_mcp::http::HttpCounters;
use std::convert::Infallible;
use std::sync::Arc;

/// The variables that ask for telemetry.
const ENDPOINTS: [&str; 3] =
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"];

/// Telemetry, which this program does not have.
pub(crate) struct Telemetry(Infallible);

/// Reports, which this program does not make.
pub(crate) struct TelemetryReports(Infallible);

impl TelemetryReports {
    pub(crate) async fn end(self) {
        match self.0 {}
    }
}

impl Telemetry {
    /// Returns `None`.
    ///
    /// # Errors
    /// The variables ask for telemetry.
    pub(crate) fn begin() -> anyhow::Result<Option<Arc<Self>>> {
        let asked = ENDPOINTS.into_iter().find(|name| environment::variable(name).is_some());
        ensure!(
            asked.is_none(),
            "this program was built without the cargo feature `otlp`: unset {}",
            asked.unwrap_or_default()
        );
        Ok(None)
    }

    pub(crate) fn observer(&self) -> Option<Arc<dyn CallObserver>> {
        match self.0 {}
    }

    pub(crate) fn ports(&self) -> Vec<u16> {
        match self.0 {}
    }

    pub(crate) fn reports(self: &Arc<Self>, _host: &Host, _counters: Option<HttpCounters>) -> TelemetryReports {
        match self.0 {}
    }
}
