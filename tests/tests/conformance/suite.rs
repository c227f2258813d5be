//! Runs the suite and reads its results.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tempfile::TempDir;

/// The suite's start script, among the packages.
const SCRIPT: &str = "@modelcontextprotocol/conformance/dist/index.js";
/// Timeout of the suite. It ends by itself: each scenario has 30 seconds.
const LIMIT: Duration = Duration::from_secs(240);
/// Interval at which the test checks whether the suite has ended.
const POLL: Duration = Duration::from_millis(50);
/// Minimum number of checks in a requirement set.
const FEWEST: usize = 40;

/// The result of one check.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) scenario: String,
    pub(crate) id: String,
    /// A warning counts as a failure: the suite uses it for a SHOULD.
    pub(crate) failed: bool,
    pub(crate) message: String,
}

impl Check {
    /// Returns the name of a check in a list of expected failures.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.scenario, self.id)
    }
}

/// Runs every check of a requirement set against the server at `url`.
#[track_caller]
pub(crate) fn run(url: &str, requirements: &str) -> Vec<Check> {
    let results = TempDir::new().unwrap();
    let mut node = Command::new(client("PORTCULLIS_TEST_NODE"));
    node.arg(client("PORTCULLIS_TEST_NODE_MODULES").join(SCRIPT));
    node.args(["server", "--url", url, "--requirements", requirements, "--output-dir"]).arg(results.path());
    // The results are in files. The exit code does not matter, only that the suite has ended.
    node.env_clear().stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    wait(node.spawn().unwrap());
    let checks = read(results.path());
    assert!(checks.len() >= FEWEST, "the suite made only {} checks", checks.len());
    checks
}

/// Returns something that `cargo xtask test` has installed.
#[track_caller]
fn client(variable: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"), PathBuf::from)
}

#[track_caller]
fn wait(mut child: Child) {
    let deadline = Instant::now() + LIMIT;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the suite had not ended after {LIMIT:?}");
        }
        thread::sleep(POLL);
    }
}

/// Reads the results: one folder per scenario, `server-<scenario>-<time>`, with a file of its checks.
fn read(results: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    for folder in fs::read_dir(results).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let scenario = scenario(&name).unwrap_or_else(|| panic!("{name} is not the folder of a scenario"));
        let found: Vec<Value> = serde_json::from_slice(&fs::read(folder.path().join("checks.json")).unwrap()).unwrap();
        let text = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
        checks.extend(found.iter().map(|check| Check {
            scenario: scenario.to_owned(),
            id: text(check, "id"),
            failed: ["FAILURE", "WARNING"].contains(&text(check, "status").as_str()),
            message: text(check, "errorMessage"),
        }));
    }
    checks
}

/// Returns the scenario in a folder's name: the part before `-2026-11-22T09-28-50-123Z`.
fn scenario(folder: &str) -> Option<&str> {
    let rest = folder.strip_prefix("server-")?;
    let end = rest.len().checked_sub("-2026-11-22T09-28-50-123Z".len())?;
    rest.get(..end).filter(|scenario| !scenario.is_empty())
}

#[test]
fn the_scenario_is_in_the_name_of_its_folder() {
    assert_eq!(scenario("server-tools-list-2026-11-22T09-28-50-123Z"), Some("tools-list"));
    assert_eq!(scenario("server-2026-11-22T09-28-50-123Z"), None);
    assert_eq!(scenario("client-tools-list-2026-11-22T09-28-50-123Z"), None);
}
