//! Installs a package of npm in two steps. The first resolves its dependencies into a lock file. The second installs
//! exactly what the checked lock file has.

mod bin;
mod document;
mod lock;

use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::resolved::{InstallFailure, ResolvedPackage};
use crate::spec::PackageSpec;
use crate::tool::{Tool, ToolError, ToolRunner};
use lock::LockFile;

/// The script that keeps npm from starting programs.
const GUARD: &str = include_str!("npm/guard.cjs");

/// The name of the guard in the work folder.
const GUARD_FILE: &str = "guard.cjs";

/// The lock file that npm writes in the first step.
const LOCK_FILE: &str = "package-lock.json";

/// The list of what npm has installed, which it writes in the second step.
const INSTALLED_FILE: &str = "node_modules/.package-lock.json";

/// The settings of every run of npm. They overrule the user's settings, except those of registries and proxies.
const ARGUMENTS: [&str; 26] = [
    // No script of a package runs, and no repository or folder is a package. Older releases do not know the settings
    // `allow-`, so the guard and the check of the lock file do the same. `--allow-remote=none` is not among them: it
    // also refuses packages of the registry that bundle others.
    "--ignore-scripts",
    "--allow-git=none",
    "--allow-file=none",
    "--allow-directory=none",
    // What is installed does not depend on the user's settings.
    "--omit=dev",
    "--include=prod",
    "--include=optional",
    "--include=peer",
    "--package-lock=true",
    "--lockfile-version=3",
    // Then only a package that is not from a registry has an address in the lock file.
    "--omit-lockfile-registry-resolved=true",
    "--install-strategy=hoisted",
    "--bin-links=true",
    "--global=false",
    "--workspaces=false",
    "--dry-run=false",
    "--prefix=tree",
    // Nothing is written outside of the work folder.
    "--cache=cache",
    "--logs-max=0",
    // It says only what helps to understand a failure.
    "--no-audit",
    "--no-fund",
    "--update-notifier=false",
    "--loglevel=error",
    "--color=false",
    "--progress=false",
    "--yes=false",
];

/// Installs a package into the tree of the work folder.
pub(crate) fn install(runner: &ToolRunner, spec: &PackageSpec) -> Result<ResolvedPackage, InstallFailure> {
    let work = runner.work;
    let not_written = |source| ToolError::NotStarted { tool: Tool::Npm, source };
    work.write_file(GUARD_FILE, GUARD).map_err(not_written)?;
    let root =
        json!({ "name": "portcullis-package", "private": true, "dependencies": { spec.name(): spec.version() } });
    work.tree().write("package.json", root.to_string()).map_err(not_written)?;

    runner.run(Tool::Npm, command(runner).args(["install", "--package-lock-only"]).args(ARGUMENTS))?;
    let limits = &runner.options.limits;
    // Check the lock file before the second step, which downloads and unpacks whatever it names.
    lock::remove_extraneous(work.tree(), LOCK_FILE)?;
    let resolved = LockFile::read(work.tree(), LOCK_FILE, limits.packages_max)?;
    resolved.check_requested(spec)?;

    runner.run(Tool::Npm, command(runner).arg("ci").args(ARGUMENTS))?;
    let installed = LockFile::read(work.tree(), INSTALLED_FILE, limits.packages_max)?;
    resolved.check_installed(&installed)?;
    let programs = bin::programs(work.tree(), spec)?;
    // The manifest has the same facts.
    for name in ["package.json", LOCK_FILE, INSTALLED_FILE] {
        work.tree().remove_file(name).map_err(not_written)?;
    }
    Ok(ResolvedPackage { dependencies: installed.into_dependencies(), programs })
}

/// Finds the newest version of a package within a range or under a tag, such as `NAME`, `NAME@2` or `NAME@next`.
pub(crate) fn newest(runner: &ToolRunner, requirement: &str) -> Result<String, InstallFailure> {
    let not_written = |source| ToolError::NotStarted { tool: Tool::Npm, source };
    runner.work.write_file(GUARD_FILE, GUARD).map_err(not_written)?;
    let mut view = command(runner);
    view.args(["view", "--json", "--cache=cache", "--logs-max=0", "--update-notifier=false", "--loglevel=error"]);
    runner.run(Tool::Npm, view.args(["--", requirement, "version"]))?;
    // A range has the list of its versions, the newest last.
    let version = match serde_json::from_str(runner.output().map_err(not_written)?.trim()) {
        Ok(Value::String(version)) => Some(version),
        Ok(Value::Array(versions)) => versions.last().and_then(Value::as_str).map(str::to_owned),
        Ok(_) | Err(_) => None,
    };
    // The caller cannot parse an empty version, and reports that there is none.
    Ok(version.unwrap_or_default())
}

/// Returns a command of npm that cannot start programs.
fn command(runner: &ToolRunner) -> Command {
    let environment = &runner.options.environment;
    let mut npm = environment.command(Tool::Npm.name());
    let mut node_options = environment.variable("NODE_OPTIONS").unwrap_or_default();
    // The path is relative to the work folder, so that it needs no quotes.
    node_options.push(format!(" --require=./{GUARD_FILE}"));
    // npm passes its settings to an npm that it starts. The guard prevents that, and this is a second line of defence.
    npm.env("NODE_OPTIONS", node_options).env("npm_config_ignore_scripts", "true");
    npm
}

/// Returns the arguments with which Node.js starts a script of a package.
pub(crate) fn start_arguments(folder: &Path, script: &str) -> Vec<OsString> {
    vec![folder.join(script).into_os_string()]
}
