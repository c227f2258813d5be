//! A store in a temporary folder, and the errors that tests expect.

use portcullis_packages::{InstallOptions, InstalledPackage, PackageError, PackageStore, Runtime, ServerCommand};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

use crate::registry::Registry;

/// A store, and a folder for traces that an attack would leave.
pub(crate) struct Site {
    pub(crate) folder: TempDir,
    pub(crate) store: PackageStore,
}

impl Site {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let store = PackageStore::open(&folder.path().join("servers/packages")).unwrap();
        Self { folder, store }
    }

    /// Returns the path of a file that an attack would create.
    pub(crate) fn trace(&self) -> PathBuf {
        self.folder.path().join("trace")
    }

    /// Installs from a registry of the test.
    pub(crate) fn install(&self, spec: &str, registry: &Registry) -> Result<InstalledPackage, PackageError> {
        self.install_with(spec, &registry.options())
    }

    pub(crate) fn install_with(&self, spec: &str, options: &InstallOptions) -> Result<InstalledPackage, PackageError> {
        let installed = self.store.install(&spec.parse().unwrap(), options);
        assert_eq!(self.unfinished(), 0, "an installation left its work folder");
        installed
    }

    /// Counts the work folders in the store.
    pub(crate) fn unfinished(&self) -> usize {
        let entries = std::fs::read_dir(self.store.path()).unwrap();
        entries.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".unfinished")).count()
    }
}

/// Checks that a text of an error contains a part.
pub(crate) fn assert_says(error: &PackageError, part: &str) {
    assert!(error.to_string().contains(part), "{error}");
}

/// Returns the command of a package's server.
pub(crate) fn command_of(package: &InstalledPackage) -> ServerCommand {
    let runtime = Runtime::find(package.spec().kind(), &InstallOptions::default().environment).unwrap();
    package.command(&runtime, None, None).unwrap()
}

/// Starts a program with an empty environment, writes a line to it, and returns its first line.
pub(crate) fn first_line(command: &ServerCommand, arguments: &[&str], line: &str) -> String {
    let mut program = Command::new(&command.program);
    program.args(&command.arguments).args(arguments).env_clear().current_dir("/");
    let mut running = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    writeln!(input, "{line}").unwrap();
    let mut answer = String::new();
    BufReader::new(running.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    running.kill().unwrap();
    running.wait().unwrap();
    answer
}
