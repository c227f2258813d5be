//! The edits of a server's section.
//!
//! This file must not know how an edit is written.

use portcullis_policy::{Access, DependencyKey, PluginName};

/// A server to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEdit {
    /// The name of the server, and of its section.
    pub name: PluginName,
    /// How it is started.
    pub start: ServerStart,
    /// The directories that it gets.
    pub directories: Vec<ServerDirectory>,
    /// The hosts that it reaches. Without any, it has no network.
    pub hosts: Vec<String>,
    /// Its variables, each with a value, `env:VARIABLE` or `file:PATH`.
    pub environment: Vec<(String, String)>,
}

/// How a server is started or reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStart {
    /// A program of the machine, by its path, and its arguments.
    Command(Vec<String>),
    /// A package of npm or PyPI.
    Package {
        /// The package in one exact version.
        spec: String,
        /// The program of the package, if it has several.
        program: Option<String>,
        /// The arguments.
        arguments: Vec<String>,
    },
    /// A server that is reached over HTTP.
    Address(ServerAddressEdit),
}

/// The address of a server to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerAddressEdit {
    /// The URL.
    pub url: String,
    /// Whether the host logs in with OAuth.
    pub logs_in: bool,
    /// The headers that every request gets.
    pub headers: Vec<(String, String)>,
    /// The secret of every request.
    pub secret: Option<ServerSecretEdit>,
}

/// The secret of the requests to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSecretEdit {
    /// The header that carries it.
    pub header: String,
    /// The value of the header, with `{}` in place of the secret.
    pub value: String,
    /// Its source: `env:VARIABLE` or `file:PATH`.
    pub from: String,
}

/// A directory of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerDirectory {
    /// The key.
    pub key: DependencyKey,
    /// The path.
    pub path: String,
    /// Whether the server may write.
    pub access: Access,
}

impl ServerEdit {
    /// Creates the edit for a server that gets nothing.
    pub fn new(name: PluginName, start: ServerStart) -> Self {
        Self { name, start, directories: Vec::new(), hosts: Vec::new(), environment: Vec::new() }
    }
}
