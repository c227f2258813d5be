//! Rust: cargo builds the project's crate for `wasm32-wasip2`, whose linker creates the component.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::crates::Optimization;
use crate::project::Project;
use crate::workspace::Workspace;
use crate::{cache, crates, process, project_file, toolchain};

/// The lock file of a target folder that projects share. One build holds it at a time.
const LOCK: &str = "portcullis.lock";

/// The file that names the last project that built in such a folder.
const LAST: &str = "portcullis.last";

pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    ensure!(
        project.root.join("Cargo.toml").is_file(),
        "{} has no Cargo.toml: a project in Rust is a crate",
        project.root.display()
    );
    process::capture(process::cargo().arg("--version"))
        .context("a project in Rust needs cargo: install Rust 1.95 or newer, for example with rustup")?;
    let workspace = Workspace::of(&project.root)?;
    // Check this first, because preparing a toolchain can take minutes.
    crates::component(&workspace, workspace.package_in(&project.root)?)?;
    // This is cargo's default, so the user has not chosen a target folder.
    if workspace.target == project.root.join("target") {
        return build_alone(project, workspace, out);
    }
    // A target folder outside the workspace may be shared with other workspaces.
    let shared = !workspace.target.starts_with(&workspace.root);
    let _lock = shared.then(|| only_one(project, &workspace)).transpose()?;
    build_in(project, &workspace, &workspace.root, out)
}

/// Builds a standalone crate. All such crates of this user share a target folder in the cache. Dependencies are
/// compiled once, so that a second project is ready in seconds, and the project's own folder stays clean.
fn build_alone(project: &Project, mut workspace: Workspace, out: &Path) -> Result<()> {
    workspace.target = cache::folder("rust")?;
    let _lock = only_one(project, &workspace)?;
    // The project's own folder would be a different compiler flag for each project, and cargo would share nothing.
    let home = std::env::home_dir().unwrap_or_else(|| project.root.clone());
    build_in(project, &workspace, &home, out)
}

/// Waits for other builds in a shared target folder, and removes what one of them may have left.
fn only_one(project: &Project, workspace: &Workspace) -> Result<File> {
    let lock =
        cache::hold(&workspace.target, LOCK, &format!("{}: another build is using it", workspace.target.display()))?;
    forget_others(workspace)?;
    // Cargo names a component after its crate only, and would reuse that of another project with the same name.
    let stale = crates::intermediate(workspace, workspace.package_in(&project.root)?)?;
    match fs::remove_file(&stale) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", stale.display()))
        }
        Ok(()) | Err(_) => Ok(lock),
    }
}

/// Removes the compiled local crates of another project. Cargo identifies a local crate by its name, its path in the
/// workspace and the times of its files, so it could confuse crates of two projects.
fn forget_others(workspace: &Workspace) -> Result<()> {
    let last = workspace.target.join(LAST);
    let root = workspace.root.as_os_str().as_encoded_bytes();
    // If the file cannot be read, assume another project: removing too much only costs time.
    if project_file::read(&last, project_file::TEXT_BYTES_MAX).is_ok_and(|known| known == root) {
        return Ok(());
    }
    crates::forget_own(workspace)?;
    // Write this only after the removal, so that the next build repeats an interrupted one.
    fs::write(&last, root).with_context(|| format!("cannot write {}", last.display()))
}

fn build_in(project: &Project, workspace: &Workspace, hidden: &Path, out: &Path) -> Result<()> {
    let package = workspace.package_in(&project.root)?;
    let toolchain = toolchain::prepare(&workspace.root)?;
    crates::build(workspace, &toolchain, hidden, &[package], Optimization::AcrossCrates).map_err(|error| {
        let words = format!("`{}` does not build: see cargo's output above", project.name);
        // The command is long, and the user did not write it.
        if process::shows_commands() { error.context(words) } else { anyhow!(words) }
    })?;
    let built = crates::component(workspace, package)?;
    project_file::copy(&built, out, project_file::MODULE_BYTES_MAX)
        .with_context(|| format!("cargo did not create {}", built.display()))?;
    Ok(())
}
