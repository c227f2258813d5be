//! Installs a package of PyPI in three steps. The first resolves its dependencies into a report. The second installs
//! exactly the files whose hashes the checked report has. The third compiles them, without running them.

mod entry_points;
mod report;

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::resolved::{InstallFailure, ResolvedPackage};
use crate::runtime::Runtime;
use crate::spec::PackageSpec;
use crate::tool::{Tool, ToolError, ToolRunner};
use report::Report;

/// The script that keeps pip from starting programs.
const GUARD: &str = include_str!("pypi/guard.py");

/// The name of the guard in the work folder.
const GUARD_FILE: &str = "guard.py";

/// The script that starts a program of a package.
const STARTER: &str = include_str!("pypi/start.py");

/// The folder of the packages in the tree.
const SITE: &str = "site";

/// The report that pip writes in the first step.
const REPORT_FILE: &str = "report.json";

/// The list of files that pip reads in the second step.
const REQUIREMENTS_FILE: &str = "requirements.txt";

/// The settings of every run of pip. They overrule the user's settings, except those of indexes and proxies.
const ARGUMENTS: [&str; 14] = [
    "install",
    // A source package would run code to be built.
    "--only-binary=:all:",
    "--ignore-installed",
    "--no-user",
    "--no-compile",
    // Nothing is written outside of the work folder.
    "--cache-dir=cache",
    "--target=tree/site",
    "--no-warn-script-location",
    "--root-user-action=ignore",
    // It says only what helps to understand a failure.
    "--disable-pip-version-check",
    "--no-input",
    "--no-color",
    "--progress-bar=off",
    "--quiet",
];

/// Installs a package into the tree of the work folder.
pub(crate) fn install(
    runner: &ToolRunner,
    spec: &PackageSpec,
    runtime: &Runtime,
) -> Result<ResolvedPackage, InstallFailure> {
    let work = runner.work;
    let not_written = |source| ToolError::NotStarted { tool: Tool::Pip, source };
    work.write_file(GUARD_FILE, GUARD).map_err(not_written)?;
    let mut resolve = pip(runner, runtime);
    resolve.arg("--dry-run").arg(format!("--report={REPORT_FILE}"));
    runner.run(Tool::Pip, resolve.arg(format!("{}=={}", spec.name(), spec.version())))?;
    let report = Report::read(work.directory(), REPORT_FILE, runner.options.limits.packages_max)?;
    report.check_requested(spec)?;

    work.write_file(REQUIREMENTS_FILE, report.requirements()).map_err(not_written)?;
    let mut unpack = pip(runner, runtime);
    // The list is complete. If pip resolved again, it could add packages that were not checked.
    unpack.args(["--no-deps", "--require-hashes"]).arg(format!("--requirement={REQUIREMENTS_FILE}"));
    runner.run(Tool::Pip, &mut unpack)?;
    let programs = entry_points::programs(work.tree(), SITE, spec)?;
    // A package can have files that do not compile, for example templates.
    runner.run_leniently(Tool::Python, &mut compile(runner, runtime))?;
    Ok(ResolvedPackage { dependencies: report.into_dependencies(), programs })
}

/// Finds the newest version of a package that has a wheel for this machine.
pub(crate) fn newest(runner: &ToolRunner, name: &str, runtime: &Runtime) -> Result<String, InstallFailure> {
    let work = runner.work;
    work.write_file(GUARD_FILE, GUARD).map_err(|source| ToolError::NotStarted { tool: Tool::Pip, source })?;
    let mut resolve = pip(runner, runtime);
    resolve.args(["--dry-run", "--no-deps"]).arg(format!("--report={REPORT_FILE}"));
    runner.run(Tool::Pip, resolve.arg(name))?;
    let report = Report::read(work.directory(), REPORT_FILE, runner.options.limits.packages_max)?;
    let found = report.requested().map(|(name, version)| format!("{name}=={version}"));
    // The caller cannot parse an empty text, and reports that there is no version.
    Ok(found.unwrap_or_default())
}

/// Returns a command of pip that cannot start programs.
fn pip(runner: &ToolRunner, runtime: &Runtime) -> Command {
    let mut python = runner.options.environment.command(runtime.tool_program());
    python.arg(GUARD_FILE).args(ARGUMENTS);
    python
}

/// Returns a command that compiles the packages, which halves the time of a start. The result is the same at every
/// installation: it has neither the time nor the path of the work folder.
fn compile(runner: &ToolRunner, runtime: &Runtime) -> Command {
    let site = runner.work.tree_path().join(SITE);
    let mut python = runner.options.environment.command(runtime.tool_program());
    // The order of a set in compiled code depends on the seed, and the tree hash covers that code.
    python.env("PYTHONHASHSEED", "0");
    // The sources are read-only, so Python need not compare them with the compiled files (PEP 552).
    python.args(["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", "-p", "/", "-s"]);
    python.arg(&site).arg(&site);
    python
}

/// Returns the arguments with which Python starts a function of a package.
pub(crate) fn start_arguments(folder: &Path, program: &str, module: &str, function: &str) -> Vec<OsString> {
    // Isolated, without the packages of the machine and the user, and without writing compiled files.
    let mut arguments: Vec<OsString> = ["-I", "-S", "-B", "-c", STARTER].map(OsString::from).into();
    arguments.push(folder.join(SITE).into_os_string());
    arguments.extend([module, function, program].map(OsString::from));
    arguments
}
