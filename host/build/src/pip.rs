//! Packages of PyPI, pinned by digests that this program carries, installed once into the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{cache, process};

/// What an installation was made by, for the name of its cache entry: packages come in the form of one interpreter.
const DESCRIPTION: &str = "import sys; print(sys.version, sys.platform)";

/// What a person says in the environment of the way to packages. Anything else of pip's that stands there is about
/// other installations: where they go, what they may hold, what has to be around them.
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

/// What pins an installation.
pub(crate) struct Requirements {
    /// What it is for, in the name of its cache entry and in messages.
    pub(crate) name: &'static str,
    /// `requirements.txt`, with the digest of every package.
    pub(crate) text: &'static str,
}

impl Requirements {
    /// The folder that holds the packages, from the cache or through pip.
    pub(crate) fn install(&self) -> Result<PathBuf> {
        let python = process::capture(Command::new("python3").args(["-P", "-c", DESCRIPTION]))
            .context("Python 3.11 or newer is needed to install this language's toolchain")?;
        let key = format!("{}-{}", self.name, &cache::digest([self.text, &python].concat().as_bytes())[..16]);
        let folder = cache::entry(&cache::folder("toolchains")?, &key, |folder| {
            eprintln!("toolchain: installing what builds {}, once", self.name);
            let pinned = folder.join("requirements.txt");
            fs::write(&pinned, self.text)?;
            let mut pip = install_into(folder);
            // The digest of every package is checked, and no package's own code is run.
            pip.args(["--no-deps", "--require-hashes", "--only-binary", ":all:", "--requirement"]).arg(&pinned);
            process::run_tool(&mut pip, "Python 3.11 or newer with pip is needed, and a way to PyPI's packages")
        });
        folder.with_context(|| format!("what builds {} could not be installed", self.name))
    }
}

/// A pip that will put packages into `folder`, whatever the person set for installations of their own.
pub(crate) fn install_into(folder: &Path) -> Command {
    let mut pip = Command::new("python3");
    // No module of the folder that the person stands in is taken for pip or one of its own.
    pip.args(["-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target"]);
    pip.arg(folder).env_remove("PYTHONPATH");
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_foreign) {
            pip.env_remove(name);
        }
    }
    // A configuration file can say these too.
    pip.env("PIP_REQUIRE_VIRTUALENV", "0").env("PIP_USER", "0");
    pip
}

/// Whether a variable is pip's and about something else than the way to packages.
fn is_foreign(variable: &str) -> bool {
    variable.starts_with("PIP_") && !WAYS.contains(&variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_packages_is_the_persons() {
        for name in ["PIP_INDEX_URL", "PIP_PROXY", "PIP_CERT", "HTTPS_PROXY"] {
            assert!(!is_foreign(name), "{name}");
        }
        for name in ["PIP_REQUIRE_VIRTUALENV", "PIP_USER", "PIP_TARGET", "PIP_DRY_RUN", "PIP_CONSTRAINT"] {
            assert!(is_foreign(name), "{name}");
        }
    }

    #[test]
    fn an_installation_needs_no_environment_of_its_own() {
        let pip = install_into(Path::new("/x"));
        for name in ["PIP_REQUIRE_VIRTUALENV", "PIP_USER"] {
            assert!(pip.get_envs().any(|(key, value)| key == name && value == Some("0".as_ref())), "{name}");
        }
    }
}
