//! Builds crates to components and puts each where it is looked for, under its own name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::process;
use crate::toolchain::{TARGET, Toolchain, neutral_paths};
use crate::workspace::{Package, Workspace};

/// The profile of the root manifest that plugins are built with.
const PROFILE: &str = "guest";
/// The same profile for a workspace that does not define it.
const SETTINGS: [&str; 7] = [
    "inherits = 'release'",
    "opt-level = 's'",
    "lto = 'fat'",
    "codegen-units = 1",
    "strip = true",
    "debug = false",
    "panic = 'abort'",
];

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
    for Component { package, .. } in components {
        check(package)?;
    }
    process::run_aside(&mut cargo(workspace, toolchain, components)?)?;
    let built = workspace.target.join(TARGET).join(PROFILE);
    for Component { package, file } in components {
        let stem = package.component.as_deref().unwrap_or_default();
        place(&built.join(format!("{stem}.wasm")), file)?;
    }
    Ok(())
}

/// Whether a package builds to a component at all.
pub(crate) fn check(package: &Package) -> Result<()> {
    let remedy = "write `crate-type = [\"cdylib\", \"rlib\"]` under `[lib]` in its manifest";
    ensure!(package.component.is_some(), "{} builds to no component: {remedy}", package.name);
    Ok(())
}

fn cargo(workspace: &Workspace, toolchain: &Toolchain, components: &[Component]) -> Result<Command> {
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--profile", PROFILE, "--target", TARGET]);
    if !defines_profile(workspace)? {
        for setting in SETTINGS {
            cargo.arg("--config").arg(format!("profile.{PROFILE}.{setting}"));
        }
    }
    for component in components {
        cargo.args(["--package", &component.package.name]);
    }
    toolchain.apply(&mut cargo, neutral_paths(&[(&workspace.root, "/source")]));
    Ok(cargo)
}

fn defines_profile(workspace: &Workspace) -> Result<bool> {
    Ok(fs::read_to_string(workspace.root.join("Cargo.toml"))?.contains(&format!("[profile.{PROFILE}]")))
}

/// Copies a component to its place, so that no reader sees half of it, and says so.
fn place(built: &Path, file: &Path) -> Result<()> {
    let folder = file.parent().context("a component needs a folder")?;
    fs::create_dir_all(folder)?;
    let partial = file.with_extension("wasm.partial");
    fs::copy(built, &partial).with_context(|| format!("cargo left no {}", built.display()))?;
    fs::rename(&partial, file)?;
    println!("{}  {}", file.display(), size(fs::metadata(file)?.len()));
    Ok(())
}

/// A number of bytes, as people read it.
pub(crate) fn size(bytes: u64) -> String {
    if bytes < 1_000_000 {
        format!("{} kB", bytes.div_ceil(1000))
    } else {
        format!("{}.{:02} MB", bytes / 1_000_000, bytes % 1_000_000 / 10_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(45_001), "46 kB");
        assert_eq!(size(1_684_000), "1.68 MB");
    }
}
