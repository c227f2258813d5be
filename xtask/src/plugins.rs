//! Builds plugins: the shipped ones, and any plugin crate.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use portcullis_build::crates::{self, Optimization};
use portcullis_build::workspace::{Package, Workspace};

use crate::component::{self, Component};
use crate::toolchain::{self, Toolchain};

/// Returns the documented folder of built plugins.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("plugins")
}

/// Returns every plugin under `plugins/`, with the file to write its component to.
pub(crate) fn shipped<'a>(workspace: &'a Workspace, out: &Path) -> Result<Vec<Component<'a>>> {
    let component = |package: &'a Package| {
        let name = package.plugin_name.as_deref();
        let name = name.with_context(|| format!("{} has no [package.metadata.portcullis] name", package.name))?;
        Ok(Component { package, file: out.join(format!("{name}.wasm")) })
    };
    workspace.packages_under("plugins").into_iter().map(component).collect()
}

/// Builds the shipped plugins into `out`, or into the documented folder.
pub(crate) fn build_shipped(
    workspace: &Workspace,
    toolchain: &Toolchain,
    out: Option<PathBuf>,
    optimization: Optimization,
) -> Result<()> {
    let out = out.unwrap_or_else(|| folder(workspace));
    component::build_own(workspace, toolchain, &shipped(workspace, &out)?, optimization)
}

/// Builds the plugin whose crate is in `folder`, anywhere on this machine, into `out` or the current directory.
///
/// Checks that the crate can be built before it prepares the toolchain, which takes minutes and changes the machine.
pub(crate) fn build_one(folder: &Path, out: Option<PathBuf>) -> Result<()> {
    let folder = folder.canonicalize().with_context(|| format!("cannot find {}", folder.display()))?;
    ensure!(folder.join("Cargo.toml").is_file(), "{} has no Cargo.toml", folder.display());
    let workspace = Workspace::of(&folder)?;
    let package = workspace.package_in(&folder)?;
    let name = package.plugin_name.as_deref().unwrap_or_else(|| plugin_name(&package.name));
    let out = out.map_or_else(std::env::current_dir, Ok)?;
    let file = out.join(format!("{name}.wasm"));
    crates::component(&workspace, package)?;
    let toolchain = toolchain::prepare(&workspace.root)?;
    component::build(&workspace, &toolchain, &[Component { package, file }], Optimization::AcrossCrates)
}

/// Returns the default name of a plugin: its crate's name without the parts that only mark it as a plugin.
pub(crate) fn plugin_name(package: &str) -> &str {
    let name = package.strip_prefix("portcullis-plugin-").unwrap_or(package);
    name.strip_suffix("-plugin").filter(|name| !name.is_empty()).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_named_after_its_crate() {
        assert_eq!(plugin_name("portcullis-plugin-files"), "files");
        assert_eq!(plugin_name("hello-plugin"), "hello");
        assert_eq!(plugin_name("-plugin"), "-plugin");
        assert_eq!(plugin_name("weather"), "weather");
    }
}
