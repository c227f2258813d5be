//! A server of the policy, as `server list` shows it. Has no value of a variable.

use super::first_start::FirstStart;
use super::packages::program_of;
use portcullis::policy::{Access, Binding, PluginName, Policy, ProcessBinding, SecretSource, ServerProgram};
use portcullis_packages::InstalledPackage;
use serde::Serialize;
use serde_json::Value;

/// A server of the policy.
#[derive(Serialize)]
pub(super) struct ListedServer {
    pub(super) name: String,
    /// The program of the machine and its arguments, if it is not started from a package.
    pub(super) command: Option<Vec<String>>,
    pub(super) package: Option<ListedPackage>,
    /// The address, if it is reached over HTTP.
    pub(super) url: Option<String>,
    /// The login, if the policy logs in to it.
    pub(super) login: Option<Value>,
    pub(super) directories: Vec<ListedDirectory>,
    /// The hosts that it reaches.
    pub(super) network: Vec<String>,
    pub(super) variables: Vec<ListedVariable>,
    /// What a start has shown. `None` if it was not started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start: Option<ListedStart>,
}

/// The package of a server.
#[derive(Serialize)]
pub(super) struct ListedPackage {
    pub(super) spec: String,
    pub(super) program: Option<String>,
    pub(super) arguments: Vec<String>,
    /// The hash of its files. `None` if it is not installed here.
    pub(super) tree_sha256: Option<String>,
}

/// A directory of a server.
#[derive(Serialize)]
pub(super) struct ListedDirectory {
    pub(super) key: String,
    pub(super) path: String,
    pub(super) access: &'static str,
}

/// A variable of a server, without its value.
#[derive(Serialize)]
pub(super) struct ListedVariable {
    pub(super) name: String,
    /// `policy`, `env:NAME` or `file:PATH`.
    pub(super) source: String,
}

/// What a start has shown.
#[derive(Serialize)]
pub(super) struct ListedStart {
    pub(super) starts: bool,
    pub(super) tools: usize,
    pub(super) problems: Vec<String>,
}

impl ListedServer {
    /// Returns the view of a server.
    pub(super) fn of(policy: &Policy, name: &PluginName, installed: &[InstalledPackage]) -> Self {
        let mut view = Self {
            name: name.to_string(),
            command: None,
            package: None,
            url: None,
            login: None,
            directories: Vec::new(),
            network: Vec::new(),
            variables: Vec::new(),
            start: None,
        };
        for (key, binding) in policy.bindings(name) {
            match binding {
                Binding::Directory(directory) => view.directories.push(ListedDirectory {
                    key: key.to_string(),
                    path: directory.path.clone(),
                    access: Access::as_str(directory.access),
                }),
                Binding::Http(client) => {
                    view.network.extend(client.hosts.iter().map(ToString::to_string));
                    view.url = client.server.as_ref().map(|server| server.url.to_string());
                    let secret = client.secret.as_ref().and_then(|secret| Some((secret.slot.header()?, &secret.from)));
                    let secret = secret.filter(|_| view.url.is_some());
                    view.variables.extend(
                        secret.map(|(name, from)| ListedVariable { name: name.to_owned(), source: source(from) }),
                    );
                }
                Binding::Process(_) | Binding::Store(_) | Binding::Service(_) | Binding::Tools(_) => {}
            }
        }
        if let Some(process) = program_of(policy, name) {
            view.set_program(process, installed);
        }
        view
    }

    fn set_program(&mut self, process: &ProcessBinding, installed: &[InstalledPackage]) {
        let plain = process.environment.keys();
        self.variables.extend(plain.map(|name| ListedVariable { name: name.clone(), source: "policy".to_owned() }));
        let Some(ServerProgram { package, arguments, secrets }) = &process.server else { return };
        self.variables
            .extend(secrets.iter().map(|(name, from)| ListedVariable { name: name.clone(), source: source(from) }));
        self.variables.sort_by(|one, other| one.name.cmp(&other.name));
        match package {
            Some(package) => {
                let here = installed.iter().find(|installed| installed.spec().to_string() == package.spec);
                self.package = Some(ListedPackage {
                    spec: package.spec.clone(),
                    program: package.program.clone(),
                    arguments: arguments.clone(),
                    tree_sha256: here.map(|installed| installed.tree_hash().to_owned()),
                });
            }
            None => self.command = Some(std::iter::once(&process.program).chain(arguments).cloned().collect()),
        }
    }
}

impl ListedStart {
    /// Returns what a start has shown, in short.
    pub(super) fn of(started: anyhow::Result<FirstStart>) -> Self {
        match started {
            Ok(FirstStart { starts, tools, problems, .. }) => Self { starts, tools: tools.len(), problems },
            Err(error) => Self { starts: false, tools: 0, problems: vec![format!("{error:#}")] },
        }
    }
}

fn source(from: &SecretSource) -> String {
    match from {
        SecretSource::Env(name) => format!("env:{name}"),
        SecretSource::File(path) => format!("file:{path}"),
        SecretSource::Command(_) => "command".to_owned(),
    }
}
