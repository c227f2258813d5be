//! The scenarios for clients. The suite starts a server for each, and the program of `suite_client` uses it through the
//! host.

use super::checks::{self, Check};
use super::{VERSIONS, suite};
use crate::office::{portcullis, succeeded};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use tempfile::TempDir;

/// The program that the suite starts.
const CLIENT: &str = env!("CARGO_BIN_EXE_portcullis-tests-suite-client");

/// Timeout of the client in one scenario, in milliseconds.
const CLIENT_TIME: &str = "120000";

/// Number of scenarios that run at the same time.
const WORKERS: usize = 2;

/// The name of a check that fails if the host does not do what the scenario asks for.
const CLIENT_CHECK: &str = "client";

/// What the suite calls the versions of a scenario that belongs to an extension of the protocol.
const EXTENSION: &str = "extension";

/// A scenario, and the versions of the protocol in which the suite offers it.
struct ListedScenario {
    name: String,
    versions: Vec<String>,
}

fn listed() -> Vec<ListedScenario> {
    let list = succeeded(&suite(&["list", "--client"]).output().unwrap());
    let scenario = |line: &str| {
        let (name, versions) = line.strip_prefix("  - ")?.strip_suffix(']')?.split_once(" [")?;
        Some(ListedScenario { name: name.to_owned(), versions: versions.split(',').map(str::to_owned).collect() })
    };
    let scenarios: Vec<ListedScenario> = list.lines().filter_map(scenario).collect();
    assert!(!scenarios.is_empty(), "the suite lists its scenarios in another form: {list}");
    scenarios
}

/// Returns the versions in which the suite has scenarios.
pub(crate) fn versions() -> Vec<String> {
    let versions = listed().into_iter().flat_map(|scenario| scenario.versions).collect::<BTreeSet<_>>();
    versions.into_iter().filter(|version| version != EXTENSION).collect()
}

/// Runs every scenario of a version. Those of extensions have no version, and run in the last one of each era.
#[track_caller]
pub(crate) fn run(version: &str) -> Vec<Check> {
    let has_extensions = VERSIONS[2..].contains(&version);
    let belongs = |tag: &String| tag == version || (tag == EXTENSION && has_extensions);
    let scenarios = listed().into_iter().filter(|scenario| scenario.versions.iter().any(belongs));
    let waiting: Mutex<Vec<String>> = Mutex::new(scenarios.map(|scenario| scenario.name).collect());
    let next = || waiting.lock().unwrap().pop();
    thread::scope(|scope| {
        let work = || std::iter::from_fn(next).flat_map(|name| run_scenario(&name, version)).collect::<Vec<_>>();
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

fn run_scenario(name: &str, version: &str) -> Vec<Check> {
    let results = TempDir::new().unwrap();
    // Forced, because scenarios of extensions have no version.
    let mut suite = suite(&["client", "--scenario", name, "--spec-version", version, "--force"]);
    suite.args(["--command", CLIENT, "--timeout", CLIENT_TIME, "--output-dir"]).arg(results.path());
    suite.env("PORTCULLIS_TEST_BINARY", portcullis());
    let output = suite.output().unwrap();
    // The suite's code also counts failures that are expected, so the files decide.
    let file = find(results.path(), "checks.json");
    let file = file.unwrap_or_else(|| panic!("{name}: no results: {}", String::from_utf8_lossy(&output.stderr)));
    let mut checks = checks::read(&file, name);
    // The suite accepts a client that fails where it has to refuse something. This one says what it has refused.
    let said = fs::read_to_string(file.with_file_name("stdout.txt")).unwrap();
    let stderr = fs::read_to_string(file.with_file_name("stderr.txt")).unwrap();
    let has_failed = said.trim_end().lines().last() != Some("done");
    let (scenario, id) = (name.to_owned(), CLIENT_CHECK.to_owned());
    checks.push(Check { scenario, id, has_failed, message: format!("the client printed:\n{said}{stderr}") });
    checks
}

/// Returns the file of a name, in a folder or below it. The names of some scenarios contain a slash.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let file = files.into_iter().find(|path| path.ends_with(name));
    file.or_else(|| folders.iter().find_map(|folder| find(folder, name)))
}
