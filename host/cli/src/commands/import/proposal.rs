//! What the policy would say about one server of an agent.

use super::address;
use super::directories::{ImportedDirectories, KeptPlaces};
use super::launch::{Launch, LaunchVersion, PackageLaunch, understood};
use super::variables::{HostVariables, ImportedVariables, SecretFile, imported};
use crate::clients::{ClientAddress, ClientServer, ClientStart};
use crate::commands::server::packages::Packages;
use crate::context::Context;
use crate::secret_words::secret_word;
use portcullis::policy::PluginName;
use portcullis_packages::PackageSpec;
use portcullis_policy_edit::{ServerEdit, ServerStart};
use std::path::{Path, PathBuf};

/// A server that can be imported.
pub(super) struct Proposal {
    pub(super) edit: ServerEdit,
    /// The package, and whether the configuration names no exact version, so that the newest is taken.
    pub(super) package: Option<(PackageSpec, bool)>,
    pub(super) notes: Vec<String>,
    /// The variables that have to be set for the host.
    pub(super) to_set: Vec<String>,
    pub(super) files: Vec<SecretFile>,
}

/// What all servers of one import share.
pub(super) struct ImportPlaces {
    pub(super) project: PathBuf,
    pub(super) kept: KeptPlaces,
    pub(super) secrets_to: Option<PathBuf>,
}

impl Proposal {
    /// Returns the proposal for a server.
    ///
    /// # Errors
    /// Why it is left out. The reason has no value of the configuration.
    pub(super) async fn of(
        name: &PluginName,
        server: &ClientServer,
        places: &ImportPlaces,
        used: &mut HostVariables,
        context: &Context,
    ) -> Result<Self, String> {
        let words = match &server.start {
            ClientStart::Command(words) => places.filled_in(words),
            ClientStart::Address(address) => return Self::of_address(name, address, places, used),
        };
        if words.iter().any(|word| word.contains("${") || word.contains("{env:")) {
            return Err("its command has a placeholder that a policy cannot fill in".to_owned());
        }
        if let Some(at) = secret_word(&words) {
            return Err(format!(
                "word {} of its command looks like a secret, which a policy must not contain: give it to the server as a \
                 variable",
                at + 1
            ));
        }
        let directory = server.directory.as_deref().map_or(places.project.clone(), |cwd| places.project.join(cwd));
        let launch = understood(&words, &directory)?;
        let variables = imported(name, &server.environment, places.secrets_to.as_deref(), used)?;
        let (start, package, program) = started(launch, context).await?;
        let arguments = match &start {
            ServerStart::Command(words) => words.get(1..).unwrap_or_default(),
            ServerStart::Package { arguments, .. } => arguments,
            ServerStart::Address(_) => &[],
        };
        // Only values that stay plain can be paths. Secrets became references.
        let values = server.environment.iter().filter(|pair| variables.written.contains(pair)).map(|(_, value)| value);
        let named: Vec<&str> = arguments.iter().chain(values).map(String::as_str).collect();
        let directories = ImportedDirectories::of(&program, &named, &places.kept);
        let mut edit = ServerEdit::new(name.clone(), start);
        edit.directories = directories.granted;
        edit.environment = variables.written;
        let mut notes = directories.notes;
        if let Some((spec, true)) = &package {
            notes.push(format!(
                "the configuration names no exact version, so {spec} is pinned, which is the newest now"
            ));
        }
        Ok(Self { edit, package, notes, to_set: variables.to_set, files: variables.files })
    }
}

impl Proposal {
    /// Returns the proposal for a server at an address.
    fn of_address(
        name: &PluginName,
        address: &ClientAddress,
        places: &ImportPlaces,
        used: &mut HostVariables,
    ) -> Result<Self, String> {
        let mut variables = ImportedVariables::default();
        let edit = address::imported(name, address, places.secrets_to.as_deref(), (used, &mut variables))?;
        let mut notes = Vec::new();
        if edit.logs_in {
            notes.push(format!("if the server demands a login, run `portcullis login {name}` after the import"));
        }
        let edit = ServerEdit::new(name.clone(), ServerStart::Address(edit));
        Ok(Self { edit, package: None, notes, to_set: variables.to_set, files: variables.files })
    }
}

impl ImportPlaces {
    /// Fills in the placeholders of agents whose values are known.
    fn filled_in(&self, words: &[String]) -> Vec<String> {
        let project = self.project.to_string_lossy();
        let home = self.kept.home.as_deref().map(Path::to_string_lossy).unwrap_or_default();
        let fill = |word: &String| {
            let word = word.replace("${workspaceFolder}", &project);
            word.replace("${userHome}", &home).replace("${HOME}", &home).replace("${env:HOME}", &home)
        };
        words.iter().map(fill).collect()
    }
}

/// A start with its package, and the words of a program of the machine.
type Started = (ServerStart, Option<(PackageSpec, bool)>, Vec<String>);

async fn started(launch: Launch, context: &Context) -> Result<Started, String> {
    match launch {
        Launch::Program(words) => Ok((ServerStart::Command(words.clone()), None, words)),
        Launch::Package(PackageLaunch { kind, name, version, program, arguments }) => {
            let (spec, is_newest) = match version {
                LaunchVersion::Exact(spec) => (spec, false),
                LaunchVersion::Newest(range) => {
                    let newest = Packages::newest(kind, name, range, context).await;
                    (newest.map_err(|error| format!("{error:#}"))?, true)
                }
            };
            let start = ServerStart::Package { spec: spec.to_string(), program, arguments };
            Ok((start, Some((spec, is_newest)), Vec::new()))
        }
    }
}
