//! The MCP conformance suite against the program, in both of its requirement sets. The tools that it asks for are a
//! plugin, run by the host like any other. What fails stands in a list, each entry with its reason, and an entry that
//! no longer fails has to go.
//!
//! The suite, the Node.js that it needs, the program and the plugin are made present by `cargo xtask test`.

#![allow(clippy::disallowed_methods, reason = "tests start the program and the suite, and lay out their files")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot be set up has failed")]

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
fn what_2025_11_25_requires_is_met() {
    meets("2025-11-25", include_str!("../data/conformance-2025-11-25.yml"));
}

/// The revision in which every request stands for itself, and the tasks extension, which goes with it.
#[test]
fn what_2026_07_28_requires_is_met() {
    meets("2026-07-28", include_str!("../data/conformance-2026-07-28.yml"));
}

#[track_caller]
fn meets(requirements: &str, expected: &str) {
    let service = Service::start();
    let checks = suite::run(service.url(), requirements);
    let findings = Baseline::parse(expected).judge(&checks);
    assert!(findings.is_empty(), "{requirements}:\n{}\n\nthe program said:\n{}", findings.join("\n"), service.said());
}
