//! The MCP conformance suite against the program, in both of its requirement sets. The tools that it needs are a
//! plugin, which the host runs like any other. Expected failures are in a list, each with its reason. An entry that no
//! longer fails must be removed.
//!
//! `cargo xtask test` installs the suite and Node.js, and builds the program and the plugin.

#![allow(clippy::disallowed_methods, reason = "tests start the program and the suite, and lay out their files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

#[path = "conformance/balancer.rs"]
mod balancer;

#[path = "conformance/baseline.rs"]
mod baseline;

#[path = "conformance/service.rs"]
mod service;

#[path = "conformance/suite.rs"]
mod suite;

use baseline::Baseline;
use service::Service;

/// The revision with a handshake and sessions.
#[test]
fn the_requirements_of_2025_11_25_are_met() {
    meets("2025-11-25", include_str!("../data/conformance-2025-11-25.yml"));
}

/// The revision with self-contained requests, and its tasks extension.
#[test]
fn the_requirements_of_2026_07_28_are_met() {
    meets("2026-07-28", include_str!("../data/conformance-2026-07-28.yml"));
}

/// The same, if three servers share a ledger and a load balancer sends each request to the next one.
#[test]
fn the_requirements_of_2025_11_25_are_met_by_replicas() {
    let Some(service) = Service::replicated() else { return };
    meets_at(&service, "2025-11-25", include_str!("../data/conformance-2025-11-25.yml"));
}

/// The same for the newest revision, which has no sessions.
#[test]
fn the_requirements_of_2026_07_28_are_met_by_replicas() {
    let Some(service) = Service::replicated() else { return };
    meets_at(&service, "2026-07-28", include_str!("../data/conformance-2026-07-28.yml"));
}

#[track_caller]
fn meets(requirements: &str, expected: &str) {
    meets_at(&Service::start(), requirements, expected);
}

#[track_caller]
fn meets_at(service: &Service, requirements: &str, expected: &str) {
    let checks = suite::run(service.url(), requirements);
    let findings = Baseline::parse(expected).judge(&checks);
    assert!(findings.is_empty(), "{requirements}:\n{}\n\nit printed:\n{}", findings.join("\n"), service.said());
}
