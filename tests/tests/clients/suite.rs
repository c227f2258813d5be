//! The MCP conformance suite against the host as a client of servers, and against the gateway in front of servers.
//! Expected failures are in lists, each with its reason. An entry that no longer fails must be removed.

#[path = "suite/checks.rs"]
mod checks;

#[path = "suite/client.rs"]
mod client;

#[path = "suite/expected.rs"]
mod expected;

#[path = "suite/gateway.rs"]
mod gateway;

#[path = "suite/running.rs"]
mod running;

use crate::office::installed;
use checks::Check;
use expected::ExpectedFailures;
use gateway::Gateway;
use std::process::Command;

/// The suite's start script, among the packages.
const SCRIPT: &str = "@modelcontextprotocol/conformance/dist/index.js";

/// The versions of the protocol that the suite knows, and the host supports.
const VERSIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Returns the suite with arguments.
fn suite(arguments: &[&str]) -> Command {
    let mut command = Command::new(installed("PORTCULLIS_TEST_NODE"));
    command.arg(installed("PORTCULLIS_TEST_NODE_MODULES").join(SCRIPT)).args(arguments).env_clear();
    command
}

#[track_caller]
fn assert_as_expected(what: &str, checks: &[Check], expected: &str) {
    let findings = ExpectedFailures::parse(expected).judge(checks);
    assert!(findings.is_empty(), "{what}:\n{}", findings.join("\n"));
}

#[test]
fn the_suite_has_no_other_versions() {
    assert_eq!(client::versions(), VERSIONS);
}

#[test]
fn the_client_scenarios_of_2025_03_26_succeed() {
    let checks = client::run("2025-03-26");
    assert_as_expected("2025-03-26", &checks, include_str!("../../data/conformance-client-2025-03-26.yml"));
}

#[test]
fn the_client_scenarios_of_2025_06_18_succeed() {
    assert_as_expected("2025-06-18", &client::run("2025-06-18"), "");
}

#[test]
fn the_client_scenarios_of_2025_11_25_succeed() {
    let checks = client::run("2025-11-25");
    assert_as_expected("2025-11-25", &checks, include_str!("../../data/conformance-client-2025-11-25.yml"));
}

#[test]
fn the_client_scenarios_of_2026_07_28_succeed() {
    let checks = client::run("2026-07-28");
    assert_as_expected("2026-07-28", &checks, include_str!("../../data/conformance-client-2026-07-28.yml"));
}

/// Clients of one era, and servers of either.
#[test]
fn the_gateway_meets_the_requirements_of_2025_11_25() {
    let expected = include_str!("../../data/conformance-gateway-2025-11-25.yml");
    for era in gateway::ERAS {
        let gateway = Gateway::start(era);
        assert_as_expected(era, &gateway.run("2025-11-25"), expected);
    }
}

#[test]
fn the_gateway_meets_the_requirements_of_2026_07_28() {
    let expected = include_str!("../../data/conformance-gateway-2026-07-28.yml");
    for era in gateway::ERAS {
        let gateway = Gateway::start(era);
        assert_as_expected(era, &gateway.run("2026-07-28"), expected);
    }
}
