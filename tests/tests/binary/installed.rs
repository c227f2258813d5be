//! The program as it is installed: a prefix with the program and its plugins, an empty home directory, and a project.

use portcullis_tests::{Ran, Site, program, shipped_plugin};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::binary::console::Session;
use crate::binary::desk::finish;

/// The plugins that come with the program.
pub(crate) const SHIPPED: [&str; 8] = ["agent", "files", "memory", "openapi", "script", "shell", "todo", "web"];

/// An installed program, a home directory and a project in it.
pub(crate) struct Installed {
    site: Site,
}

impl Installed {
    /// Installs the program. Its state directory has the compiled plugins, as after one start.
    pub(crate) fn new() -> Self {
        let site = Site::new();
        fs::remove_file(site.plugins().join("good.wasm")).unwrap();
        for name in SHIPPED {
            site.plugin(name, &shipped_plugin(name));
        }
        site.warm();
        let installed = Self { site };
        let shipped = installed.site.directory("prefix/share/portcullis");
        fs::rename(installed.site.plugins(), shipped.join("plugins")).unwrap();
        installed.site.directory("prefix/bin");
        // A link would lead back to the build directory, because the program looks next to itself.
        if fs::hard_link(program(), installed.program()).is_err() {
            fs::copy(program(), installed.program()).unwrap();
        }
        installed.site.directory("home/app/src");
        fs::write(installed.project("src/main.rs"), "fn main() {}\n").unwrap();
        fs::write(installed.project(".env"), "TOKEN=canary\n").unwrap();
        installed.site.directory("home/.local/share");
        fs::rename(installed.site.state(), installed.home(".local/share/portcullis")).unwrap();
        installed
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.site.path("prefix/bin/portcullis")
    }

    /// Returns a path in the home directory.
    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.site.path("home").canonicalize().unwrap().join(path)
    }

    /// Returns a path in the project.
    pub(crate) fn project(&self, path: &str) -> PathBuf {
        self.home("app").join(path)
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

    /// Returns the command in a directory below the home directory, with an otherwise empty environment.
    pub(crate) fn command(&self, directory: &str) -> Command {
        let mut command = Command::new(self.program());
        command.current_dir(self.home(directory)).env_clear().env("HOME", self.home("")).stdin(Stdio::null());
        command
    }

    /// Runs the program in the project.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_in("app", arguments)
    }

    pub(crate) fn run_in(&self, directory: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(directory);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().unwrap())
    }

    /// Starts the program at a terminal, in the project.
    pub(crate) fn session(&self, arguments: &str) -> Session {
        let line = format!("{} {arguments}", self.program().display());
        Session::shell_in(&line, |command| {
            command.current_dir(self.project("")).env("HOME", self.home(""));
        })
    }

    /// Returns the policy of the project.
    pub(crate) fn policy(&self) -> PathBuf {
        let projects = self.home(".config/portcullis/projects");
        let mut files = fs::read_dir(&projects).unwrap().map(|entry| entry.unwrap().path());
        let policy = files.next().unwrap();
        assert_eq!(files.next(), None);
        policy
    }

    /// Returns every file below the home directory with its bytes and its mode, except for the state directory.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>, u32)> {
        let mut files = Vec::new();
        list(&self.home(""), &self.home(".local"), &mut files);
        files.sort();
        files
    }
}

fn list(directory: &Path, skipped: &Path, files: &mut Vec<(PathBuf, Vec<u8>, u32)>) {
    use std::os::unix::fs::PermissionsExt;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mode = metadata.permissions().mode();
        if path == skipped {
            continue;
        }
        if metadata.is_symlink() {
            files.push((path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes(), 0));
        } else if metadata.is_dir() {
            files.push((path.clone(), Vec::new(), mode));
            list(&path, skipped, files);
        } else {
            files.push((path.clone(), fs::read(&path).unwrap(), mode));
        }
    }
}
