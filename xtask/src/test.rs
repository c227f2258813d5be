//! Runs all tests of the workspace, and builds what they need.

use std::process::{Command, Stdio};
use std::{env, thread};

use anyhow::{Result, anyhow, ensure};
use portcullis_tests_postgres as postgres;

use crate::clients::Clients;
use crate::selection::{Preparations, Selection};
use crate::suites::Suites;
use crate::{clients, guests, languages, plugins, process, suites, toolchain};
use portcullis_build::workspace::Workspace;

/// Runs all tests, or those that the words select (see [`Selection`]), with only what they need prepared.
pub(crate) fn run(workspace: &Workspace, words: &[&str]) -> Result<()> {
    let selection = Selection::of(&workspace.root, words);
    let needed = selection.preparations();
    // Package managers mostly wait for others, and the compiler computes. So both work at the same time.
    let (fetched, built) = thread::scope(|scope| {
        let fetching = scope.spawn(|| Prepared::of(workspace, needed));
        // Build the binaries and the tests in one step, so that both see the same features and nothing is compiled
        // twice.
        let mut build = workspace.cargo();
        provide(workspace, &mut build);
        let built = process::run_aside(build.arg("build").args(selection.build_arguments()));
        (fetching.join(), built)
    });
    built?;
    let fetched = fetched.map_err(|_| anyhow!("the preparations panicked"))??;
    let prepared = |mut command: Command| {
        provide(workspace, &mut command);
        fetched.provide(&mut command);
        command
    };
    let mut tests = prepared(workspace.cargo());
    at_once(&mut tests);
    match has_nextest(workspace) {
        true => tests.args(["nextest", "run"]).args(selection.nextest_arguments()),
        false => tests.arg("test").args(selection.test_arguments()),
    };
    process::run(&mut tests)?;
    if let Some(arguments) = selection.with_databases() {
        let mut again = prepared(workspace.cargo());
        at_once(&mut again);
        with_databases(again.args(["nextest", "run"]).args(arguments), has_nextest(workspace))?;
    }
    if words.is_empty() {
        process::run(prepared(workspace.cargo()).args(["test", "--workspace", "--doc"]))?;
    }
    Ok(())
}

/// Sets how many tests run at the same time, unless the environment says so: three for each core. Tests
/// also wait for limits, other processes and databases. With two for each core, the cores were idle for a sixth of the
/// time.
fn at_once(nextest: &mut Command) {
    const VARIABLE: &str = "NEXTEST_TEST_THREADS";
    if env::var_os(VARIABLE).is_none() {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        nextest.env(VARIABLE, (3 * cores).to_string());
    }
}

/// Runs tests again with each ledger in a database of a server that is started for them.
fn with_databases(command: &mut Command, has_nextest: bool) -> Result<()> {
    if !(has_nextest && postgres::is_installed()) {
        let why = "the tests of approvals, outputs and stores do not run with PostgreSQL: it needs Debian's package \
                   postgresql and cargo-nextest";
        ensure!(env::var_os("CI").is_none(), "{why}");
        eprintln!("skipped: {why}");
        return Ok(());
    }
    let server = postgres::Server::start()?;
    process::run(command.env("PORTCULLIS_TEST_LEDGERS", server.port().to_string()))
}

/// What tests need besides their own programs.
struct Prepared {
    suites: Option<Suites>,
    clients: Option<Clients>,
}

impl Prepared {
    /// Builds the guests and the components of all languages, and fetches what others wrote.
    fn of(workspace: &Workspace, needed: Preparations) -> Result<Self> {
        if needed.guests {
            guests::build_with_plugins(workspace, &toolchain::prepare(&workspace.root)?)?;
        }
        let suites = needed.suites.then(suites::prepare).transpose()?;
        let clients = needed.clients.then(|| clients::prepare(workspace)).transpose()?;
        if needed.languages {
            languages::build(workspace)?;
        }
        Ok(Self { suites, clients })
    }

    fn provide(&self, command: &mut Command) {
        if let Some(suites) = &self.suites {
            command.env("PORTCULLIS_TEST_JSON_SUITE", &suites.json).env("PORTCULLIS_TEST_SCHEMA_SUITE", &suites.schema);
            command.env("PORTCULLIS_TEST_PAGES", &suites.pages).env("PORTCULLIS_TEST_BOTOCORE", &suites.services);
            command.env("PORTCULLIS_TEST_OPENAPI", &suites.openapi);
        }
        if let Some(clients) = &self.clients {
            clients.provide(command);
        }
    }
}

/// Sets the paths that tests and benches read. Backtraces are off, because each call would capture one, which costs
/// more than the call.
pub(crate) fn provide(workspace: &Workspace, command: &mut Command) {
    command
        .env("PORTCULLIS_TEST_PLUGINS", plugins::folder(workspace))
        .env("PORTCULLIS_TEST_GUESTS", guests::folder(workspace))
        .env("PORTCULLIS_TEST_LANGUAGES", languages::folder(workspace))
        .env("PORTCULLIS_TEST_BINARY", workspace.target.join("debug/portcullis"))
        .env("RUST_BACKTRACE", "0")
        .env("RUST_LIB_BACKTRACE", "0");
}

fn has_nextest(workspace: &Workspace) -> bool {
    let mut cargo = workspace.cargo();
    cargo.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    cargo.status().is_ok_and(|status| status.success())
}
