//! The results of the suite.

use serde_json::Value;
use std::fs;
use std::path::Path;

/// The name of a failed check that says that the suite checked nothing.
const NOTHING_CHECKED: &str = "nothing-checked";

/// The result of one check.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) scenario: String,
    pub(crate) id: String,
    /// A warning counts as a failure: the suite uses it for a SHOULD.
    pub(crate) has_failed: bool,
    pub(crate) message: String,
}

impl Check {
    /// Returns the name of a check in a list of expected failures.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.scenario, self.id)
    }
}

/// Reads the checks of a scenario. A scenario without a result has failed, because it would pass with any host.
pub(crate) fn read(file: &Path, scenario: &str) -> Vec<Check> {
    let found = fs::read(file).unwrap_or_else(|error| panic!("{scenario}: {}: {error}", file.display()));
    let found: Vec<Value> = serde_json::from_slice(&found).unwrap();
    let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let message =
        |check: &Value| check["errorMessage"].as_str().map_or_else(|| text(check, "description"), str::to_owned);
    let judged = found.iter().filter(|check| ["SUCCESS", "FAILURE", "WARNING"].contains(&&*text(check, "status")));
    let mut checks: Vec<Check> = judged
        .map(|check| Check {
            scenario: scenario.to_owned(),
            id: text(check, "id"),
            has_failed: text(check, "status") != "SUCCESS",
            message: message(check),
        })
        .collect();
    if checks.is_empty() {
        checks.push(Check {
            scenario: scenario.to_owned(),
            id: NOTHING_CHECKED.to_owned(),
            has_failed: true,
            message: format!("the suite skipped all {} checks", found.len()),
        });
    }
    checks
}
