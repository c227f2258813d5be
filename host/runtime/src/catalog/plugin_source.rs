//! Where a plugin comes from, which decides how its calls run and whether a reload can remove it.

use crate::native::NativeFunctions;
use crate::servers::ServerLink;
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
    /// An MCP server that the policy names, with the names by which it knows its tools.
    Server(Arc<ServerLink>, Arc<BTreeMap<LocalName, String>>),
}
