//! Where a plugin comes from, which decides how its calls run and whether a reload can remove it.

use crate::native::NativeFunctions;
use crate::servers::{ServerAction, ServerLink};
use portcullis_policy::LocalName;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a plugin comes from.
#[derive(Clone)]
pub(crate) enum PluginSource {
    /// The host itself.
    BuiltIn,
    /// A file of a plugin directory.
    File,
    /// Bytes of a component that the application registered.
    Component,
    /// Functions that the application registered.
    Native(NativeFunctions),
    /// An MCP server that the policy names, with what the host knows of its tools.
    Server(Arc<ServerLink>, Arc<BTreeMap<LocalName, ServerToolFacts>>),
}

/// What the host knows of a tool of a server besides its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerToolFacts {
    /// What a call of it asks the server for.
    pub(crate) action: ServerAction,
    /// How the server describes it now, if that is not what was accepted. Each call of the tool needs a person then.
    pub(crate) held: Option<Arc<str>>,
}
