//! Packages of npm, pinned by a lock file that this program carries, installed once into the cache.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{cache, process};

/// What pins an installation.
pub(crate) struct Lock {
    /// What it is for, in the name of its cache entry and in messages.
    pub(crate) name: &'static str,
    /// `package.json`
    pub(crate) manifest: &'static str,
    /// `package-lock.json`: the digest of every package that the manifest leads to.
    pub(crate) lock: &'static str,
}

impl Lock {
    /// The folder `node_modules` of the installation, from the cache or through npm.
    pub(crate) fn install(&self) -> Result<PathBuf> {
        let key = format!("{}-{}", self.name, &cache::digest([self.manifest, self.lock].concat().as_bytes())[..16]);
        let folder = cache::entry(&cache::folder("toolchains")?, &key, |folder| {
            eprintln!("toolchain: installing what builds {}, once", self.name);
            fs::write(folder.join("package.json"), self.manifest)?;
            fs::write(folder.join("package-lock.json"), self.lock)?;
            let mut npm = Command::new("npm");
            // The digest of every package is checked, and no package's own installation program is run.
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
            process::run_tool(&mut npm, "Node.js 20 or newer with npm is needed, and a way to npm's packages")
        });
        Ok(folder.with_context(|| format!("what builds {} could not be installed", self.name))?.join("node_modules"))
    }
}
