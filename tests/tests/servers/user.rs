//! A user with a home directory and a project, who runs the program.

use crate::servers::registry::Registry;
use portcullis_tests::{Ran, Site, program, user_cache};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A user, and the registry that npm asks.
pub(crate) struct User {
    pub(crate) site: Site,
    pub(crate) registry: Registry,
}

impl User {
    /// Makes a user with an empty policy.
    pub(crate) fn new() -> Self {
        let user = Self { site: Site::new(), registry: Registry::start() };
        user.site.directory("home/app");
        user.write("policy.toml", "# mine\n");
        user
    }

    /// Returns a path in the home directory.
    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.site.path("home").canonicalize().unwrap().join(path)
    }

    /// Writes a file in the home directory.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.home(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.home(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn policy(&self) -> String {
        self.read("policy.toml")
    }

    /// Returns the command in the project, with npm's registry on loopback.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.online();
        command.env("npm_config_registry", self.registry.url()).env("npm_config_fetch_retries", "0");
        command
    }

    /// Returns the command in the project, with npm's own registry.
    pub(crate) fn online(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(self.home("app")).env_clear().env("HOME", self.home("")).stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("XDG_CACHE_HOME", user_cache());
        command.arg("--plugins").arg(self.site.plugins()).arg("--state").arg(self.site.state());
        command.arg("--policy").arg(self.home("policy.toml"));
        for (name, value) in std::env::vars_os() {
            // The machine of the tests may reach the registry through a proxy.
            let is_proxy = name.to_string_lossy().to_ascii_lowercase().ends_with("_proxy");
            if is_proxy || name == "NODE_EXTRA_CA_CERTS" || name == "npm_config_cafile" {
                command.env(name, value);
            }
        }
        command
    }

    /// Runs the program in the project.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.command().args(arguments).output().unwrap().into()
    }

    /// Counts the installed packages.
    pub(crate) fn packages(&self) -> usize {
        let folder = self.site.state().join("servers/packages");
        fs::read_dir(folder)
            .map_or(0, |entries| entries.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count())
    }
}
