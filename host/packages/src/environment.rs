//! The environment of npm, pip, Node.js and Python while a package is installed. They are programs of the user and keep
//! the user's settings of registries, proxies and certificates. Only this file starts processes and reads the
//! environment.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

/// The variables of pip that configure how it reaches packages. Its other variables are removed, because they are about
/// the user's own installations, for example their target folder.
const PIP_VARIABLES: [&str; 15] = [
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_KEYRING_PROVIDER",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_RETRIES",
    "PIP_TIMEOUT",
    "PIP_TRUSTED_HOST",
    "PIP_USE_DEPRECATED",
    "PIP_USE_FEATURE",
];

/// The environment of this process, with changes.
#[derive(Clone, Debug, Default)]
pub struct ToolEnvironment {
    changes: Vec<(OsString, OsString)>,
}

impl ToolEnvironment {
    /// Sets a variable for the tools, for example the address of a registry.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.changes.push((name.into(), value.into()));
        self
    }

    /// Returns a command of a program on the `PATH`, without input.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        #[expect(clippy::disallowed_methods, reason = "npm and pip are the user's own programs, and run no package")]
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        for name in unwanted_variables() {
            command.env_remove(name);
        }
        command.envs(self.changes.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Returns a variable as the tools see it.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        #[expect(clippy::disallowed_methods, reason = "what the user's own Node.js would read")]
        let inherited = || std::env::var_os(name);
        // The last change of a variable counts, as in `Command::envs`.
        let changed = self.changes.iter().rev().find(|(changed, _)| changed == name);
        changed.map(|(_, value)| value.clone()).or_else(inherited)
    }
}

/// Returns the variables of this process that would redirect an installation.
fn unwanted_variables() -> Vec<OsString> {
    let unwanted = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("PIP_") && !PIP_VARIABLES.contains(&&*name)
    };
    std::env::vars_os().map(|(name, _)| name).filter(unwanted).collect()
}
