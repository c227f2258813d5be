//! Checks the library with each of its cargo features alone, and without any. A normal build has all of them. The
//! program is checked without its own features.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portcullis_build::crates::Optimization;
use portcullis_build::workspace::Workspace;

use crate::component::{self, Component};
use crate::{process, toolchain};

/// The features of crate `portcullis`.
const FEATURES: [&str; 6] = ["bucket", "compiler", "http", "postgres", "sqlite", "watch"];

/// The crates that have these features, or pass them on.
const CRATES: [&str; 2] = ["portcullis", "portcullis-sandbox"];

/// The crate of the program.
const PROGRAM: &str = "portcullis-cli";

/// The embedder that shows what a host does without them.
const EMBEDDER: &str = "portcullis-feature-tests";

/// Checks every combination, and runs the embedder.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    lint(workspace, CRATES[0], "")?;
    for feature in FEATURES {
        lint(workspace, CRATES[0], feature)?;
    }
    lint(workspace, PROGRAM, "")?;
    // The guards of the sandbox hold without its client, too.
    process::run(workspace.cargo().args(["test", "--locked", "--lib", "--no-default-features", "-p", CRATES[1]]))?;
    run_embedder(workspace)
}

/// Checks a crate with these of its features and no others.
fn lint(workspace: &Workspace, name: &str, features: &str) -> Result<()> {
    let mut cargo = workspace.cargo();
    cargo.args(["clippy", "--locked", "-p", name, "--no-default-features", "--features", features]);
    process::run(cargo.args(["--", "-D", "warnings"]))
}

/// Runs the embedder with the compiler, and then without any feature on the code that it compiled.
fn run_embedder(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target.join("features");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let [net, state] = build_guests(workspace, &folder)?;
    for features in ["alone,compiler", "alone"] {
        let mut cargo = workspace.cargo();
        cargo.args(["run", "--locked", "--quiet", "-p", EMBEDDER, "--features", features, "--"]);
        process::run(cargo.args([&net, &state, &folder]))?;
    }
    Ok(())
}

/// Builds the guest that sends requests and the guest that keeps records, and returns their files.
fn build_guests(workspace: &Workspace, folder: &Path) -> Result<[PathBuf; 2]> {
    let guests = workspace.packages_under("tests/guests");
    let component = |name: &str| -> Result<Component<'_>> {
        let package = guests.iter().copied().find(|package| package.folder.ends_with(name));
        let package = package.with_context(|| format!("tests/guests/{name} is gone"))?;
        Ok(Component { package, file: folder.join(name).with_extension("wasm") })
    };
    let components = [component("net")?, component("state")?];
    component::build(workspace, &toolchain::prepare(&workspace.root)?, &components, Optimization::PerCrate)?;
    Ok(components.map(|component| component.file))
}
