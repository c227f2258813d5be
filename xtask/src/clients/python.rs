//! Clients that run on Python: two environments, since the clients of the handshake era need the old version of what
//! the others need the new version of. The types of providers of models are in a third, apart from both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{cache, process};

/// The environments: what pins each, and the variable that names its interpreter to the tests.
const ENVIRONMENTS: [(&str, &str); 3] = [
    ("modern", "PORTCULLIS_TEST_PYTHON_MODERN"),
    ("legacy", "PORTCULLIS_TEST_PYTHON_LEGACY"),
    ("providers", "PORTCULLIS_TEST_PYTHON_PROVIDERS"),
];
/// Where the interpreter is in an environment.
const INTERPRETER: &str = "bin/python";
/// What an environment was made by, for the name of its cache entry: it holds links to it.
const DESCRIPTION: &str = "import sys; print(sys.version, sys.base_prefix)";

/// The environments, each with the variable that names it.
pub(super) struct Python {
    interpreters: Vec<(&'static str, PathBuf)>,
}

impl Python {
    /// The environments that the files in `locks` describe, from the cache or through pip.
    pub(super) fn prepare(locks: &Path) -> Result<Python> {
        let python = process::capture(Command::new("python3").args(["-c", DESCRIPTION]))
            .context("some clients run on Python: install Python 3.11 or newer")?;
        let interpreter = |(name, variable): (&str, &'static str)| {
            Ok((variable, environment(&locks.join(name).with_extension("txt"), name, &python)?.join(INTERPRETER)))
        };
        Ok(Python { interpreters: ENVIRONMENTS.into_iter().map(interpreter).collect::<Result<_>>()? })
    }

    /// Where the interpreters are.
    pub(super) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        self.interpreters.clone()
    }
}

/// The environment for one file of requirements.
fn environment(requirements: &Path, name: &str, python: &str) -> Result<PathBuf> {
    let pinned = fs::read(requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
    let key = format!("python-{name}-{}", &cache::digest(&[&pinned, python.as_bytes()].concat())[..16]);
    cache::entry(&cache::folder("clients")?, &key, |folder| {
        eprintln!("clients: installing the {name} packages of Python");
        // An entry is moved when it is complete. Its interpreter finds itself wherever it is; programs would not, and
        // pip is the only one that an empty environment has.
        process::run_aside(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(folder))?;
        install(folder, requirements)
    })
}

/// Installs what the file pins. The digest of every package is checked, and no package's own code is run.
fn install(environment: &Path, requirements: &Path) -> Result<()> {
    let interpreter = environment.join(INTERPRETER);
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--python"]).arg(&interpreter).args(["install", "--quiet", "--disable-pip-version-check"]);
    pip.args(["--require-hashes", "--only-binary", ":all:", "--requirement"]).arg(requirements);
    process::run_aside(&mut pip).with_context(|| {
        format!(
            "the packages in {} come through pip, for CPython 3.11 to 3.14 on Linux and x86-64: check that `python3 -m \
             pip --version` says 22.3 or more, and the network",
            requirements.display()
        )
    })?;
    ensure!(interpreter.is_file(), "python3 made no {INTERPRETER} in {}", environment.display());
    Ok(())
}
