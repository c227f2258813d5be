//! A cargo workspace: its packages, their libraries, and its target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::process;

/// One workspace, as `cargo metadata` describes it.
#[derive(Debug)]
pub struct Workspace {
    /// The folder of its root manifest.
    pub root: PathBuf,
    /// The target folder, after `CARGO_TARGET_DIR` and cargo's settings.
    pub target: PathBuf,
    /// Its members.
    pub packages: Vec<Package>,
}

/// One package of a workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// Its name in its manifest.
    pub name: String,
    /// The package id, which is unique even if a dependency has the same name.
    pub id: String,
    /// The folder of its manifest.
    pub folder: PathBuf,
    /// The file stem of the component, if the package builds to one.
    pub component: Option<String>,
    /// `[package.metadata.portcullis] name`
    pub plugin_name: Option<String>,
}

impl Workspace {
    /// Returns the workspace of the crate in `folder`.
    ///
    /// # Errors
    /// Cargo cannot read the manifest of the crate or of its workspace, and has printed why.
    pub fn of(folder: &Path) -> Result<Workspace> {
        let mut cargo = process::cargo();
        // Without `--no-deps`, cargo resolves the dependencies, which can need the network.
        cargo.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]);
        Workspace::parse(&process::capture(cargo.arg(folder.join("Cargo.toml")))?)
    }

    fn parse(metadata: &str) -> Result<Workspace> {
        let metadata: Value = serde_json::from_str(metadata).context("`cargo metadata` wrote no JSON")?;
        let folder = |key: &str| Some(PathBuf::from(metadata.get(key)?.as_str()?));
        let packages =
            metadata.get("packages").and_then(Value::as_array).context("`cargo metadata` names no packages")?;
        Ok(Workspace {
            root: folder("workspace_root").context("`cargo metadata` names no root")?,
            target: folder("target_directory").context("`cargo metadata` names no target directory")?,
            packages: packages.iter().map(Package::parse).collect::<Option<_>>().context("an unreadable package")?,
        })
    }

    /// Returns the ids of local packages, which come from folders and not from a registry: members and dependencies.
    ///
    /// # Errors
    /// Cargo failed, and has printed why.
    pub fn local_packages(&self) -> Result<Vec<String>> {
        let metadata = process::capture(self.cargo().args(["metadata", "--format-version", "1"]))?;
        let metadata: Value = serde_json::from_str(&metadata).context("`cargo metadata` wrote no JSON")?;
        let packages =
            metadata.get("packages").and_then(Value::as_array).context("`cargo metadata` names no packages")?;
        let local = packages.iter().filter(|package| package.get("source").is_none_or(Value::is_null));
        Ok(local.filter_map(|package| package.get("id")?.as_str().map(str::to_owned)).collect())
    }

    /// Returns a cargo command for this workspace, independent of the working directory.
    #[must_use]
    pub fn cargo(&self) -> Command {
        let mut cargo = process::cargo();
        // Always set the target folder, because a build can choose another one than cargo would.
        cargo.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target);
        cargo
    }

    /// Returns the package whose manifest is in `folder`, an absolute path.
    ///
    /// # Errors
    /// The manifest defines only a workspace.
    pub fn package_in(&self, folder: &Path) -> Result<&Package> {
        let package = self.packages.iter().find(|package| package.folder == folder);
        package.with_context(|| format!("{} does not contain a package", folder.display()))
    }

    /// Returns the packages whose folder is directly under `parent`.
    #[must_use]
    pub fn packages_under(&self, parent: &str) -> Vec<&Package> {
        let parent = self.root.join(parent);
        self.packages.iter().filter(|package| package.folder.parent() == Some(&parent)).collect()
    }
}

impl Package {
    fn parse(package: &Value) -> Option<Package> {
        let manifest = Path::new(package.get("manifest_path")?.as_str()?);
        let targets = package.get("targets")?.as_array()?;
        let component = targets.iter().find(|target| has(target, "cdylib"));
        Some(Package {
            name: package.get("name")?.as_str()?.to_owned(),
            id: package.get("id")?.as_str()?.to_owned(),
            folder: manifest.parent()?.to_owned(),
            // Cargo names the file after the crate, which has `_` in place of each `-`.
            component: component.and_then(|it| Some(it.get("name")?.as_str()?.replace('-', "_"))),
            plugin_name: package.pointer("/metadata/portcullis/name").and_then(Value::as_str).map(str::to_owned),
        })
    }
}

/// Returns whether a target of a package has this kind.
fn has(target: &Value, kind: &str) -> bool {
    target.get("kind").and_then(Value::as_array).is_some_and(|kinds| kinds.iter().any(|it| it == kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_knows_the_component_it_builds_to() {
        let workspace = Workspace::parse(
            r#"{"workspace_root":"/w","target_directory":"/t","packages":[
              {"name":"a-b","id":"path+file:///w/plugins/a#a-b@1.0.0","manifest_path":"/w/plugins/a/Cargo.toml","metadata":{"portcullis":{"name":"a"}},
               "targets":[{"kind":["cdylib","rlib"],"name":"a_b"}]},
              {"name":"c","id":"path+file:///w/host/c#1.0.0","manifest_path":"/w/host/c/Cargo.toml","metadata":null,
               "targets":[{"kind":["bin"],"name":"c"}]}]}"#,
        )
        .unwrap();
        let plugins = workspace.packages_under("plugins");
        assert_eq!(plugins.len(), 1);
        assert_eq!(plugins[0].component.as_deref(), Some("a_b"));
        assert_eq!(plugins[0].plugin_name.as_deref(), Some("a"));
        assert_eq!(workspace.packages[1].component, None);
    }
}
