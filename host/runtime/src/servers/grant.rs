//! What a connection to a server is opened with.

use crate::grants::{BoundAddress, BoundProgram, BoundServer, Grant, PluginGrants};
use portcullis_policy::ServerPolicy;
use portcullis_sandbox::PluginSecrets;
use std::sync::Arc;

/// What a connection to a server is opened with.
#[derive(Clone, Copy)]
pub(crate) struct ServerGrant<'a> {
    pub(super) way: ServerWay<'a>,
    pub(super) secrets: &'a Arc<PluginSecrets>,
}

/// The way to a server.
#[derive(Clone, Copy)]
pub(super) enum ServerWay<'a> {
    /// A program that the host starts.
    Program { program: &'a BoundProgram, server: &'a BoundServer },
    /// An address that the host connects to.
    Address(&'a BoundAddress),
}

impl<'a> ServerGrant<'a> {
    /// Returns what the policy grants to a server. `None` if it binds no server.
    pub(crate) fn of(grants: &'a PluginGrants) -> Option<Self> {
        let way = match grants.server()? {
            Grant::Address(address) => ServerWay::Address(address),
            Grant::Program(program) => ServerWay::Program { program, server: program.server.as_ref()? },
            Grant::Directory(_) | Grant::Client(_) | Grant::Store(_) | Grant::Service(_) | Grant::Tools(_) => {
                return None;
            }
        };
        Some(Self { way, secrets: &grants.secrets })
    }

    /// Returns what the policy says about the server's tools.
    pub(crate) fn policy(&self) -> &'a ServerPolicy {
        match self.way {
            ServerWay::Program { server, .. } => &server.policy,
            ServerWay::Address(address) => &address.policy,
        }
    }
}
