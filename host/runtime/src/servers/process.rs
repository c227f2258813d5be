//! A server that runs as a confined program of this machine.

use super::error::{LogEnd, ServerFault, shown};
use super::limits::{limits, requests};
use crate::grants::{BoundProgram, BoundServer};
use portcullis_policy::ProcessBinding;
use portcullis_sandbox::{PluginSecrets, ServerProcess, ServerStart, Traffic, open_variable};
use portcullis_upstream::{ConnectError, ServerClient, ServerEra, ServerStreams, connect_in_era};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// How long the host waits for the end of a program that has not introduced itself, to say how it ended.
const END_TIME_MAX: Duration = Duration::from_millis(500);

/// The program at the other end of a connection.
pub(super) struct ProcessEnd {
    process: ServerProcess,
    /// What the server was started with.
    binding: ProcessBinding,
    program_sha256: String,
}

/// What a program is started from.
#[derive(Clone, Copy)]
struct ProcessGrant<'a> {
    program: &'a BoundProgram,
    server: &'a BoundServer,
    secrets: &'a Arc<PluginSecrets>,
}

impl ProcessEnd {
    /// Starts the program, and connects to it. A program that ends at the first request of the modern era is started
    /// once more, for the era before it.
    pub(super) async fn open(
        program: &BoundProgram,
        server: &BoundServer,
        secrets: &Arc<PluginSecrets>,
    ) -> Result<(ServerClient, Self), ServerFault> {
        if let Some(package) = server.package.clone() {
            // Every file of the package is read, and compared with what was installed.
            let checked = spawn_blocking(move || package.verify()).await;
            let checked = checked.map_err(|_| ServerFault::Package("the host stops".to_owned()))?;
            checked.map_err(|error| ServerFault::Package(shown(&error)))?;
        }
        let grant = ProcessGrant { program, server, secrets };
        match Self::open_in_era(grant, ServerEra::Detect).await {
            Err((_, Some(ConnectError::Closed(_)))) => {
                Self::open_in_era(grant, ServerEra::Handshake).await.map_err(|(fault, _)| fault)
            }
            opened => opened.map_err(|(fault, _)| fault),
        }
    }

    /// Does the same in one era. The error has what the client says, if the program was started.
    async fn open_in_era(
        grant: ProcessGrant<'_>,
        era: ServerEra,
    ) -> Result<(ServerClient, Self), (ServerFault, Option<ConnectError>)> {
        let ProcessGrant { program, server, .. } = grant;
        let start = start_of(grant).await.map_err(|fault| (fault, None))?;
        let failed = |why| (ServerFault::Start(why), None);
        let mut process = ServerProcess::start(start).await.map_err(failed)?;
        let no_streams = || failed("the program has no streams".to_owned());
        let (output, input) = process.stdout.take().zip(process.stdin.take()).ok_or_else(no_streams)?;
        let streams = ServerStreams { output, input };
        match connect_in_era(streams, limits(&server.limits), requests(&server.policy), era).await {
            Ok(client) => {
                let program_sha256 = program.file().sha256().to_owned();
                Ok((client, Self { process, binding: server.binding.clone(), program_sha256 }))
            }
            Err(error) => {
                let ended = timeout(END_TIME_MAX, process.ended()).await.ok();
                let log = process.last_words(END_TIME_MAX).await;
                Err((ServerFault::connect(&error, ended, &log), Some(error)))
            }
        }
    }

    /// Returns whether the program is still the one that the policy names, with everything that it gets.
    pub(super) fn is_of(&self, program: &BoundProgram, server: &BoundServer) -> bool {
        self.binding == server.binding && self.program_sha256 == program.file().sha256()
    }

    /// Returns how the program has ended, with the end of its standard error, after its connection has.
    pub(super) async fn end(&self) -> String {
        let ended = timeout(END_TIME_MAX, self.process.ended()).await;
        format!("{}{}", ended.as_deref().unwrap_or("it still runs"), LogEnd::new(&self.process.log()))
    }

    /// Takes the requests that the server has made since the last time.
    pub(super) fn take_traffic(&self) -> Traffic {
        self.process.take_traffic()
    }
}

/// Reads the secrets, and returns what the program is started with.
async fn start_of(grant: ProcessGrant<'_>) -> Result<ServerStart, ServerFault> {
    let ProcessGrant { program, server, secrets } = grant;
    let binding = &server.binding;
    let started = binding.server.clone().ok_or(ServerFault::NotBound)?;
    let directories = program.directories.iter().map(|(key, bound)| (key.to_string(), bound.directory.clone()));
    let client = program.client.as_ref().map(|(_, client)| client.clone());
    let mut setup = program.setup(&server.key, binding, directories, client);
    for (name, from) in &started.secrets {
        let opened = open_variable(&server.network, from, &server.base).await;
        let secret = opened.map_err(|source| ServerFault::Secret { name: name.clone(), source })?;
        setup.environment.insert(name.clone(), secret.to_string());
    }
    let (arguments, secrets) = (started.arguments, Arc::clone(secrets));
    Ok(ServerStart { setup, arguments, limits: server.limits, secrets })
}
