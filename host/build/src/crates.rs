//! Builds crates to components, with the same cargo options for every plugin in Rust.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::project_file;
use crate::toolchain::{TARGET, Toolchain, neutral_paths};
use crate::workspace::{Package, Workspace};

/// The cargo profile of plugins.
const PROFILE: &str = "guest";
/// The settings of the profile, if the workspace does not define it. They favour small code: what it saves when it is
/// compiled, verified and mapped is more than faster code would save at run time.
const SETTINGS: [&str; 7] = [
    "inherits = 'release'",
    "opt-level = 's'",
    "lto = 'fat'",
    "codegen-units = 1",
    "strip = true",
    "debug = false",
    "panic = 'abort'",
];

/// Which code the compiler optimizes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimization {
    /// Across all crates. A component is a tenth to a third smaller, and takes some seconds more.
    AcrossCrates,
    /// In each crate alone, for guests that only tests load.
    PerCrate,
}

/// Builds packages of a workspace to components. The output of cargo and the compiler goes to standard error. The
/// components do not contain the path `hidden`, which is the folder of the sources or one above it. Another `hidden`
/// causes all of them to be compiled again.
///
/// # Errors
/// A package does not build to a component, or cargo failed.
pub fn build(
    workspace: &Workspace,
    toolchain: &Toolchain,
    hidden: &Path,
    packages: &[&Package],
    optimization: Optimization,
) -> Result<()> {
    // Check all packages first, before cargo spends minutes on one of them.
    for package in packages {
        stem(package)?;
    }
    let run = |mut cargo: Command| {
        toolchain.apply(&mut cargo, neutral_paths(&[(hidden, "/source")]));
        process::run_aside(&mut cargo)
    };
    match optimization {
        Optimization::AcrossCrates => packages.iter().try_for_each(|package| run(cargo_for_one(workspace, package)?)),
        Optimization::PerCrate => run(cargo_for_all(workspace, packages)?),
    }
}

/// Returns the path at which cargo creates the component of a package.
///
/// # Errors
/// The package does not build to a component.
pub fn component(workspace: &Workspace, package: &Package) -> Result<PathBuf> {
    Ok(workspace.target.join(TARGET).join(PROFILE).join(format!("{}.wasm", stem(package)?)))
}

/// Returns the path of the file from which cargo creates [`component`].
///
/// # Errors
/// The package does not build to a component.
pub(crate) fn intermediate(workspace: &Workspace, package: &Package) -> Result<PathBuf> {
    Ok(workspace.target.join(TARGET).join(PROFILE).join("deps").join(format!("{}.wasm", stem(package)?)))
}

/// Removes the compiled local packages of this workspace from the target folder, for the target and for the host.
/// Packages from a registry stay.
///
/// # Errors
/// Cargo failed, and has printed why.
pub(crate) fn forget_own(workspace: &Workspace) -> Result<()> {
    let own = workspace.local_packages()?;
    let mut cargo = workspace.cargo();
    // This cleans both, because build scripts and procedural macros are compiled for the host.
    cargo.args(["clean", "--quiet", "--profile", PROFILE, "--target", TARGET]);
    configure(workspace, &mut cargo)?;
    for package in &own {
        cargo.args(["--package", package]);
    }
    process::run_aside(&mut cargo)
}

/// Returns the file stem of a package's component.
fn stem(package: &Package) -> Result<&str> {
    package.component.as_deref().with_context(|| {
        let remedy = "write `crate-type = [\"cdylib\", \"rlib\"]` under `[lib]` in its manifest";
        format!("{} does not build to a component: {remedy}", package.name)
    })
}

/// Builds only the component, and not the library for native tests. Cargo optimizes nothing across crates, whatever the
/// profile says, if it builds a library too.
fn cargo_for_one(workspace: &Workspace, package: &Package) -> Result<Command> {
    let mut cargo = cargo(workspace, "rustc")?;
    cargo.args(["--package", &package.id, "--lib", "--crate-type", "cdylib"]);
    Ok(cargo)
}

fn cargo_for_all(workspace: &Workspace, packages: &[&Package]) -> Result<Command> {
    let mut cargo = cargo(workspace, "build")?;
    cargo.args(["--config", &format!("profile.{PROFILE}.lto = 'off'")]);
    for package in packages {
        cargo.args(["--package", &package.id]);
    }
    Ok(cargo)
}

fn cargo(workspace: &Workspace, command: &str) -> Result<Command> {
    let mut cargo = workspace.cargo();
    cargo.args([command, "--profile", PROFILE, "--target", TARGET]);
    // What wraps the compiler for the crates of a workspace, such as clippy, has rules for code of the host.
    cargo.env_remove("RUSTC_WORKSPACE_WRAPPER");
    configure(workspace, &mut cargo)?;
    Ok(cargo)
}

/// Defines the profile if the workspace does not.
fn configure(workspace: &Workspace, cargo: &mut Command) -> Result<()> {
    if !defines_profile(workspace)? {
        for setting in SETTINGS {
            cargo.arg("--config").arg(format!("profile.{PROFILE}.{setting}"));
        }
    }
    Ok(())
}

fn defines_profile(workspace: &Workspace) -> Result<bool> {
    let manifest = project_file::read_text(&workspace.root.join("Cargo.toml"), project_file::TEXT_BYTES_MAX)?;
    Ok(manifest.contains(&format!("[profile.{PROFILE}]")))
}
