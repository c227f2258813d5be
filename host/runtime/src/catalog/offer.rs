//! A tool of the catalog, to be held on to.

use super::tool::Tool;
use crate::plugin::Plugin;
use std::sync::Arc;

/// A tool that a model may be offered, with its plugin. It stays as it is after the catalog has changed.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The plugin.
    pub plugin: Arc<Plugin>,
    /// The tool.
    pub tool: Arc<Tool>,
}
