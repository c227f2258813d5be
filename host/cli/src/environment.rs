//! The environment of the process: variables, defaults and the files that a user names. No other file reads any of
//! them.

use crate::arguments::GlobalOptions;
use anyhow::Context as _;
use portcullis_build::project_file;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The project's policy, relative to the working directory.
const PROJECT_POLICY: &str = "./portcullis.toml";

/// Where policies are looked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PolicyPlaces {
    /// The file that the user named. It is the user's own, and it must exist.
    Named(PathBuf),
    /// The default paths. If no file exists, everything is denied.
    Usual {
        /// The user's own policy. `None` if the user has no home directory.
        user: Option<PathBuf>,
        /// The policy in the working directory.
        project: PathBuf,
    },
}

/// The resolved paths.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) plugins: PathBuf,
    /// Whether `--plugins` was given.
    pub(crate) plugins_named: bool,
    pub(crate) policy: PolicyPlaces,
    state: Option<PathBuf>,
    /// Options with which a command in any shell and directory uses the same paths.
    pub(crate) place_options: Vec<String>,
}

/// What the environment lets a terminal do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capabilities {
    /// Whether colour is allowed.
    pub(crate) colour: bool,
    /// Whether the cursor can move, to overwrite a line.
    pub(crate) cursor: bool,
}

impl Environment {
    /// Resolves the options with variables and defaults.
    pub(crate) fn resolve(options: GlobalOptions) -> Self {
        let plugins_named = options.plugins.is_some();
        let plugins = options.plugins.or_else(|| path("PORTCULLIS_PLUGINS"));
        let policy = options.policy.or_else(|| path("PORTCULLIS_POLICY"));
        let state = options.state.or_else(|| path("PORTCULLIS_STATE"));
        let places = [("--state", &state), ("--plugins", &plugins), ("--policy", &policy)];
        let place_options = places.into_iter().filter_map(|(option, path)| place_option(option, path.as_deref()?));
        let place_options = place_options.collect();
        let named = policy.map(PolicyPlaces::Named);
        Self {
            plugins: plugins.unwrap_or_else(|| PathBuf::from("plugins")),
            plugins_named,
            policy: named.unwrap_or_else(usual_policies),
            state: state.or_else(usual_state),
            place_options,
        }
    }

    /// Returns the state directory.
    ///
    /// # Errors
    /// No directory was given, and the user has no home directory.
    pub(crate) fn state(&self) -> anyhow::Result<&Path> {
        self.state.as_deref().context("there is no HOME for the state directory: set one with --state DIR")
    }
}

fn usual_state() -> Option<PathBuf> {
    of_user("XDG_DATA_HOME", ".local/share")
}

fn usual_policies() -> PolicyPlaces {
    let user = of_user("XDG_CONFIG_HOME", ".config").map(|directory| directory.join("policy.toml"));
    PolicyPlaces::Usual { user, project: PathBuf::from(PROJECT_POLICY) }
}

/// Returns the program's directory in a user directory, which is given by a variable or by its usual place in the home
/// directory. The XDG base directory specification requires relative paths to be ignored.
fn of_user(name: &str, usual: &str) -> Option<PathBuf> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let home = || path("HOME").filter(absolute).map(|home| home.join(usual));
    path(name).filter(absolute).or_else(home).map(|directory| directory.join("portcullis"))
}

/// Returns an option with an absolute path, quoted for a shell. None if the path is not UTF-8.
fn place_option(option: &str, path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    Some(format!("{option} {}", shell_word(path.to_str()?)))
}

/// Quotes a text as one word of a POSIX shell.
fn shell_word(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(&byte);
    if text.bytes().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Returns the path in a variable. An empty variable counts as unset.
fn path(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from)
}

#[expect(clippy::disallowed_methods, reason = "the command line is where variables become settings")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns what the environment lets a terminal do.
pub(crate) fn capabilities() -> Capabilities {
    let dumb = variable("TERM").is_some_and(|term| term == "dumb");
    Capabilities { colour: variable("NO_COLOR").is_none() && !dumb, cursor: !dumb }
}

/// Returns the program that shows a notification on the desktop. `None` if there is no desktop.
#[expect(clippy::disallowed_methods, reason = "the person who watches is at this desktop")]
pub(crate) fn desktop_notifier() -> Option<tokio::process::Command> {
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(|name| variable(name).is_some());
    has_desktop.then(|| tokio::process::Command::new("notify-send"))
}

/// Opens a regular file that the user named. Does not block.
///
/// # Errors
/// It is not a regular file, or the system refuses.
pub(crate) fn open_named(path: &Path) -> io::Result<File> {
    project_file::open(path)
}

/// Opens the controlling terminal to read from it.
///
/// # Errors
/// There is none.
#[expect(clippy::disallowed_methods, reason = "a person answers at the controlling terminal, wherever stdin points")]
pub(crate) fn open_terminal() -> io::Result<File> {
    File::options().read(true).custom_flags(nonblocking()).open("/dev/tty")
}

fn nonblocking() -> i32 {
    // The flags of the system are an int, which rustix keeps as unsigned bits.
    rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_one_word_of_a_shell() {
        for (path, word) in [
            ("/var/state-1", "/var/state-1"),
            ("/my state", "'/my state'"),
            ("/a'b", r"'/a'\''b'"),
            ("/$(id);`id`", "'/$(id);`id`'"),
        ] {
            assert_eq!(place_option("--state", Path::new(path)), Some(format!("--state {word}")));
        }
    }
}
