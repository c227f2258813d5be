//! Crates become components: what cargo is told, the same for every plugin in Rust.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::project_file;
use crate::toolchain::{TARGET, Toolchain, neutral_paths};
use crate::workspace::{Package, Workspace};

/// The profile that plugins are built with.
const PROFILE: &str = "guest";
/// The profile for a workspace that does not define it: small code compiles, verifies and maps faster than fast code
/// runs.
const SETTINGS: [&str; 7] = [
    "inherits = 'release'",
    "opt-level = 's'",
    "lto = 'fat'",
    "codegen-units = 1",
    "strip = true",
    "debug = false",
    "panic = 'abort'",
];

/// Builds packages of one workspace to components in one run of cargo. What cargo and the compiler say goes to standard
/// error as they say it. No component tells where `hidden` is, the folder of the sources or one above it; all of them
/// are compiled again when it is another one.
///
/// # Errors
/// A package builds to no component, or cargo failed.
pub fn build(workspace: &Workspace, toolchain: &Toolchain, hidden: &Path, packages: &[&Package]) -> Result<()> {
    for package in packages {
        stem(package)?;
    }
    let mut cargo = cargo(workspace, packages)?;
    toolchain.apply(&mut cargo, neutral_paths(&[(hidden, "/source")]));
    process::run_aside(&mut cargo)
}

/// Where cargo leaves the component of a package.
///
/// # Errors
/// The package builds to no component.
pub fn component(workspace: &Workspace, package: &Package) -> Result<PathBuf> {
    Ok(workspace.target.join(TARGET).join(PROFILE).join(format!("{}.wasm", stem(package)?)))
}

/// The file that cargo makes the one of [`component`] from.
///
/// # Errors
/// The package builds to no component.
pub(crate) fn intermediate(workspace: &Workspace, package: &Package) -> Result<PathBuf> {
    Ok(workspace.target.join(TARGET).join(PROFILE).join("deps").join(format!("{}.wasm", stem(package)?)))
}

/// Removes what was compiled in the workspace's target folder of packages with the names of this workspace's own, for
/// targets and for the machine itself. What comes from a registry stays.
///
/// # Errors
/// Cargo failed, and has said why.
pub(crate) fn forget_own(workspace: &Workspace) -> Result<()> {
    let own = workspace.local_packages()?;
    let mut cargo = workspace.cargo();
    // Of both, for what runs while crates are built is compiled for the machine.
    cargo.args(["clean", "--quiet", "--profile", PROFILE, "--target", TARGET]);
    configure(workspace, &mut cargo)?;
    for package in &own {
        cargo.args(["--package", package]);
    }
    process::run_aside(&mut cargo)
}

/// The stem of a package's component.
fn stem(package: &Package) -> Result<&str> {
    package.component.as_deref().with_context(|| {
        let remedy = "write `crate-type = [\"cdylib\", \"rlib\"]` under `[lib]` in its manifest";
        format!("{} builds to no component: {remedy}", package.name)
    })
}

fn cargo(workspace: &Workspace, packages: &[&Package]) -> Result<Command> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--profile", PROFILE, "--target", TARGET]);
    configure(workspace, &mut cargo)?;
    for package in packages {
        cargo.args(["--package", &package.id]);
    }
    Ok(cargo)
}

/// Defines the profile where the workspace does not.
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
