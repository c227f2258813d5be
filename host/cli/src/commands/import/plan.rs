//! What an import changes. Nothing is written while it is made.

use super::directories::KeptPlaces;
use super::naming::{plain_server_name, server_name};
use super::proposal::{ImportPlaces, Proposal};
use super::variables::HostVariables;
use crate::arguments::ImportArguments;
use crate::clients::{AgentClient, ClientPlaces, ClientServer, ServerSource};
use crate::commands::editing::KnownPolicy;
use crate::commands::server::packages::{address_of, program_of};
use crate::commands::server::section::check_name;
use crate::context::Context;
use crate::{project, user_files};
use anyhow::Context as _;
use portcullis::policy::{PluginName, Policy};
use portcullis_packages::PackageSpec;
use portcullis_policy_edit::{ServerEdit, ServerStart};
use std::path::PathBuf;

/// Maximum servers of one import. A person would not read more.
const SERVERS_MAX: usize = 100;

/// Everything that one import changes.
pub(super) struct ImportPlan {
    pub(super) sources: Vec<ServerSource>,
    pub(super) servers: Vec<PlannedServer>,
    /// Files that cannot be read, with the reasons.
    pub(super) problems: Vec<(PathBuf, String)>,
}

/// A server, and where it was found.
pub(super) struct PlannedServer {
    /// The name in the configurations.
    pub(super) written: String,
    pub(super) state: ServerState,
    /// The sources that have it, by their position.
    pub(super) found_in: Vec<usize>,
    server: Option<ClientServer>,
}

/// What happens to a server.
pub(super) enum ServerState {
    /// The policy gets a section.
    New(Box<Proposal>),
    /// The policy has a server with the same program.
    Present(PluginName),
    /// It is left out, for this reason.
    LeftOut(String),
}

impl ImportPlan {
    /// Reads the configurations, and makes a proposal for each server.
    ///
    /// # Errors
    /// The directory of the project or the state directory cannot be used.
    pub(super) async fn of(
        arguments: &ImportArguments,
        known: &KnownPolicy,
        context: &Context,
    ) -> anyhow::Result<Self> {
        let environment = &context.environment;
        let project = project::resolved(&environment.project).context("the project's directory")?;
        let state = user_files::resolve(environment.state()?).context("the state directory")?;
        let secrets_to = arguments.secrets_to.as_deref().map(std::path::absolute).transpose()?;
        let kept = KeptPlaces { home: environment.user.home.clone(), state };
        let places = ImportPlaces { project, kept, secrets_to };
        let client_places = ClientPlaces {
            project: &places.project,
            home: environment.user.home.as_deref(),
            config: environment.user.config_home.as_deref(),
        };
        let (mut plan, policy) = (Self::read(arguments, &client_places), Policy::parse(known.file.text())?);
        let (mut used, mut taken) = (HostVariables::new(), Vec::new());
        for index in 0..plan.servers.len() {
            // An entry that is not understood was left out when it was read.
            let Some(server) = plan.servers[index].server.clone() else { continue };
            let written = plan.servers[index].written.clone();
            let state = proposed(&written, &server, (&policy, &places), (&mut used, &mut taken), context).await;
            plan.servers[index].state = state;
        }
        Ok(plan)
    }

    /// Reads the configurations. Equal servers of several agents become one.
    fn read(arguments: &ImportArguments, places: &ClientPlaces<'_>) -> Self {
        let mut plan = Self { sources: Vec::new(), servers: Vec::new(), problems: Vec::new() };
        let is_wanted = |client: AgentClient| arguments.client.is_empty() || arguments.client.contains(&client);
        for source in ServerSource::all(places) {
            let source = match source {
                Ok(source) if is_wanted(source.client) => source,
                Ok(_) => continue,
                Err(problem) => {
                    plan.problems.push(problem);
                    continue;
                }
            };
            match source.servers() {
                Ok(servers) => {
                    let wanted = servers
                        .into_iter()
                        .filter(|(name, _)| arguments.only.is_empty() || arguments.only.contains(name));
                    wanted.for_each(|(name, server)| plan.add(name, server));
                    plan.sources.push(source);
                }
                Err(error) => plan.problems.push((source.path, error.to_string())),
            }
        }
        plan
    }

    fn add(&mut self, written: String, server: Result<ClientServer, String>) {
        // The caller adds the source after its servers, at this position.
        let source = self.sources.len();
        let same = |known: &&mut PlannedServer| {
            // Two entries that are not understood may differ, so they do not count as the same.
            known.written == written && known.server.is_some() && known.server.as_ref() == server.as_ref().ok()
        };
        if let Some(known) = self.servers.iter_mut().find(same) {
            known.found_in.push(source);
            return;
        }
        let (server, why) = match server {
            _ if self.servers.len() >= SERVERS_MAX => (None, format!("there are more than {SERVERS_MAX} servers")),
            Ok(server) => (Some(server), String::new()),
            Err(why) => (None, why),
        };
        self.servers.push(PlannedServer { written, state: ServerState::LeftOut(why), found_in: vec![source], server });
    }

    /// Returns the proposals with the servers' positions.
    pub(super) fn proposals(&self) -> impl Iterator<Item = (usize, &Proposal)> {
        self.servers.iter().enumerate().filter_map(|(at, server)| match &server.state {
            ServerState::New(proposal) => Some((at, &**proposal)),
            ServerState::Present(_) | ServerState::LeftOut(_) => None,
        })
    }

    /// Returns whether nothing is to be written.
    pub(super) fn is_empty(&self, arguments: &ImportArguments) -> bool {
        let is_present = |server: &PlannedServer| matches!(server.state, ServerState::Present(_));
        self.proposals().next().is_none() && !(arguments.replace && self.servers.iter().any(is_present))
    }
}

async fn proposed(
    written: &str,
    server: &ClientServer,
    (policy, places): (&Policy, &ImportPlaces),
    (used, taken): (&mut HostVariables, &mut Vec<PluginName>),
    context: &Context,
) -> ServerState {
    let is_taken =
        |name: &PluginName| policy.has_section(name) || taken.contains(name) || check_name(name, context).is_err();
    let Some(name) = server_name(written, is_taken) else {
        return ServerState::LeftOut("no free name is left for it".to_owned());
    };
    let proposal = match Proposal::of(&name, server, places, used, context).await {
        Ok(proposal) => proposal,
        Err(why) => return ServerState::LeftOut(why),
    };
    match plain_server_name(written).filter(|name| is_same(policy, name, &proposal.edit)) {
        Some(name) => ServerState::Present(name),
        None => {
            taken.push(name);
            ServerState::New(Box::new(proposal))
        }
    }
}

/// Returns whether the policy starts the same program or package under a name, in whatever version.
fn is_same(policy: &Policy, name: &PluginName, edit: &ServerEdit) -> bool {
    if let ServerStart::Address(address) = &edit.start {
        return address_of(policy, name).is_some_and(|known| known.url.to_string() == address.url);
    }
    let Some(process) = program_of(policy, name) else { return false };
    let Some(server) = &process.server else { return false };
    match (&edit.start, &server.package) {
        (ServerStart::Command(words), None) => {
            words.split_first().is_some_and(|(program, rest)| *program == process.program && rest == server.arguments)
        }
        (ServerStart::Package { spec, .. }, Some(package)) => {
            let parsed =
                |spec: &str| spec.parse::<PackageSpec>().ok().map(|spec| (spec.kind(), spec.name().to_owned()));
            parsed(spec).is_some() && parsed(spec) == parsed(&package.spec)
        }
        (ServerStart::Command(_), Some(_)) | (ServerStart::Package { .. }, None) | (ServerStart::Address(_), _) => {
            false
        }
    }
}
