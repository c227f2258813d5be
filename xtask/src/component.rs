//! Builds crates to components and puts each where it is looked for, under its own name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portcullis_build::crates;
use portcullis_build::workspace::{Package, Workspace};

use crate::toolchain::Toolchain;

/// One component to build: the package, and the file that it becomes.
pub(crate) struct Component<'a> {
    pub(crate) package: &'a Package,
    pub(crate) file: PathBuf,
}

/// Builds all components of one workspace in one run of cargo, and copies each to its file.
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

/// Copies a component to its place, so that no reader sees half of it, and says so.
fn place(built: &Path, file: &Path) -> Result<()> {
    let folder = file.parent().context("a component needs a folder")?;
    fs::create_dir_all(folder)?;
    let partial = file.with_extension("wasm.partial");
    fs::copy(built, &partial).with_context(|| format!("cargo left no {}", built.display()))?;
    fs::rename(&partial, file)?;
    println!("{}  {}", file.display(), portcullis_build::size(fs::metadata(file)?.len()));
    Ok(())
}
