//! What a policy binds to a process key: a program that a guest may run, and what the program gets.
//!
//! This file must not know how a program is confined.

use std::collections::BTreeMap;

use super::describe::{list, plain};
use super::kind::{BindingKind, KindFacts, KindPermissions};
use super::limited::Limited;
use super::place::GrantPlaceKind;
use super::secret::{SecretSource, is_variable};
use super::{BindingError, ProcessLimits, read_path};
use crate::home::below_home;
use crate::name::DependencyKey;
use crate::permission::Permission;
use crate::pointer::Pointer;

/// What is true of every program.
pub(super) const FACTS: KindFacts = KindFacts {
    name: "process",
    noun: "the program",
    permissions: Some(KindPermissions {
        any_of: &[Permission::Execute],
        written: "`execute`",
        undeclared: "the tool does not declare execute",
    }),
    // With a slash, because the path of a program must be absolute.
    blank: "/PATH",
    example: |path, _| format!("{{ program = \"{path}\" }}"),
};

/// Maximum bytes of the name of an environment variable: longer than those that programs document.
const ENVIRONMENT_NAME_BYTES: usize = 64;
/// Maximum bytes of the spec of a package: names on npm have at most 214.
const PACKAGE_BYTES: usize = 320;
/// Maximum bytes of the value of an environment variable, as for a setting. A longer one belongs in a file.
const ENVIRONMENT_VALUE_BYTES: usize = 4096;

/// A program that a guest may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessBinding {
    /// The path of the program: absolute, or below the home directory.
    pub program: String,
    /// The keys of the directories that the program gets. Each is a directory binding of the same plugin.
    pub directories: Vec<DependencyKey>,
    /// What the program can reach over the network.
    pub network: ProcessNetwork,
    /// The environment variables that the policy sets. They are part of the description, so they must not hold secrets.
    pub environment: BTreeMap<String, String>,
    /// The confinement without which the program does not run. Without one, the host uses the strongest that the system
    /// offers.
    pub require: Option<ConfinementTier>,
    /// Whether a run may ask an approver for more than this binding grants.
    pub escalate: Escalation,
    /// The limits.
    pub limits: ProcessLimits,
    /// Set if the host itself runs the program, as an MCP server. A plugin cannot open such a program.
    pub server: Option<ServerProgram>,
}

/// What only the program of an MCP server has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerProgram {
    /// The package that the program comes from. The path of the program is empty then.
    pub package: Option<ServerPackage>,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The environment variables whose values are secrets.
    pub secrets: BTreeMap<String, SecretSource>,
}

/// A package that the program of an MCP server comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPackage {
    /// The registry, the name and the exact version: `npm:NAME@VERSION` or `pypi:NAME==VERSION`.
    pub spec: String,
    /// The program of the package, if it has several.
    pub program: Option<String>,
}

/// What a program can reach over the network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ProcessNetwork {
    /// Nothing.
    #[default]
    None,
    /// What the HTTP client of this key reaches. It is an HTTP binding of the same plugin.
    Http(DependencyKey),
}

impl ProcessNetwork {
    /// The word that policies use for [`ProcessNetwork::None`].
    pub(crate) const NONE: &'static str = "none";
}

/// A confinement that a policy can require.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfinementTier {
    /// Namespaces of the kernel: the program has its own file system, processes and network.
    Namespaces,
}

impl ConfinementTier {
    /// Every tier that a policy can require.
    pub const ALL: [Self; 1] = [Self::Namespaces];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
        }
    }
}

/// Whether a run may ask an approver for more than its binding grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Escalation {
    /// It gets what the binding grants, and nothing else.
    #[default]
    Never,
    /// A run that needs more may ask an approver for it.
    Ask,
}

impl Escalation {
    /// Both values, in display order.
    pub const ALL: [Self; 2] = [Self::Never, Self::Ask];

    /// Returns the word that policies use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Ask => "ask",
        }
    }
}

impl ProcessBinding {
    /// Returns the package that the program comes from, if it is the program of an MCP server from a package.
    pub fn server_package(&self) -> Option<&ServerPackage> {
        self.server.as_ref()?.package.as_ref()
    }

    /// Describes the binding, with the directories and the network in these words.
    pub fn describe_with(&self, directories: Option<&str>, network: Option<&str>) -> Vec<String> {
        let with = directories.map(|directories| format!(" with {directories}")).unwrap_or_default();
        let arguments = self.server.iter().flat_map(|server| &server.arguments);
        let package = self.server_package();
        // A package has no path before it is installed. Its exact version says which program runs.
        let program = package.map_or(&self.program, |package| &package.spec);
        let chosen = package.and_then(|package| package.program.as_ref());
        let words = std::iter::once(program).chain(chosen).chain(arguments);
        let words: Vec<String> = words.map(|word| plain(word)).collect();
        let mut parts = vec![match self.server {
            Some(_) => format!("runs {} until the host ends{with}", words.join(" ")),
            None => format!("may run {}{with}", words.join(" ")),
        }];
        parts.push(network.unwrap_or("no network").to_owned());
        // A server has no time limit.
        parts.extend(self.limits.default_time().filter(|_| self.server.is_none()));
        parts.extend(self.limits.changed());
        if !self.environment.is_empty() {
            // With the values, because an approval is bound to this description, and a value can change what runs.
            let entry = |(name, value): (&String, &String)| format!("{name}={}", plain(value));
            parts.push(format!("environment {}", self.environment.iter().map(entry).collect::<Vec<_>>().join(" ")));
        }
        let secrets = self.server.iter().flat_map(|server| &server.secrets);
        parts.extend(secrets.map(|(name, from)| format!("the secret {name} from {}", from.describe())));
        parts.extend(self.require.map(|tier| format!("needs {}", tier.as_str())));
        parts.extend((self.escalate == Escalation::Ask).then(|| "may ask for more".to_owned()));
        parts
    }
}

impl BindingKind for ProcessBinding {
    fn describe(&self) -> Vec<String> {
        let directories = (!self.directories.is_empty()).then(|| list(&self.directories));
        let network = match &self.network {
            ProcessNetwork::None => None,
            ProcessNetwork::Http(key) => Some(format!("network through {key}")),
        };
        self.describe_with(directories.as_deref(), network.as_deref())
    }

    fn narrow(&self) -> Option<&Pointer> {
        None
    }

    fn places(&self) -> Vec<(GrantPlaceKind, &str)> {
        let secrets = self.server.iter().flat_map(|server| server.secrets.values());
        // The program of a package is in the host's own folder of packages.
        let program = Some((GrantPlaceKind::ConfinedProgram, self.program.as_str()));
        program
            .filter(|(_, program)| !program.is_empty())
            .into_iter()
            .chain(secrets.filter_map(SecretSource::place))
            .collect()
    }
}

/// Parses the path of a program. A relative path is refused, because it would depend on where the host was started.
pub(crate) fn read_program(text: &str) -> Result<String, BindingError> {
    let path = read_path(text)?;
    let rooted = path.starts_with('/') || below_home(&path).is_some_and(|rest| !rest.is_empty());
    // A path that ends with a slash is a directory.
    if rooted && !path.ends_with('/') { Ok(path) } else { Err(BindingError::Program) }
}

/// Parses the spec of a package. The version must be exact, because a newer one is another program.
pub(crate) fn read_package(text: &str) -> Result<String, BindingError> {
    let parts = match text.split_once(':') {
        // From the right, because a scoped name begins with `@`.
        Some(("npm", rest)) => rest.rsplit_once('@'),
        Some(("pypi", rest)) => rest.split_once("=="),
        Some(_) | None => None,
    };
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@/._+-!".contains(&byte));
    // This refuses tags and ranges such as `latest` and `^1.0.0`. `host/packages` checks the whole version.
    let is_version = |version: &str| version.starts_with(|first: char| first.is_ascii_digit()) && is_word(version);
    let is_sound = |(name, version): (&str, &str)| !name.is_empty() && is_word(name) && is_version(version);
    if text.len() <= PACKAGE_BYTES && parts.is_some_and(is_sound) {
        Ok(text.to_owned())
    } else {
        Err(BindingError::Package)
    }
}

/// Parses the name of an environment variable.
pub(crate) fn read_environment_name(text: &str) -> Result<String, BindingError> {
    let sound = is_variable(text) && text.len() <= ENVIRONMENT_NAME_BYTES;
    if sound { Ok(text.to_owned()) } else { Err(BindingError::EnvironmentName) }
}

/// Parses the value of an environment variable.
pub(crate) fn read_environment_value(text: &str) -> Result<String, BindingError> {
    // A NUL would end the value in the environment of the program (environ(7)).
    let sound = text.len() <= ENVIRONMENT_VALUE_BYTES && !text.contains('\0');
    if sound { Ok(text.to_owned()) } else { Err(BindingError::EnvironmentValue) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binding::PATH_BYTES;

    #[test]
    fn a_program_is_an_absolute_path_or_one_below_the_home_directory() {
        for text in ["/bin/bash", "/opt/my tools/run", "~/bin/run", "$HOME/bin/run", "/usr/../bin/sh", "/a"] {
            assert_eq!(read_program(text).as_deref(), Ok(text));
        }
        for text in ["bash", "./bash", "bin/bash", "../bash", "~", "~/", "$HOME", "~ann/bash", "${HOME}/a", "/", "/a/"]
        {
            assert_eq!(read_program(text), Err(BindingError::Program), "{text:?}");
        }
        for text in ["", "/a\0b", "/a\nb", &format!("/{}", "a".repeat(PATH_BYTES))] {
            assert_eq!(read_program(text), Err(BindingError::Path), "{text:?}");
        }
    }

    #[test]
    fn a_package_has_a_registry_and_an_exact_version() {
        for text in
            ["npm:a@1.0.0", "npm:@scope/a-b@2025.4.8", "pypi:mcp-server-git==2025.1.14", "pypi:a==1!2.0+local.1"]
        {
            assert_eq!(read_package(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "a@1.0.0",
            "npm:a",
            "npm:@1.0.0",
            "npm:a@latest",
            "npm:a@^1.0.0",
            "npm:a@1.x || 2",
            "pypi:a>=1",
            "git:a@1.0.0",
        ] {
            assert_eq!(read_package(text), Err(BindingError::Package), "{text:?}");
        }
    }

    #[test]
    fn malformed_environment_variables_are_refused() {
        for text in ["A", "_", "LANG", "lc_all", "A1", "LD_PRELOAD", &"A".repeat(ENVIRONMENT_NAME_BYTES)] {
            assert_eq!(read_environment_name(text).as_deref(), Ok(text));
        }
        for text in ["", "1A", "A-B", "A B", "A=B", "A\0", "É", &"A".repeat(ENVIRONMENT_NAME_BYTES + 1)] {
            assert_eq!(read_environment_name(text), Err(BindingError::EnvironmentName), "{text:?}");
        }
        for text in ["", "C.UTF-8", "a b\nc", &"a".repeat(ENVIRONMENT_VALUE_BYTES)] {
            assert_eq!(read_environment_value(text).as_deref(), Ok(text));
        }
        for text in ["a\0", &"a".repeat(ENVIRONMENT_VALUE_BYTES + 1)] {
            assert_eq!(read_environment_value(text), Err(BindingError::EnvironmentValue), "{text:?}");
        }
    }

    #[test]
    fn a_binding_leads_to_its_program_and_is_not_narrowed() {
        let binding = ProcessBinding {
            program: "/bin/bash".to_owned(),
            directories: vec![DependencyKey::new("workspace").unwrap()],
            network: ProcessNetwork::None,
            environment: BTreeMap::new(),
            require: None,
            escalate: Escalation::Never,
            limits: ProcessLimits::default(),
            server: None,
        };
        assert_eq!(binding.places(), [(GrantPlaceKind::ConfinedProgram, "/bin/bash")]);
        assert_eq!(binding.narrow(), None);
    }
}
