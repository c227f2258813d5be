//! Installs PyPI packages into the cache, pinned by digests that are part of this program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{cache, process};

/// Prints the interpreter and the platform, for the name of the cache entry, because packages depend on both.
const DESCRIPTION: &str = "import sys; print(sys.version, sys.platform)";

/// Environment variables that configure how pip reaches packages. Pip's other variables are removed, because they are
/// about the user's own installations, for example their target folder.
const WAYS: [&str; 16] = [
    "PIP_CACHE_DIR",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_KEYRING_PROVIDER",
    "PIP_NO_CACHE_DIR",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_RETRIES",
    "PIP_TIMEOUT",
    "PIP_TRUSTED_HOST",
    "PIP_USE_FEATURE",
];

/// The pinned packages of an installation.
pub(crate) struct Requirements {
    /// Its purpose, for the name of its cache entry and for messages.
    pub(crate) name: &'static str,
    /// `requirements.txt`, with the digest of every package.
    pub(crate) text: &'static str,
}

impl Requirements {
    /// Returns the folder with the packages. Installs them with pip if they are not in the cache.
    pub(crate) fn install(&self) -> Result<PathBuf> {
        let python = process::capture(Command::new("python3").args(["-P", "-c", DESCRIPTION]))
            .context("Python 3.11 or newer is needed to install this language's toolchain")?;
        let key = format!("{}-{}", self.name, &cache::digest([self.text, &python].concat().as_bytes())[..16]);
        let folder = cache::entry(&cache::folder("toolchains")?, &key, |folder| {
            eprintln!("toolchain: installing what builds {}, once", self.name);
            let pinned = folder.join("requirements.txt");
            fs::write(&pinned, self.text)?;
            let mut pip = install_into(folder);
            // Pip checks the digest of every package, and no package's code runs, because all are wheels.
            pip.args(["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement"]).arg(&pinned);
            process::run_tool(&mut pip, "install Python 3.11 or newer with pip; installing needs access to PyPI")
        });
        folder.with_context(|| format!("what builds {} could not be installed", self.name))
    }
}

/// Returns a pip command that installs into `folder`, independent of the user's pip settings.
pub(crate) fn install_into(folder: &Path) -> Command {
    let mut pip = Command::new("python3");
    // -P: do not import modules from the working directory.
    pip.args(["-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target"]);
    // A module on the user's path could take the place of one of pip's own.
    pip.arg(folder).env_remove("PYTHONPATH");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_foreign) {
            pip.env_remove(name);
        }
    }
    // A configuration file can set these too, so override them.
    pip.env("PIP_REQUIRE_VIRTUALENV", "0").env("PIP_USER", "0");
    pip
}

/// Returns whether a variable is pip's and does not configure how it reaches packages.
fn is_foreign(variable: &str) -> bool {
    variable.starts_with("PIP_") && !WAYS.contains(&variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_to_packages_follows_the_users_settings() {
        for name in ["PIP_INDEX_URL", "PIP_PROXY", "PIP_CERT", "HTTPS_PROXY"] {
            assert!(!is_foreign(name), "{name}");
        }
        for name in ["PIP_REQUIRE_VIRTUALENV", "PIP_USER", "PIP_TARGET", "PIP_DRY_RUN", "PIP_CONSTRAINT"] {
            assert!(is_foreign(name), "{name}");
        }
    }

    #[test]
    fn an_installation_needs_no_virtual_environment() {
        let pip = install_into(Path::new("/x"));
        for name in ["PIP_REQUIRE_VIRTUALENV", "PIP_USER"] {
            assert!(pip.get_envs().any(|(key, value)| key == name && value == Some("0".as_ref())), "{name}");
        }
    }
}
