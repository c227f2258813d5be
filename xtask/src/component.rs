//! Builds crates to components and copies each to its destination, under its own name.
//!
//! The components of this repository are cached by the content of their sources, so that a second checkout on the same
//! machine does not compile them again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use portcullis_build::cache;
use portcullis_build::crates::{self, Optimization};
use portcullis_build::workspace::{Package, Workspace};

use crate::process;
use crate::toolchain::Toolchain;

/// The sources that every component of this repository is made of, besides its own crate.
const SHARED_SOURCES: [&str; 4] = ["sdk/rust", "wit", "host/build/src", "host/build/toolchains"];

/// The files that decide how every component is compiled.
const SHARED_FILES: [&str; 2] = ["Cargo.toml", "Cargo.lock"];

/// Folders that builds leave behind. They are no sources.
const LEFT_BEHIND: [&str; 1] = ["target"];

/// Versions of one component that stay in the cache: those of a few branches.
const VERSIONS_KEPT: usize = 4;

/// A component to build: the package, and the file to write.
pub(crate) struct Component<'a> {
    pub(crate) package: &'a Package,
    pub(crate) file: PathBuf,
}

/// Builds components of this repository, or takes them from the cache of the machine if all of them are there.
pub(crate) fn build_own(
    workspace: &Workspace,
    toolchain: &Toolchain,
    components: &[Component],
    optimization: Optimization,
) -> Result<()> {
    let shared = format!("{} {optimization:?}", shared_content(workspace)?);
    let cached: Vec<PathBuf> =
        components.iter().map(|component| cached_file(&shared, component)).collect::<Result<_>>()?;
    if cached.iter().all(|file| file.is_file()) {
        return components.iter().zip(&cached).try_for_each(|(component, cached)| place(cached, &component.file));
    }
    build(workspace, toolchain, components, optimization)?;
    components.iter().zip(&cached).try_for_each(|(component, cached)| keep(&component.file, cached))
}

/// Builds all components of one workspace, and copies each to its file.
pub(crate) fn build(
    workspace: &Workspace,
    toolchain: &Toolchain,
    components: &[Component],
    optimization: Optimization,
) -> Result<()> {
    if components.is_empty() {
        return Ok(());
    }
    let packages: Vec<&Package> = components.iter().map(|component| component.package).collect();
    crates::build(workspace, toolchain, &workspace.root, &packages, optimization)?;
    for Component { package, file } in components {
        place(&crates::component(workspace, package)?, file)?;
    }
    Ok(())
}

/// Returns a digest of everything that all components are made with.
fn shared_content(workspace: &Workspace) -> Result<String> {
    let mut content = process::capture(Command::new("rustc").arg("-vV"))?;
    for folder in SHARED_SOURCES.map(|folder| workspace.root.join(folder)).iter().filter(|folder| folder.is_dir()) {
        content.push_str(&cache::digest_of(folder, &LEFT_BEHIND)?);
    }
    for file in SHARED_FILES.map(|file| workspace.root.join(file)).iter().filter(|file| file.is_file()) {
        content.push_str(&cache::digest(&fs::read(file)?));
    }
    Ok(cache::digest(content.as_bytes()))
}

/// Returns the place of a component in the cache. Its name is a digest of its sources.
fn cached_file(shared: &str, component: &Component<'_>) -> Result<PathBuf> {
    let own = cache::digest_of(&component.package.folder, &LEFT_BEHIND)?;
    let key = cache::digest(format!("{shared} {own}").as_bytes());
    Ok(cache::folder("components")?.join(&component.package.name).join(key).join("component.wasm"))
}

/// Puts a component into the cache.
fn keep(built: &Path, cached: &Path) -> Result<()> {
    let (Some(entry), Some(folder)) = (cached.parent(), cached.parent().and_then(Path::parent)) else { return Ok(()) };
    let key = entry.file_name().unwrap_or_default().to_string_lossy();
    let entry = cache::entry(folder, &key, |partial| {
        fs::copy(built, partial.join("component.wasm"))?;
        Ok(())
    })?;
    cache::touch(&entry)?;
    Ok(cache::forget_oldest(folder, VERSIONS_KEPT)?)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest of a component covers its own folder and the SDK, so it must not be made of other sources. Its tests
    /// may: a dev-dependency is not part of the component.
    #[test]
    fn components_of_this_repository_depend_on_no_other_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let workspace = Workspace::of(&root).unwrap();
        let folders =
            ["plugins", "tests/guests", "examples/hello-plugin", "examples/github", "examples/embed-service/plugin"];
        for package in folders.into_iter().flat_map(|folder| workspace.packages_under(folder)) {
            let manifest = fs::read_to_string(package.folder.join("Cargo.toml")).unwrap();
            let made_of = manifest.split("[dev-dependencies]").next().unwrap_or_default();
            let other = made_of.lines().find(|line| {
                line.contains("path =") || line.starts_with("portcullis-") && !line.starts_with("portcullis-sdk")
            });
            assert_eq!(other, None, "{}", package.name);
        }
    }
}
