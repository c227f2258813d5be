//! Clients that run on Python, in two environments, because clients of the legacy protocol era need an old version of a
//! package that the others need in a new version. The types of the model providers are in a third environment, and
//! servers in a fourth.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{cache, process};

/// The environments: the name of each requirements file, and the variable that passes the interpreter to the tests.
const ENVIRONMENTS: [(&str, &str); 4] = [
    ("modern", "PORTCULLIS_TEST_PYTHON_MODERN"),
    ("legacy", "PORTCULLIS_TEST_PYTHON_LEGACY"),
    ("providers", "PORTCULLIS_TEST_PYTHON_PROVIDERS"),
    ("servers", "PORTCULLIS_TEST_PYTHON_SERVERS"),
];
/// The path of the interpreter in an environment.
const INTERPRETER: &str = "bin/python";
/// Prints the Python that makes an environment. It is part of the cache key, because an environment links to its
/// Python.
const DESCRIPTION: &str = "import sys; print(sys.version, sys.base_prefix)";

/// The environments, each with the variable that names it.
pub(super) struct Python {
    interpreters: Vec<(&'static str, PathBuf)>,
}

impl Python {
    /// Returns the environments that the files in `locks` describe, from the cache or through pip.
    pub(super) fn prepare(locks: &Path) -> Result<Python> {
        let python = process::capture(Command::new("python3").args(["-c", DESCRIPTION]))
            .context("some clients run on Python: install Python 3.11 or newer")?;
        let interpreter = |(name, variable): (&str, &'static str)| {
            Ok((variable, environment(&locks.join(name).with_extension("txt"), name, &python)?.join(INTERPRETER)))
        };
        Ok(Python { interpreters: ENVIRONMENTS.into_iter().map(interpreter).collect::<Result<_>>()? })
    }

    /// Returns the variables for the interpreters.
    pub(super) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        self.interpreters.clone()
    }
}

/// Returns the environment for one requirements file.
fn environment(requirements: &Path, name: &str, python: &str) -> Result<PathBuf> {
    let pinned = fs::read(requirements).with_context(|| format!("cannot read {}", requirements.display()))?;
    let key = format!("python-{name}-{}", &cache::digest(&[&pinned, python.as_bytes()].concat())[..16]);
    cache::entry(&cache::folder("clients")?, &key, |folder| {
        eprintln!("clients: installing the {name} Python packages");
        // A cache entry is moved when it is complete. A virtual environment's interpreter survives the move, but
        // installed scripts would not. pip is the only script that an empty environment has, so leave it out.
        process::run_aside(Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(folder))?;
        install(folder, requirements)
    })
}

/// Installs what the file pins. pip checks the digest of every package, and runs no package's code.
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
