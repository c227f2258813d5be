//! Builds the guests that only the tests load: well-behaved ones, hostile ones, and the example plugins.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::component::{self, Component};
use crate::plugins;
use crate::toolchain::Toolchain;
use portcullis_build::crates::Optimization;
use portcullis_build::workspace::{Package, Workspace};

/// Returns the folder where the tests look for guests.
pub(crate) fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("guests")
}

/// Builds only the guests.
pub(crate) fn build(workspace: &Workspace, toolchain: &Toolchain) -> Result<()> {
    component::build_own(workspace, toolchain, &all(workspace), Optimization::PerCrate)
}

/// Builds the shipped plugins and the guests with one cargo command.
pub(crate) fn build_with_plugins(workspace: &Workspace, toolchain: &Toolchain) -> Result<()> {
    let mut components = plugins::shipped(workspace, &plugins::folder(workspace))?;
    components.extend(all(workspace));
    component::build_own(workspace, toolchain, &components, Optimization::PerCrate)
}

/// The plugins among the examples, each with the name of its component.
const EXAMPLES: [(&str, &str); 3] =
    [("examples/hello-plugin", "hello"), ("examples/github", "github"), ("examples/embed-service/plugin", "notes")];

/// Returns every crate under `tests/guests/`, named after its folder, and the examples.
fn all(workspace: &Workspace) -> Vec<Component<'_>> {
    let out = folder(workspace);
    let mut components: Vec<_> =
        workspace.packages_under("tests/guests").into_iter().map(|package| guest(package, &out)).collect();
    let packages = &workspace.packages;
    components.extend(EXAMPLES.iter().filter_map(|(folder, name)| {
        let package = packages.iter().find(|package| package.folder == workspace.root.join(folder))?;
        Some(Component { package, file: out.join(format!("{name}.wasm")) })
    }));
    components
}

fn guest<'a>(package: &'a Package, out: &Path) -> Component<'a> {
    let name = package.folder.file_name().unwrap_or_default().to_string_lossy();
    Component { package, file: out.join(format!("{name}.wasm")) }
}
