//! Packages of PyPI, pinned by digests that this program carries, installed once into the cache.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::{cache, process};

/// What an installation was made by, for the name of its cache entry: packages come in the form of one interpreter.
const DESCRIPTION: &str = "import sys; print(sys.version, sys.platform)";

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
            let mut pip = Command::new("python3");
            // No module of the folder that the person stands in is taken for pip or one of its own.
            pip.args(["-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
            pip.args(["--no-deps", "--no-compile"]);
            // The digest of every package is checked, and no package's own code is run.
            pip.args(["--require-hashes", "--only-binary", ":all:", "--target"]).arg(folder);
            pip.arg("--requirement").arg(&pinned).env_remove("PIP_USER").env_remove("PYTHONPATH");
            process::run_tool(&mut pip, "Python 3.11 or newer with pip is needed, and a way to PyPI's packages")
        });
        folder.with_context(|| format!("what builds {} could not be installed", self.name))
    }
}
