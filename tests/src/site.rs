//! A place for one host: a plugin directory, a state directory and whatever else a test puts beside them.

use crate::{Manifest, guest, moved, usual_contract};
use portcullis::plugins::Contract;
use portcullis::{Compiler, Host, HostBuilder};
use std::path::{Path, PathBuf};
use std::{env, fs};
use tempfile::TempDir;

/// A temporary directory with `plugins/` in it; `state/` appears when a host is opened.
#[derive(Debug)]
pub struct Site {
    root: TempDir,
}

impl Default for Site {
    fn default() -> Self {
        Self::new()
    }
}

impl Site {
    /// A site with the good plugin.
    pub fn new() -> Self {
        let site = Self { root: TempDir::new().unwrap() };
        fs::create_dir(site.plugins()).unwrap();
        site.plugin("good", &guest("good", &Manifest::of("good")));
        site
    }

    /// A site with the plugins of another.
    pub(crate) fn of_plugins(other: &Self) -> Self {
        let site = Self { root: TempDir::new().unwrap() };
        fs::create_dir(site.plugins()).unwrap();
        for entry in fs::read_dir(other.plugins()).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), site.plugins().join(entry.file_name())).unwrap();
        }
        site
    }

    /// Puts a plugin into the plugin directory.
    pub fn plugin(&self, name: &str, bytes: &[u8]) {
        fs::write(self.plugins().join(format!("{name}.wasm")), bytes).unwrap();
    }

    /// The plugin directory.
    pub fn plugins(&self) -> PathBuf {
        self.path("plugins")
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// A path in the site.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.path().join(path)
    }

    /// Makes a directory of the site.
    pub fn directory(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// A host of this site that compiles in this process; relative grants start from the site.
    pub fn builder(&self, policy: &str) -> HostBuilder {
        self.builder_with(policy, Compiler::InProcess)
    }

    /// A host of this site with a compiler.
    pub fn builder_with(&self, policy: &str, compiler: Compiler) -> HostBuilder {
        let builder = Host::builder(self.plugins(), self.state(), compiler).calls(4);
        builder.policy_text(policy, self.root.path())
    }

    /// Opens a host of this site.
    pub async fn open(&self, policy: &str) -> Host {
        self.builder(policy).open().await.unwrap_or_else(|error| panic!("{error}\n{policy}"))
    }
}

/// A policy with these limits that allows every call, however often it comes in a row.
pub fn allow_all(limits: &str) -> String {
    format!("[approvals]\nrepeats = 1000000\n[limits]\n{limits}\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n")
}

/// The bytes of a guest that is a crate of its own, built by `cargo xtask test`.
pub fn built_guest(name: &str) -> Vec<u8> {
    built_guest_of(usual_contract(), name)
}

/// The same in a version of the contract.
pub fn built_guest_of(contract: Contract, name: &str) -> Vec<u8> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/guests");
    let folder = env::var_os("PORTCULLIS_TEST_GUESTS").map_or_else(|| PathBuf::from(default), PathBuf::from);
    moved(&component_in(&folder, name), contract)
}

/// The bytes of a plugin that the project ships, built by `cargo xtask test`: in the version that it is shipped in.
pub fn shipped_plugin(name: &str) -> Vec<u8> {
    component_in(&shipped_plugins(), name)
}

/// Where the plugins are that the project ships.
pub fn shipped_plugins() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/plugins");
    env::var_os("PORTCULLIS_TEST_PLUGINS").map_or_else(|| PathBuf::from(default), PathBuf::from)
}

fn component_in(folder: &Path, name: &str) -> Vec<u8> {
    let file = folder.join(format!("{name}.wasm"));
    fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}: run `cargo xtask test`", file.display()))
}

/// The program, built by `cargo xtask test`.
pub fn program() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/debug/portcullis");
    let program = env::var_os("PORTCULLIS_TEST_BINARY").map_or_else(|| PathBuf::from(default), PathBuf::from);
    assert!(program.is_file(), "{}: run `cargo xtask test`", program.display());
    program
}
