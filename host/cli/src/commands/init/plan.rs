//! What `init` is going to write. Nothing is written while it is made.

use super::answers::Answers;
use super::places::InitPlaces;
use super::policy_text::policy_text;
use super::shipped::ShippedPlugins;
use crate::arguments::InitArguments;
use crate::clients::{AgentClient, ConfigFile, EntryState, Left};
use crate::init_record::InitRecord;

/// Everything that one run changes.
pub(super) struct InitPlan {
    /// The text of the new policy. `None` if there is one already.
    pub(super) policy: Option<String>,
    pub(super) plugins: ShippedPlugins,
    pub(super) clients: Vec<ClientStep>,
}

/// What happens to the configuration of one agent.
pub(super) struct ClientStep {
    pub(super) client: AgentClient,
    pub(super) change: ClientChange,
}

/// The change of one configuration.
pub(super) enum ClientChange {
    /// The server is registered already.
    Present(ConfigFile),
    /// The file gets this text.
    Write { file: ConfigFile, after: String },
    /// The file is left alone.
    Left(Left),
}

impl InitPlan {
    /// Finds out what is missing.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn of(
        places: &InitPlaces,
        answers: Option<&Answers>,
        arguments: &InitArguments,
        record: &InitRecord,
    ) -> anyhow::Result<Self> {
        let plugins = match &places.plugins {
            Some(directory) => ShippedPlugins::of(&places.program, directory, record)?,
            None => ShippedPlugins::default(),
        };
        let policy = answers.map(|answers| policy_text(&places.project, answers));
        Ok(Self { policy, plugins, clients: client_steps(places, arguments) })
    }

    /// Returns whether nothing is to be written.
    pub(super) fn is_empty(&self) -> bool {
        let writes = |step: &ClientStep| matches!(step.change, ClientChange::Write { .. });
        self.policy.is_none() && self.plugins.missing.is_empty() && !self.clients.iter().any(writes)
    }
}

fn client_steps(places: &InitPlaces, arguments: &InitArguments) -> Vec<ClientStep> {
    let is_wanted = |client: &AgentClient| match arguments.client.as_slice() {
        _ if arguments.no_clients => false,
        [] => client.is_here(&places.clients()),
        named => named.contains(client),
    };
    let step = |client: AgentClient| Some(ClientStep { client, change: change(places, client)? });
    AgentClient::ALL.into_iter().filter(is_wanted).filter_map(step).collect()
}

fn change(places: &InitPlaces, client: AgentClient) -> Option<ClientChange> {
    let read = ConfigFile::read(client, &places.clients(), &places.command(client))?;
    let file = match read {
        Ok(file) => file,
        Err(left) => return Some(ClientChange::Left(left)),
    };
    Some(match file.entry() {
        Ok(EntryState::Expected) => ClientChange::Present(file),
        Ok(EntryState::Missing | EntryState::Other { .. }) => match file.merged() {
            Ok(after) => ClientChange::Write { file, after },
            Err(left) => ClientChange::Left(left),
        },
        Err(error) => {
            let lines = file.lines();
            ClientChange::Left(Left { path: file.path, why: error.to_string(), lines })
        }
    })
}
