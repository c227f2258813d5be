//! The compiler of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::target::TARGET;
use crate::process;

/// The installed compiler of this machine.
#[derive(Debug)]
pub(super) struct Installed {
    /// The folder in which it runs. rustup selects the compiler by the folder's `rust-toolchain.toml`.
    pub(super) folder: PathBuf,
    pub(super) sysroot: PathBuf,
    pub(super) description: String,
}

impl Installed {
    pub(super) fn find(folder: &Path) -> Result<Installed> {
        let rustc = |argument: &[&str]| process::capture(Command::new("rustc").args(argument).current_dir(folder));
        let sysroot = rustc(&["--print", "sysroot"]).context("install Rust first")?;
        let (folder, description) = (folder.to_owned(), rustc(&["-vV"])?);
        Ok(Installed { folder, sysroot: PathBuf::from(sysroot.trim_end()), description })
    }

    pub(super) fn has_target(&self) -> bool {
        self.sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir()
    }

    /// Returns the value of a line of `rustc -vV`.
    pub(super) fn field(&self, name: &str) -> Result<&str> {
        let value = self.description.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value.with_context(|| format!("`rustc -vV` names no {name}"))
    }

    /// Returns the path of the compiler itself, not of rustup's proxy.
    pub(super) fn rustc(&self) -> PathBuf {
        self.sysroot.join("bin/rustc")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIPTION: &str = "rustc 1.95.0 (59807616e 2026-04-14)\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";

    #[test]
    fn a_field_of_the_compiler_is_found_by_its_whole_name() {
        let installed =
            Installed { folder: PathBuf::new(), sysroot: PathBuf::new(), description: DESCRIPTION.to_owned() };
        assert_eq!(installed.field("release").unwrap(), "1.95.0");
        assert_eq!(installed.field("host").unwrap(), "x86_64-unknown-linux-gnu");
        assert!(installed.field("rel").is_err());
    }
}
