//! A connection to a server: to a program that runs, or to an address.

use super::address::AddressEnd;
use super::error::ServerFault;
use super::grant::{ServerGrant, ServerWay};
use super::login::AccountError;
use super::process::ProcessEnd;
use portcullis_ledger::logins::ServerLogins;
use portcullis_policy::ServerQuestions;
use portcullis_sandbox::Traffic;
use portcullis_upstream::ServerClient;
use std::sync::Arc;

/// A connection to a server. Dropping it ends both.
pub(super) struct ServerConnection {
    pub(super) client: ServerClient,
    /// What the server was told about questions.
    questions: ServerQuestions,
    end: ServerEnd,
}

/// The other end of a connection.
enum ServerEnd {
    Process(Box<ProcessEnd>),
    Address(AddressEnd),
}

impl ServerConnection {
    /// Starts the program or reaches the address, and connects to the server.
    pub(super) async fn open(grant: ServerGrant<'_>, logins: &Arc<ServerLogins>) -> Result<Self, ServerFault> {
        let questions = grant.policy().questions();
        match grant.way {
            ServerWay::Program { program, server } => {
                let (client, end) = ProcessEnd::open(program, server, grant.secrets).await?;
                Ok(Self { client, questions, end: ServerEnd::Process(Box::new(end)) })
            }
            ServerWay::Address(address) => {
                let (client, end) = AddressEnd::open(address, grant.secrets, logins).await?;
                Ok(Self { client, questions, end: ServerEnd::Address(end) })
            }
        }
    }

    /// Returns whether the connection is open, and the policy and the program are those that it was opened with.
    pub(super) fn serves(&self, grant: ServerGrant<'_>) -> bool {
        let is_same = match (&self.end, grant.way) {
            (ServerEnd::Process(end), ServerWay::Program { program, server }) => end.is_of(program, server),
            (ServerEnd::Address(end), ServerWay::Address(address)) => end.is_of(address),
            (ServerEnd::Process(_) | ServerEnd::Address(_), _) => false,
        };
        is_same && self.questions == grant.policy().questions() && self.client.close_reason().is_none()
    }

    /// Takes the requests that the server has made since the last time, or that were made to it.
    pub(super) fn take_traffic(&self) -> Traffic {
        match &self.end {
            ServerEnd::Process(end) => end.take_traffic(),
            ServerEnd::Address(end) => end.take_traffic(),
        }
    }

    /// Returns how the server's program has ended, after the connection has.
    pub(super) async fn end(&self) -> Option<String> {
        match &self.end {
            ServerEnd::Process(end) => Some(end.end().await),
            ServerEnd::Address(_) => None,
        }
    }

    /// Takes why the last request had no token, if it had none.
    pub(super) fn take_login_fault(&self) -> Option<AccountError> {
        match &self.end {
            ServerEnd::Process(_) => None,
            ServerEnd::Address(end) => end.take_login_fault(),
        }
    }
}
