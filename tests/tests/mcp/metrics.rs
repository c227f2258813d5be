//! The metrics of a server, at an address of their own.

use crate::guard::ask::{Answer, Ask};
use crate::guard::http::{POLICY, Serving, command, site};
use crate::guard::service::SLEEP;
use portcullis_tests::{Manifest, guest};
use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const WRONG: &str = "wrong-0123456789abcdef0123456789abcdef";

async fn get(address: SocketAddr, path: &str) -> Answer {
    Ask::new("GET", path).with("Host", &address.to_string()).send(address).await
}

async fn scrape(serving: &Serving) -> String {
    let answer = get(serving.metrics.unwrap(), "/metrics").await.is(200);
    assert_eq!(
        answer.header("Content-Type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8"),
        "{answer:?}"
    );
    assert!(answer.body.ends_with("# EOF\n"), "{}", answer.body);
    answer.body
}

/// Returns the value of one series.
fn value(metrics: &str, series: &str) -> Option<f64> {
    metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

fn families(metrics: &str) -> BTreeSet<String> {
    let named = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    named.map(str::to_owned).collect()
}

#[tokio::test]
async fn calls_and_refusals_are_counted_at_an_address_of_their_own() {
    let site = site();
    site.plugin("sleep-in-execute", &guest("sleep-in-execute", &Manifest::of("sleep-in-execute")));
    fs::write(site.path("policy.toml"), format!("{POLICY}[limits]\ntime = \"100 ms\"\n")).unwrap();
    let arguments = ["--token-file", "tokens", "--metrics", "127.0.0.1:0"];
    let token = "ci-0123456789abcdef0123456789abcdef";
    fs::write(site.path("tokens"), format!("ci:{token}\n")).unwrap();
    fs::set_permissions(site.path("tokens"), fs::Permissions::from_mode(0o600)).unwrap();
    let serving = Serving::start(&site, &arguments).await;
    let before = scrape(&serving).await;
    assert_eq!(
        value(&before, "portcullis_http_refused_requests_total{reason=\"token-invalid\"}"),
        Some(0.0),
        "{before}"
    );
    for _ in 0..3 {
        serving.call(token).await.is(200);
    }
    serving.call_tool(token, SLEEP).await.is(200);
    serving.call(WRONG).await.is(401);
    let metrics = scrape(&serving).await;
    let is = |series: &str, expected: f64| assert_eq!(value(&metrics, series), Some(expected), "{series}\n{metrics}");
    is("portcullis_calls_total{tool=\"good.run\",decision=\"allow\",code=\"completed\"}", 3.0);
    is("portcullis_calls_total{tool=\"sleep-in-execute.run\",decision=\"allow\",code=\"limit-time\"}", 1.0);
    is("portcullis_limits_hit_total{limit=\"time\"}", 1.0);
    is("portcullis_call_duration_seconds_count", 4.0);
    is("portcullis_call_step_duration_seconds_count{step=\"decide\"}", 4.0);
    is("portcullis_call_step_duration_seconds_count{step=\"queue\"}", 4.0);
    is("portcullis_call_step_duration_seconds_count{step=\"slot\"}", 4.0);
    is("portcullis_call_step_duration_seconds_count{step=\"instantiate\"}", 4.0);
    is("portcullis_call_step_duration_seconds_count{step=\"execute\"}", 4.0);
    is("portcullis_call_step_duration_seconds_bucket{le=\"+Inf\",step=\"execute\"}", 4.0);
    is("portcullis_approval_wait_seconds_count", 0.0);
    is("portcullis_calls_in_progress", 0.0);
    is("portcullis_run_slots", 16.0);
    is("portcullis_run_slots_used", 0.0);
    is("portcullis_instances_used", 0.0);
    is("portcullis_audit_entries_waiting", 0.0);
    is("portcullis_approval_requests_open", 0.0);
    is("portcullis_plugins{state=\"refused\"}", 1.0);
    is("portcullis_plugins{state=\"loading\"}", 0.0);
    is("portcullis_policy_current", 1.0);
    is("portcullis_http_refused_requests_total{reason=\"token-invalid\"}", 1.0);
    is("portcullis_http_refused_connections_total{reason=\"evicted\"}", 0.0);
    let execute = "portcullis_call_step_duration_seconds_sum{step=\"execute\"}";
    // The limit of 100 ms is also for the time before the tool runs.
    assert!(value(&metrics, execute).is_some_and(|seconds| (0.05..30.0).contains(&seconds)), "{metrics}");
    let lookups = |result| value(&metrics, &format!("portcullis_code_cache_lookups_total{{result=\"{result}\"}}"));
    assert!(lookups("hit").unwrap() + lookups("miss").unwrap() >= 2.0, "{metrics}");

    // The address of the tools has no metrics, and this one has no tools.
    get(serving.address, "/metrics").await.is(404);
    let address = serving.metrics.unwrap();
    get(address, "/mcp").await.is(404);
    assert_eq!(get(address, "/readyz").await.is(200).body, "ready\n");
    Ask::new("GET", "/metrics").with("Host", "evil.example").send(address).await.is(403);
    Ask::new("GET", "/metrics").with("Host", "10.1.2.3").send(address).await.is(200);
}

#[tokio::test]
async fn names_that_a_caller_makes_up_are_one_series() {
    let site = site();
    let serving = Serving::start(&site, &["--no-auth", "--metrics", "127.0.0.1:0"]).await;
    for number in 0..20 {
        serving.call_tool("", &format!("good__made-up-{number}")).await;
    }
    let metrics = scrape(&serving).await;
    assert!(!metrics.contains("made-up"), "{metrics}");
}

#[tokio::test]
async fn an_open_approval_request_is_counted_and_its_wait_is_measured() {
    let site = site();
    fs::write(site.path("policy.toml"), POLICY.replace("allow", "ask")).unwrap();
    let arguments = ["--no-auth", "--metrics", "127.0.0.1:0", "--approval-wait", "0.1"];
    let serving = Serving::start(&site, &arguments).await;
    let pending = serving.call("").await.is(200).last();
    assert_eq!(pending["result"]["_meta"]["portcullis/code"], "approval-pending", "{pending}");
    let metrics = scrape(&serving).await;
    assert_eq!(value(&metrics, "portcullis_approval_requests_open"), Some(1.0), "{metrics}");
    assert_eq!(value(&metrics, "portcullis_approval_wait_seconds_count"), Some(1.0), "{metrics}");
    let asked = "portcullis_calls_total{tool=\"good.run\",decision=\"ask\",code=\"approval-pending\"}";
    assert_eq!(value(&metrics, asked), Some(1.0), "{metrics}");
}

#[tokio::test]
async fn metrics_are_off_unless_asked_for_and_open_to_others_only_on_demand() {
    let site = site();
    let serving = Serving::start(&site, &["--no-auth"]).await;
    assert_eq!(serving.metrics, None);
    let taken = serving.address.to_string();
    let rows = [
        (vec!["--http", "127.0.0.1:0", "--metrics", "0.0.0.0:0"], "other machines can reach 0.0.0.0:0"),
        (vec!["--http", "127.0.0.1:0", "--metrics", taken.as_str()], "cannot listen on 127.0.0.1:"),
        (vec!["--stdio", "--metrics", "127.0.0.1:0"], "cannot be used with"),
    ];
    for (arguments, reason) in rows {
        let output = command(&site, &arguments).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(reason), "{arguments:?}: {said}");
    }
}

/// What the documents say about metrics is what the server has.
#[tokio::test]
async fn every_metric_is_documented_and_the_dashboard_uses_only_metrics_that_exist() {
    let site = site();
    let serving = Serving::start(&site, &["--no-auth", "--metrics", "127.0.0.1:0"]).await;
    let families = families(&scrape(&serving).await);
    assert!(families.len() > 15, "{families:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let document = fs::read_to_string(root.join("docs/service.md")).unwrap();
    for family in &families {
        assert!(document.contains(&format!("`{family}`")), "docs/service.md does not describe {family}");
    }
    let in_document = names(&document);
    let dashboard = fs::read_to_string(root.join("deploy/grafana-dashboard.json")).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    for panel in parsed["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        assert!(document.contains(title), "docs/service.md does not describe the panel {title}");
    }
    for name in in_document.union(&names(&dashboard)) {
        let base = ["_total", "_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
        let is_known = families.contains(name) || base.is_some_and(|base| families.contains(base));
        assert!(is_known, "no metric is named {name}");
    }
}

/// Returns the names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("portcullis_")).map(str::to_owned).collect()
}
