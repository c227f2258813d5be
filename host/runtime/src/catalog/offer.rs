//! A tool of the catalog that stays valid when the catalog changes.

use super::plugin::Plugin;
use portcullis_definitions::tool::Tool;
use std::sync::Arc;

/// A tool that can be offered to a model, with its plugin. It does not change when the catalog does.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The plugin.
    pub plugin: Arc<Plugin>,
    /// The tool.
    pub tool: Arc<Tool>,
}
