//! Builds crates to components and copies each to its destination, under its own name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portcullis_build::crates;
use portcullis_build::workspace::{Package, Workspace};

use crate::toolchain::Toolchain;

/// A component to build: the package, and the file to write.
pub(crate) struct Component<'a> {
    pub(crate) package: &'a Package,
    pub(crate) file: PathBuf,
}

/// Builds all components of one workspace with one cargo command, and copies each to its file.
pub(crate) fn build(workspace: &Workspace, toolchain: &Toolchain, components: &[Component]) -> Result<()> {
    if components.is_empty() {
        return Ok(());
    }
    let packages: Vec<&Package> = components.iter().map(|component| component.package).collect();
    crates::build(workspace, toolchain, &workspace.root, &packages)?;
    for Component { package, file } in components {
        place(&crates::component(workspace, package)?, file)?;
    }
    Ok(())
}

/// Copies a component to its file atomically, and prints the file.
fn place(built: &Path, file: &Path) -> Result<()> {
    let folder = file.parent().context("a component needs a folder")?;
    fs::create_dir_all(folder)?;
    let partial = file.with_extension("wasm.partial");
    fs::copy(built, &partial).with_context(|| format!("cargo did not write {}", built.display()))?;
    fs::rename(&partial, file)?;
    println!("{}  {}", file.display(), portcullis_build::size(fs::metadata(file)?.len()));
    Ok(())
}
