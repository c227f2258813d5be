//! The host as a gateway in front of two servers: `tests/clients/reference.mjs`, which has the tools of the suite's
//! reference server, and the published `server-everything`.

use super::checks::{self, Check};
use super::running::RunningServer;
use super::suite;
use crate::office::{installed, portcullis, succeeded};
use portcullis_tests::Site;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The eras of the protocol that the reference server can speak.
pub(crate) const ERAS: [&str; 2] = ["handshake", "modern"];

/// Minimum number of checks in a requirement set.
const CHECKS_MIN: usize = 40;

/// A running gateway, and the reference server behind it.
pub(crate) struct Gateway {
    gateway: RunningServer,
    _reference: RunningServer,
    _site: Site,
}

impl Gateway {
    /// Starts the servers and the gateway. The reference server speaks one era of the protocol.
    #[track_caller]
    pub(crate) fn start(era: &str) -> Self {
        let site = Site::new();
        fs::remove_file(site.plugins().join("good.wasm")).unwrap();
        site.directory("home");
        let mut reference = Command::new(installed("PORTCULLIS_TEST_NODE"));
        reference.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/reference.mjs")).arg(era);
        reference.env_clear().env("PORTCULLIS_TEST_NODE_MODULES", installed("PORTCULLIS_TEST_NODE_MODULES"));
        let reference = RunningServer::start(reference, &site.path("reference.log"));
        fs::write(site.path("policy.toml"), policy(&reference.url)).unwrap();
        // The suite has no scenario that would notice that this server is missing.
        let call = command(&site, &["call", "everything.echo", r#"{"message":"hello"}"#]).output().unwrap();
        assert!(succeeded(&call).contains("hello"));
        // The suite calls tools by fixed names, without the name of a server.
        let mut gateway = command(&site, &["serve", "--http", "127.0.0.1:0", "--no-auth", "--tool-names", "short"]);
        gateway.args(["--start-wait", "60", "--client-answers", "person", "--task-after", "0.3"]);
        let gateway = RunningServer::start(gateway, &site.path("gateway.log"));
        Self { gateway, _reference: reference, _site: site }
    }

    /// Runs every scenario of a requirement set against the gateway.
    #[track_caller]
    pub(crate) fn run(&self, requirements: &str) -> Vec<Check> {
        let results = TempDir::new().unwrap();
        let mut suite = suite(&["server", "--url", &self.gateway.url, "--requirements", requirements]);
        let output = suite.arg("--output-dir").arg(results.path()).output().unwrap();
        // The suite's code also counts failures that are expected, so the files decide.
        let folders = fs::read_dir(results.path()).unwrap().map(|folder| folder.unwrap());
        let checks: Vec<Check> = folders
            .flat_map(|folder| {
                let name = folder.file_name().into_string().unwrap();
                checks::read(&folder.path().join("checks.json"), scenario(&name))
            })
            .collect();
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(checks.len() >= CHECKS_MIN, "the suite made only {} checks: {printed}", checks.len());
        checks
    }
}

/// Returns the program in a site, with arguments.
fn command(site: &Site, arguments: &[&str]) -> Command {
    let mut command = Command::new(portcullis());
    command.current_dir(site.path("")).env_clear().env("HOME", site.path("home"));
    command.args(["--plugins", "plugins", "--policy", "policy.toml", "--state", "state", "--json"]).args(arguments);
    command
}

/// Returns a policy that names both servers and allows their tools. One is reached over HTTP. The host starts the other
/// one, which talks over its standard streams.
fn policy(reference: &str) -> String {
    let modules = installed("PORTCULLIS_TEST_SERVER_MODULES");
    let everything = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let node = installed("PORTCULLIS_TEST_NODE");
    format!(
        "[approvals]\nrepeats = 1000000\n\
         # The suite starts a job of a minute, to cancel it.\n\
         [limits]\ntime = \"90 s\"\n\
         [server.reference]\nurl = {reference:?}\nelicitation = \"ask\"\n\
         [server.everything]\ncommand = [{node:?}, {everything:?}]\n\
         directory.node = {{ path = {:?} }}\n\
         directory.modules = {{ path = {modules:?} }}\n\
         [[rule]]\ntool = \"{{reference,everything}}.*\"\ndecision = \"allow\"\n",
        folder_of(&node)
    )
}

/// Returns the folder of a package with a program, `bin/PROGRAM`.
fn folder_of(program: &Path) -> PathBuf {
    program.parent().and_then(Path::parent).unwrap().to_owned()
}

/// Returns the scenario in a folder's name: the part before `-2026-11-22T09-28-50-123Z`.
fn scenario(folder: &str) -> &str {
    let end = folder.len().saturating_sub("-2026-11-22T09-28-50-123Z".len());
    let scenario = folder.get(..end).and_then(|start| start.strip_prefix("server-"));
    scenario.unwrap_or_else(|| panic!("{folder} is not the folder of a scenario"))
}

#[test]
fn the_name_of_a_folder_contains_its_scenario() {
    assert_eq!(scenario("server-tools-list-2026-11-22T09-28-50-123Z"), "tools-list");
}
