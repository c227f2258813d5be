//! The files of one host: a plugin directory, a state directory and other files of a test.

use crate::ledger_place::ledger_address;
use crate::{Manifest, guest, moved, place, usual_contract};
use portcullis::plugins::Contract;
use portcullis::{Compiler, Host, HostBuilder};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};
use tempfile::TempDir;

/// A temporary directory that contains `plugins/`. Opening a host creates `state/`.
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
    /// Makes a site with the good plugin.
    pub fn new() -> Self {
        let site = Self { root: TempDir::new().unwrap() };
        fs::create_dir(site.plugins()).unwrap();
        site.plugin("good", &guest("good", &Manifest::of("good")));
        site
    }

    /// Makes a site with the plugins of another site.
    pub(crate) fn of_plugins(other: &Self) -> Self {
        let site = Self { root: TempDir::new().unwrap() };
        fs::create_dir(site.plugins()).unwrap();
        for entry in fs::read_dir(other.plugins()).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), site.plugins().join(entry.file_name())).unwrap();
        }
        site
    }

    /// Writes a plugin into the plugin directory.
    pub fn plugin(&self, name: &str, bytes: &[u8]) {
        fs::write(self.plugins().join(format!("{name}.wasm")), bytes).unwrap();
    }

    /// Returns the plugin directory.
    pub fn plugins(&self) -> PathBuf {
        self.path("plugins")
    }

    /// Returns the state directory.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Returns a path in the site.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.path().join(path)
    }

    /// Creates a directory in the site.
    pub fn directory(&self, path: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// Returns a host builder for this site with the in-process compiler. Relative grants start from the site. The code
    /// of the plugins is already in the cache.
    pub fn builder(&self, policy: &str) -> HostBuilder {
        self.compile();
        self.cold_builder(policy)
    }

    /// Returns the same without code in the cache, for a test of how plugins are compiled.
    pub fn cold_builder(&self, policy: &str) -> HostBuilder {
        self.builder_with(policy, Compiler::InProcess)
    }

    /// Returns a host builder for this site with a compiler.
    pub fn builder_with(&self, policy: &str, compiler: Compiler) -> HostBuilder {
        let builder = Host::builder(self.plugins(), place(self.state())).compiler(compiler).calls(4);
        builder.policy_text(policy, self.root.path())
    }

    /// Returns the program in the site, with its plugins, its state and its `policy.toml`.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.path(""));
        command.arg("--plugins").arg(self.plugins()).arg("--state").arg(self.state());
        command.arg("--policy").arg(self.path("policy.toml"));
        if let Some(address) = ledger_address(&self.state()) {
            command.arg("--state").arg(address);
        }
        command
    }

    /// Opens a host of this site.
    pub async fn open(&self, policy: &str) -> Host {
        self.builder(policy).open().await.unwrap_or_else(|error| panic!("{error}\n{policy}"))
    }
}

/// Builds a policy with these limits that allows every call, without the repetition check.
pub fn allow_all(limits: &str) -> String {
    format!("[approvals]\nrepeats = 1000000\n[limits]\n{limits}\n[[rule]]\ntool = \"*.*\"\ndecision = \"allow\"\n")
}

/// Returns the bytes of a guest that is a crate, built by `cargo xtask test`.
pub fn built_guest(name: &str) -> Vec<u8> {
    built_guest_of(usual_contract(), name)
}

/// Returns the same in a version of the contract.
pub fn built_guest_of(contract: Contract, name: &str) -> Vec<u8> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/guests");
    let folder = env::var_os("PORTCULLIS_TEST_GUESTS").map_or_else(|| PathBuf::from(default), PathBuf::from);
    moved(&component_in(&folder, name), contract)
}

/// Returns the bytes of a shipped plugin in its own contract version, built by `cargo xtask test`.
pub fn shipped_plugin(name: &str) -> Vec<u8> {
    component_in(&shipped_plugins(), name)
}

/// Returns the folder of the shipped plugins.
pub fn shipped_plugins() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/plugins");
    env::var_os("PORTCULLIS_TEST_PLUGINS").map_or_else(|| PathBuf::from(default), PathBuf::from)
}

fn component_in(folder: &Path, name: &str) -> Vec<u8> {
    let file = folder.join(format!("{name}.wasm"));
    fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}: run `cargo xtask test`", file.display()))
}

/// Returns the program, built by `cargo xtask test`.
pub fn program() -> PathBuf {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/debug/portcullis");
    let program = env::var_os("PORTCULLIS_TEST_BINARY").map_or_else(|| PathBuf::from(default), PathBuf::from);
    assert!(program.is_file(), "{}: run `cargo xtask test`", program.display());
    program
}
