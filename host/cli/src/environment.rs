//! The environment of the process: variables, defaults and the files that a user names. No other file reads any of
//! them.

use crate::arguments::{ColourChoice, GlobalOptions};
use crate::command_error::WithCode;
use crate::failure_code::FailureCode;
use crate::project::{self, FoundProject};
use crate::shared_ledger::StateOptions;
use anyhow::{Context as _, ensure};
use portcullis::state::StatePlace;
use portcullis_build::project_file;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The policy that comes with a project.
const PROJECT_POLICY: &str = "portcullis.toml";

/// The plugin directory that comes with a project.
const PROJECT_PLUGINS: &str = "plugins";

/// The working directory, as it is shown.
const WORKING_DIRECTORY: &str = ".";

/// Where plugins are looked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PluginPlaces {
    /// The directory that the user named. It must exist.
    Named(PathBuf),
    /// The default directories. The user's plugins win over those of the working directory.
    Usual {
        /// The user's own plugins. `None` if the user has no home directory.
        user: Option<PathBuf>,
        /// The plugins in the working directory.
        project: PathBuf,
    },
}

impl PluginPlaces {
    /// Returns the path of a plugin's file: in the first directory that has it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        match self {
            Self::Named(directory) => directory.join(name),
            Self::Usual { user, project } => {
                let of_user = user.iter().map(|user| user.join(name)).find(|file| file.symlink_metadata().is_ok());
                of_user.unwrap_or_else(|| project.join(name))
            }
        }
    }
}

/// Where policies are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PolicyPlaces {
    /// The file that the user named. It is the user's own, and it must exist.
    Named(PathBuf),
    /// The default paths. If no file exists, everything is denied.
    Usual {
        /// The user's own policy. `None` if the user has no home directory.
        user: Option<UserPolicyFile>,
        /// The policy in the working directory.
        project: PathBuf,
    },
}

/// The user's own policy at a default path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UserPolicyFile {
    pub(crate) path: PathBuf,
    /// The resolved directory that it is for. `None` if it is the policy for all other directories.
    pub(crate) project: Option<PathBuf>,
}

/// The user's own directories. Each is `None` if the user has no home directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserDirectories {
    pub(crate) home: Option<PathBuf>,
    /// The program's directory in the user's configuration directory.
    pub(crate) config: Option<PathBuf>,
    /// The user's configuration directory.
    pub(crate) config_home: Option<PathBuf>,
    /// The program's directory in the user's data directory.
    pub(crate) data: Option<PathBuf>,
}

/// The resolved paths.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) user: UserDirectories,
    pub(crate) plugins: PluginPlaces,
    /// Whether `--plugins` was given.
    pub(crate) plugins_named: bool,
    pub(crate) policy: PolicyPlaces,
    /// Whether `--policy` or its variable was given.
    pub(crate) policy_named: bool,
    /// The directory whose policy and plugins are used.
    pub(crate) project: PathBuf,
    /// The absolute paths of the places that are not the defaults, each with its option.
    pub(crate) named_places: Vec<(&'static str, PathBuf)>,
    state: Option<PathBuf>,
    pub(crate) state_options: StateOptions,
    /// Options with which a command in any shell and directory uses the same paths.
    pub(crate) place_options: Vec<String>,
}

/// Which streams are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    OnTerminals,
    Always,
    Never,
}

/// What the environment lets a terminal do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capabilities {
    /// Which streams are coloured.
    pub(crate) colour: Colour,
    /// Whether the cursor can move, to overwrite a line.
    pub(crate) cursor: bool,
}

impl Environment {
    /// Resolves the options with variables and defaults.
    pub(crate) fn resolve(options: GlobalOptions) -> Self {
        let plugins_named = options.plugins.is_some();
        let plugins = options.plugins.or_else(|| path("PORTCULLIS_PLUGINS"));
        let policy = options.policy.or_else(|| path("PORTCULLIS_POLICY"));
        let of_variable = || path("PORTCULLIS_STATE").into_iter().collect();
        let states = if options.state.is_empty() { of_variable() } else { options.state };
        let state_options = StateOptions::of(states, options.ledger_key, options.outputs);
        let state = state_options.directories.first().cloned();
        let places = [("--state", &state), ("--plugins", &plugins)];
        let absolute = |path: &PathBuf| std::path::absolute(path).ok();
        let named = places.into_iter().filter_map(|(option, path)| Some((option, absolute(path.as_ref()?)?)));
        let named_places: Vec<_> = named.collect();
        let places = [("--project", &options.project), places[0], places[1], ("--policy", &policy)];
        let place_options = places.into_iter().filter_map(|(option, path)| place_option(option, path.as_deref()?));
        let shared = state_options.shared().map(|(option, value)| format!("{option} {}", shell_word(&value)));
        let place_options = place_options.chain(shared).collect();
        let user = UserDirectories::of_environment();
        let project = options.project.unwrap_or_else(|| PathBuf::from(WORKING_DIRECTORY));
        let policy_named = policy.is_some();
        let policy = policy.map_or_else(|| usual_policies(&user, &project), PolicyPlaces::Named);
        let usual_plugins = || PluginPlaces::Usual {
            user: user.data.as_ref().map(|data| data.join("plugins")),
            project: usual_plugins(&policy, &project),
        };
        Self {
            plugins: plugins.map_or_else(usual_plugins, PluginPlaces::Named),
            plugins_named,
            policy_named,
            named_places,
            policy,
            state: state.or_else(|| user.data.clone()),
            state_options,
            user,
            project,
            place_options,
        }
    }

    /// Returns the environment of a project, as `--project` sets it, with the policy that is there now.
    pub(crate) fn for_project(&self, directory: &Path) -> Self {
        let policy = usual_policies(&self.user, directory);
        let plugins = match &self.plugins {
            PluginPlaces::Named(path) => PluginPlaces::Named(path.clone()),
            PluginPlaces::Usual { user, .. } => {
                PluginPlaces::Usual { user: user.clone(), project: usual_plugins(&policy, directory) }
            }
        };
        Self {
            user: self.user.clone(),
            plugins,
            plugins_named: self.plugins_named,
            policy,
            policy_named: false,
            project: directory.to_owned(),
            named_places: self.named_places.clone(),
            state: self.state.clone(),
            state_options: self.state_options.clone(),
            place_options: self.place_options.clone(),
        }
    }

    /// Returns what `~` and `$HOME` stand for in a policy.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.user.home.as_deref()
    }

    /// Returns the state directory.
    ///
    /// # Errors
    /// No directory was given, and the user has no home directory.
    pub(crate) fn state(&self) -> anyhow::Result<&Path> {
        ensure!(self.state_options.directories.len() < 2, "--state names two directories: give one");
        let state = self.state.as_deref().context("there is no HOME for the state directory: set one with --state DIR");
        state.code(FailureCode::NoState)
    }

    /// Returns the state directory and the database of a shared ledger, if `--state` names one.
    ///
    /// # Errors
    /// There is no state directory, or the address of the database cannot be read.
    pub(crate) fn state_place(&self) -> anyhow::Result<StatePlace> {
        self.state_options.place(self.state()?, variable)
    }
}

impl PolicyPlaces {
    /// Returns the user's own file, if the user can have one. It need not exist.
    pub(crate) fn of_user(&self) -> Option<&Path> {
        match self {
            Self::Named(path) => Some(path),
            Self::Usual { user, .. } => user.as_ref().map(|user| &*user.path),
        }
    }

    /// Returns the files, the user's first. They need not exist.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Named(path) => vec![path.clone()],
            Self::Usual { user, project } => user.iter().map(|user| &user.path).chain([project]).cloned().collect(),
        }
    }
}

impl UserDirectories {
    /// Reads the variables. The XDG base directory specification requires relative paths to be ignored.
    fn of_environment() -> Self {
        let absolute = |name: &str| path(name).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let of_user = |name: &str, usual: &str| absolute(name).or_else(|| home.as_ref().map(|home| home.join(usual)));
        let config_home = of_user("XDG_CONFIG_HOME", ".config");
        let own = |directory: &PathBuf| directory.join("portcullis");
        let data = of_user("XDG_DATA_HOME", ".local/share");
        Self { config: config_home.as_ref().map(own), data: data.as_ref().map(own), config_home, home }
    }
}

/// Returns the default policies: the one for a project or for the nearest directory above it that has one, or the one
/// for all other directories.
fn usual_policies(user: &UserDirectories, directory: &Path) -> PolicyPlaces {
    let own = shown(directory, PROJECT_POLICY);
    let Some(config) = &user.config else { return PolicyPlaces::Usual { user: None, project: own } };
    let user = match project::of_directory(config, directory) {
        Ok(Some(FoundProject { policy, directory: root })) => {
            // The nearer file counts. Below the directory that has the policy, that directory's file narrows too.
            let own = if own.symlink_metadata().is_ok() { own } else { below(&root, directory, own) };
            let user = Some(UserPolicyFile { path: policy, project: Some(root) });
            return PolicyPlaces::Usual { user, project: own };
        }
        Ok(None) => UserPolicyFile { path: config.join("policy.toml"), project: None },
        // The directory cannot be resolved, so it is not known which policy applies. Opening this file fails.
        Err(_) => return PolicyPlaces::Named(own),
    };
    PolicyPlaces::Usual { user: Some(user), project: own }
}

/// Returns the policy that comes with the directory that has the user's policy, or `own` if that is the directory
/// itself.
fn below(root: &Path, directory: &Path, own: PathBuf) -> PathBuf {
    if project::resolved(directory).is_ok_and(|resolved| resolved == root) { own } else { shown(root, PROJECT_POLICY) }
}

/// Returns the plugin directory that comes with a project. Below the directory that has the policy, it is that of the
/// latter, so that the same plugins are loaded everywhere in the project, and the policy's masks fit.
fn usual_plugins(policy: &PolicyPlaces, directory: &Path) -> PathBuf {
    match policy {
        PolicyPlaces::Usual { user: Some(UserPolicyFile { project: Some(root), .. }), .. }
            if project::resolved(directory).is_ok_and(|resolved| resolved != *root) =>
        {
            shown(root, PROJECT_PLUGINS)
        }
        PolicyPlaces::Usual { .. } | PolicyPlaces::Named(_) => shown(directory, PROJECT_PLUGINS),
    }
}

/// Returns the path of a project's file, as it is shown.
fn shown(project: &Path, name: &str) -> PathBuf {
    if project == Path::new(WORKING_DIRECTORY) { Path::new("./").join(name) } else { project.join(name) }
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

/// Returns a variable. An empty one counts as unset.
#[expect(clippy::disallowed_methods, reason = "the command line is where variables become settings")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns what the options and the environment let a terminal do.
pub(crate) fn capabilities(choice: ColourChoice) -> Capabilities {
    let dumb = variable("TERM").is_some_and(|term| term == "dumb");
    let colour = match choice {
        ColourChoice::Always => Colour::Always,
        ColourChoice::Never => Colour::Never,
        ColourChoice::Auto => usual_colour(dumb),
    };
    Capabilities { colour, cursor: !dumb }
}

/// Returns which streams are coloured without `--color`: as no-color.org and bixense.com/clicolors say.
fn usual_colour(dumb: bool) -> Colour {
    let is_on = |name| variable(name).map(|value| value != "0");
    match (variable("NO_COLOR"), is_on("CLICOLOR_FORCE"), is_on("CLICOLOR")) {
        (Some(_), _, _) => Colour::Never,
        (None, Some(true), _) => Colour::Always,
        (None, _, Some(false)) => Colour::Never,
        (None, _, _) if dumb => Colour::Never,
        (None, _, _) => Colour::OnTerminals,
    }
}

/// Returns whether the command line asks for JSON, if it cannot be parsed otherwise.
pub(crate) fn asks_for_json() -> bool {
    std::env::args_os().skip(1).take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// Creates a file for the user, and replaces what exists at the path.
///
/// # Errors
/// The system refuses.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    project_file::create(path)
}

/// Returns the program that shows a notification on the desktop. `None` if there is no desktop.
#[expect(clippy::disallowed_methods, reason = "the person who watches is at this desktop")]
pub(crate) fn desktop_notifier() -> Option<tokio::process::Command> {
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(|name| variable(name).is_some());
    has_desktop.then(|| tokio::process::Command::new("notify-send"))
}

/// Finds a program on the `PATH`, as a shell does.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let directories = variable("PATH").unwrap_or_default();
    let places = std::env::split_paths(&directories).filter(|directory| directory.is_absolute());
    let is_program =
        |path: &PathBuf| path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    places.map(|directory| directory.join(name)).find(is_program)
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
