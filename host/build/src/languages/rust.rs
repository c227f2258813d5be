//! Rust: cargo builds the project's crate for `wasm32-wasip2`, and the linker of that target makes the component.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, ensure};

use crate::project::Project;
use crate::workspace::Workspace;
use crate::{cache, crates, process, project_file, toolchain};

/// What only one build at a time holds, in a folder that projects share.
const LOCK: &str = "portcullis.lock";

/// Says which project built last in such a folder.
const LAST: &str = "portcullis.last";

pub(super) fn build(project: &Project, out: &Path) -> Result<()> {
    ensure!(
        project.root.join("Cargo.toml").is_file(),
        "{} holds no Cargo.toml: a project in Rust is a crate",
        project.root.display()
    );
    process::capture(process::cargo().arg("--version"))
        .context("a project in Rust needs cargo: install Rust 1.95 or newer, by rustup for one")?;
    let workspace = Workspace::of(&project.root)?;
    // Nothing is prepared for a crate that cannot become a component: making a toolchain takes minutes.
    crates::component(&workspace, workspace.package_in(&project.root)?)?;
    if workspace.target == project.root.join("target") {
        return build_alone(project, workspace, out);
    }
    // Where cargo is told to build elsewhere, other workspaces may build there as well.
    let shared = !workspace.target.starts_with(&workspace.root);
    let _lock = shared.then(|| only_one(project, &workspace)).transpose()?;
    build_in(project, &workspace, &workspace.root, out)
}

/// Builds a crate that stands alone. Its dependencies are compiled once for all such crates of this user, in a folder
/// of the cache, so that a second project is ready in seconds and nothing is left in the first.
fn build_alone(project: &Project, mut workspace: Workspace, out: &Path) -> Result<()> {
    workspace.target = cache::folder("rust")?;
    let _lock = only_one(project, &workspace)?;
    // Its own folder would be another flag of the compiler for each project, and nothing would be shared.
    let home = std::env::home_dir().unwrap_or_else(|| project.root.clone());
    build_in(project, &workspace, &home, out)
}

/// Waits for other builds in a folder that projects share, and takes away what one of them may have left.
fn only_one(project: &Project, workspace: &Workspace) -> Result<File> {
    let lock = cache::hold(
        &workspace.target,
        LOCK,
        &format!("{}: another build is at work in it", workspace.target.display()),
    )?;
    forget_others(workspace)?;
    // Cargo names a component after its crate alone, and takes that of another project with this name for its own.
    let stale = crates::intermediate(workspace, workspace.package_in(&project.root)?)?;
    match fs::remove_file(&stale) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", stale.display()))
        }
        Ok(()) | Err(_) => Ok(lock),
    }
}

/// Takes away what another project's own crates were compiled to. Cargo knows a crate in a folder by its name, its path
/// below the workspace and the time of its files: another project's of the same name passes for this one's.
fn forget_others(workspace: &Workspace) -> Result<()> {
    let last = workspace.target.join(LAST);
    let root = workspace.root.as_os_str().as_encoded_bytes();
    if project_file::read(&last, project_file::TEXT_BYTES_MAX).is_ok_and(|known| known == root) {
        return Ok(());
    }
    crates::forget_own(workspace)?;
    fs::write(&last, root).with_context(|| format!("cannot write {}", last.display()))
}

fn build_in(project: &Project, workspace: &Workspace, hidden: &Path, out: &Path) -> Result<()> {
    let package = workspace.package_in(&project.root)?;
    let toolchain = toolchain::prepare(&workspace.root)?;
    crates::build(workspace, &toolchain, hidden, &[package]).map_err(|error| {
        let words = format!("`{}` does not build: cargo's words are above", project.name);
        // The command itself is long, and no person's.
        if process::shows_commands() { error.context(words) } else { anyhow!(words) }
    })?;
    let built = crates::component(workspace, package)?;
    project_file::copy(&built, out, project_file::MODULE_BYTES_MAX)
        .with_context(|| format!("cargo left no {}", built.display()))?;
    Ok(())
}
