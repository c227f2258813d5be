//! Installs npm packages into the cache, pinned by a lock file that is part of this program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use crate::{cache, process};

/// The oldest Node.js that the pinned packages run on.
const NODE_MAJOR_MIN: u32 = 20;

/// The remedy if Node is missing or too old.
const NODE_NEEDED: &str = "install Node.js 20 or newer with npm, and have both on the PATH";

/// The pinned packages of an installation.
pub(crate) struct Lock {
    /// Its purpose, for the name of its cache entry and for messages.
    pub(crate) name: &'static str,
    /// `package.json`
    pub(crate) manifest: &'static str,
    /// `package-lock.json`, with the digest of every package that the manifest requires.
    pub(crate) lock: &'static str,
    /// The name prefixes of packages with one variant per platform. They are optional for npm, which silently omits
    /// those for other platforms and those that it could not fetch.
    pub(crate) native: &'static [&'static str],
}

impl Lock {
    /// Returns the folder `node_modules` of the installation. Installs it with npm if it is not in the cache.
    pub(crate) fn install(&self) -> Result<PathBuf> {
        let key = format!("{}-{}", self.name, &cache::digest([self.manifest, self.lock].concat().as_bytes())[..16]);
        let folder = cache::entry(&cache::folder("toolchains")?, &key, |folder| {
            eprintln!("toolchain: installing what builds {}, once", self.name);
            fs::write(folder.join("package.json"), self.manifest)?;
            fs::write(folder.join("package-lock.json"), self.lock)?;
            process::run_tool(&mut install_into(folder), &format!("{NODE_NEEDED}, and access to npm's registry"))?;
            check_native(&folder.join("node_modules"), self.native)
        });
        Ok(folder.with_context(|| format!("what builds {} could not be installed", self.name))?.join("node_modules"))
    }
}

/// Returns an npm command that installs a folder's lock file, independent of the user's npm settings.
fn install_into(folder: &Path) -> Command {
    let mut npm = Command::new("npm");
    // `npm ci` checks the digest of every package. No package's installation script runs.
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    // The user's settings `omit`, `global` and `dry-run` would leave packages out or install nothing here.
    npm.args(["--include=prod", "--include=optional", "--no-global", "--no-dry-run"]).current_dir(folder);
    npm
}

/// Checks that npm has installed a variant of each native package for this platform.
fn check_native(modules: &Path, native: &[&str]) -> Result<()> {
    for prefix in native {
        let (scope, begin) = prefix.split_once('/').context("native packages are named with their scope")?;
        let there = fs::read_dir(modules.join(scope)).is_ok_and(|mut packages| {
            packages.any(|package| package.is_ok_and(|package| is_form(&package.path(), begin)))
        });
        ensure!(
            there,
            "npm did not install `{prefix}...` for this machine, most likely because it could not fetch it: try again\n\
             if that does not help, the package does not exist for this machine"
        );
    }
    Ok(())
}

/// Returns whether a folder is an installed package with this prefix. After a failure npm may leave an empty folder.
fn is_form(package: &Path, begin: &str) -> bool {
    let named = package.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(begin));
    named && package.join("package.json").is_file()
}

/// Checks that a Node exists on which the packages run.
///
/// # Errors
/// Node is missing or too old.
pub(crate) fn check_node() -> Result<()> {
    let said = process::capture(Command::new("node").arg("--version")).context(NODE_NEEDED)?;
    match major(&said) {
        Some(found) if found >= NODE_MAJOR_MIN => Ok(()),
        _ => bail!("`node` is {}, which is too old: {NODE_NEEDED}", said.trim()),
    }
}

/// Returns the first number of a version such as `v20.1.0`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_of_a_version_counts() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major("v8.0.0"), Some(8));
        assert_eq!(major("what"), None);
    }

    #[test]
    fn an_installation_without_its_native_packages_is_not_complete() {
        let modules = std::env::temp_dir().join(format!("portcullis-npm-{}", std::process::id()));
        let native = ["@esbuild/", "@bytecodealliance/wizer-"];
        cache::empty(&modules.join("@esbuild/linux-x64")).unwrap();
        cache::empty(&modules.join("@bytecodealliance/wizer")).unwrap();
        fs::write(modules.join("@bytecodealliance/wizer/package.json"), "{}").unwrap();
        let failure = check_native(&modules, &native).unwrap_err().to_string();
        assert!(failure.contains("@esbuild/") && failure.contains("try again"), "{failure}");
        fs::write(modules.join("@esbuild/linux-x64/package.json"), "{}").unwrap();
        let failure = check_native(&modules, &native).unwrap_err().to_string();
        assert!(failure.contains("@bytecodealliance/wizer-"), "{failure}");
        cache::empty(&modules.join("@bytecodealliance/wizer-linux-x64")).unwrap();
        fs::write(modules.join("@bytecodealliance/wizer-linux-x64/package.json"), "{}").unwrap();
        check_native(&modules, &native).unwrap();
        fs::remove_dir_all(modules).unwrap();
    }

    #[test]
    fn npm_settings_of_the_user_do_not_apply() {
        let npm = install_into(Path::new("/x"));
        assert!(npm.get_args().any(|argument| argument == "--include=optional"));
    }
}
