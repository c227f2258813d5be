//! Installs the program and its plugins below a prefix, from a checkout: `bin/portcullis` and
//! `share/portcullis/plugins`. `portcullis init` finds the plugins from there.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::component::Component;
use crate::{component, plugins, process, toolchain};
use portcullis_build::crates::Optimization;
use portcullis_build::workspace::Workspace;

/// Builds the program and the shipped plugins, and puts them in place.
pub(crate) fn install(workspace: &Workspace, prefix: Option<PathBuf>) -> Result<()> {
    let prefix = match prefix {
        Some(prefix) => prefix,
        None => PathBuf::from(std::env::var_os("HOME").context("there is no HOME: name a directory with --prefix")?)
            .join(".local"),
    };
    let folder = prefix.join("share/portcullis/plugins");
    let shipped: Vec<Component> = plugins::shipped(workspace, &folder)?;
    component::build(workspace, &toolchain::prepare(&workspace.root)?, &shipped, Optimization::AcrossCrates)?;
    process::run_aside(workspace.cargo().args(["build", "--release", "--package", "portcullis-cli"]))?;
    let program = prefix.join("bin/portcullis");
    place(&workspace.target.join("release/portcullis"), &program)?;
    println!("\nNext, in the directory of a project: {} init", program.display());
    Ok(())
}

/// Copies the program atomically, because an old one may be running.
fn place(built: &Path, program: &Path) -> Result<()> {
    fs::create_dir_all(program.parent().context("a program needs a folder")?)?;
    let partial = program.with_extension("partial");
    fs::copy(built, &partial).with_context(|| format!("cargo did not write {}", built.display()))?;
    fs::rename(&partial, program)?;
    println!("{}  {}", program.display(), portcullis_build::size(fs::metadata(program)?.len()));
    Ok(())
}
