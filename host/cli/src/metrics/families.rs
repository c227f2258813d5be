//! The families of metrics that a server publishes. `docs/service.md` describes each of them.

use super::family::{Labels, MetricFamily, MetricValues};
use portcullis::metrics::{CallStep, CountedTool, HistogramSnapshot, HostMetrics};
use portcullis::{Code, Outcome};
use portcullis_mcp::http::HttpCounters;
use std::collections::BTreeMap;

/// Returns the metrics of a server, from what its host and its HTTP transport, if it has one, have counted.
pub(crate) fn families(host: &HostMetrics, http: Option<&HttpCounters>) -> Vec<MetricFamily> {
    of_calls(host).into_iter().chain(of_host(host)).chain(http.into_iter().flat_map(of_http)).collect()
}

fn of_calls(host: &HostMetrics) -> [MetricFamily; 6] {
    let calls = host.calls.iter().map(|row| {
        let labels = [
            ("tool", tool_label(&row.tool)),
            ("decision", row.answer.as_str().to_owned()),
            ("code", row.code.as_str().to_owned()),
        ];
        (labels.into(), row.calls)
    });
    let (approval, steps): (Vec<_>, Vec<_>) =
        host.steps.iter().cloned().partition(|(step, _)| *step == CallStep::Approval);
    let steps = steps.into_iter().map(|(step, times)| (label("step", step.as_str()), times));
    let approval = approval.into_iter().map(|(_, times)| (Labels::new(), times));
    [
        counters("calls", "Calls that have ended", calls.collect()),
        seconds(
            "call_duration",
            "Time from a request to its recorded outcome",
            [(Labels::new(), host.durations.clone())],
        ),
        seconds("call_step_duration", "Time of one step of a call", steps),
        seconds("approval_wait", "Time that a call waited for an approver", approval),
        counters("limits_hit", "Calls that ended because they reached a limit", limits(host)),
        gauge("calls_in_progress", "Calls that have begun and have not ended", host.calls_under_way),
    ]
}

fn of_host(host: &HostMetrics) -> Vec<MetricFamily> {
    let lookups =
        vec![(label("result", "hit"), host.code_cache_hits), (label("result", "miss"), host.code_cache_misses)];
    let plugins = vec![
        (label("state", "ready"), host.plugins_ready),
        (label("state", "loading"), host.plugins_loading),
        (label("state", "refused"), host.plugins_refused),
    ];
    let open = host.approval_requests_open;
    let version = vec![(label("version", env!("CARGO_PKG_VERSION")), 1)];
    vec![
        gauge("run_slots_used", "Run slots that calls hold", host.run_slots_used),
        gauge("run_slots", "Run slots", host.run_slots),
        gauge("instances_used", "Instances of plugins in the pool that are in use", host.instances_used),
        gauge("session_instances", "Instances that sessions keep and that wait for a call", host.session_instances),
        gauge("instances", "Places for instances in the pool", host.instances),
        counters("code_cache_lookups", "Look-ups of compiled code in the cache on the disk", lookups),
        gauge("audit_entries_waiting", "Audit entries that are not written yet", host.audit_entries_waiting),
        gauges(
            "approval_requests_open",
            "Approval requests that wait for an approver",
            open.map(|open| (Labels::new(), open)),
        ),
        gauges("plugins", "Plugins by state", plugins),
        gauge(
            "policy_current",
            "1 if the policy in the files is in force, 0 if it cannot be used",
            host.is_policy_current.into(),
        ),
        gauges(
            "audit_anchored",
            "1 if the audit log is anchored in the shared ledger, 0 if that does not work",
            host.is_audit_anchored.map(|works| (Labels::new(), works.into())),
        ),
        gauges(
            "ledger_policies",
            "Different policies of the hosts that share the ledger",
            host.ledger_policies.map(|policies| (Labels::new(), policies)),
        ),
        gauges("build_info", "The version of the server, with the value 1", version),
    ]
}

fn of_http(http: &HttpCounters) -> [MetricFamily; 3] {
    let requests = http.refused_requests().map(|(reason, count)| (label("reason", reason.as_str()), count));
    let connections = http.refused_connections().map(|(reason, count)| (label("reason", reason), count));
    [
        gauge("http_connections", "Open connections", http.open_connections()),
        counters("http_refused_requests", "Requests that the server refused", requests.collect()),
        counters("http_refused_connections", "Connections that the server ended for others", connections.collect()),
    ]
}

/// Returns the label of a tool. A tool's name has a dot, so no tool is named like the others.
fn tool_label(tool: &CountedTool) -> String {
    match tool {
        CountedTool::Known(name) => name.to_string(),
        CountedTool::Other => "other".to_owned(),
        CountedTool::Unknown => "unknown".to_owned(),
    }
}

/// Returns how many calls reached each limit, by the limit.
fn limits(host: &HostMetrics) -> Vec<(Labels, u64)> {
    let mut limits: BTreeMap<&str, u64> = BTreeMap::new();
    for row in host.calls.iter().filter(|row| row.code.outcome() == Outcome::Limit) {
        *limits.entry(limit_name(row.code)).or_default() += row.calls;
    }
    limits.into_iter().map(|(limit, calls)| (label("limit", limit), calls)).collect()
}

fn limit_name(code: Code) -> &'static str {
    let code = code.as_str();
    code.strip_prefix("limit-").unwrap_or(code)
}

fn label(name: &'static str, value: &str) -> Labels {
    vec![(name, value.to_owned())]
}

fn counters(name: &'static str, help: &'static str, values: Vec<(Labels, u64)>) -> MetricFamily {
    MetricFamily { name, help, values: MetricValues::Counters(values) }
}

fn gauge(name: &'static str, help: &'static str, value: u64) -> MetricFamily {
    gauges(name, help, [(Labels::new(), value)])
}

fn gauges(name: &'static str, help: &'static str, values: impl IntoIterator<Item = (Labels, u64)>) -> MetricFamily {
    MetricFamily { name, help, values: MetricValues::Gauges(values.into_iter().collect()) }
}

fn seconds(
    name: &'static str,
    help: &'static str,
    values: impl IntoIterator<Item = (Labels, HistogramSnapshot)>,
) -> MetricFamily {
    MetricFamily { name, help, values: MetricValues::Seconds(values.into_iter().collect()) }
}
