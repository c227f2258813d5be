//! The state of the plugins as a resource: which plugins are ready, which are being compiled, and why others are
//! refused.
//!
//! Plugins whose tools would all be hidden from clients are left out.

use crate::server::Server;
use crate::tools::loading;
use portcullis::plugins::{LoadError, RefusedPlugin};
use portcullis::policy::PluginName;
use portcullis::text::{OneLine, WithCauses};
use portcullis::{Host, OfferedTools};
use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents};
use serde::Serialize;
use std::collections::BTreeMap;

/// The URI of the resource.
pub(super) const URI: &str = "portcullis://plugins";

/// Maximum plugins in the resource: more than a person installs, and far fewer than fit in a message.
const PLUGINS_MAX: usize = 1000;

/// Maximum length of a reason, in bytes. It may contain text of the plugin.
const REASON_BYTES_MAX: usize = 512;

/// The media type of the resource.
const MEDIA_TYPE: &str = "application/json";

/// The plugins that the caller may know of.
#[derive(Serialize)]
struct PluginStates {
    /// The states by plugin name.
    plugins: BTreeMap<String, PluginState>,
    /// The number of plugins beyond [`PLUGINS_MAX`].
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

/// The state of one plugin.
#[derive(Serialize)]
struct PluginState {
    state: PluginReadiness,
    /// The number of the plugin's listed tools.
    tools: usize,
    /// The state of a newer version of the file, while the old one is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<PluginReadiness>,
    /// Why the plugin, or its newer version, is refused. It may contain text of the plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Whether the tools of a plugin can be called.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum PluginReadiness {
    Ready,
    Compiling,
    Refused,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Returns the entry in the list of resources.
pub(super) fn resource() -> Resource {
    Resource::new(URI, "plugins")
        .with_title("Plugin states")
        .with_description("Which plugins are ready, which are being compiled, and which are refused and why.")
        .with_mime_type(MEDIA_TYPE)
}

/// Returns the current states of the plugins.
pub(super) fn read(server: &Server, offered: &OfferedTools) -> ReadResourceResult {
    let mut states = states(server, offered);
    let left_out = states.len().saturating_sub(PLUGINS_MAX);
    while states.len() > PLUGINS_MAX {
        states.pop_last();
    }
    let plugins = states.into_iter().map(|(plugin, state)| (plugin.to_string(), state)).collect();
    // Serializing text and numbers cannot fail.
    let text = serde_json::to_string(&PluginStates { plugins, left_out }).unwrap_or_default();
    let contents = ResourceContents::text(text, URI).with_mime_type(MEDIA_TYPE);
    ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private)
}

fn states(server: &Server, offered: &OfferedTools) -> BTreeMap<PluginName, PluginState> {
    let host: &Host = &server.inner().host;
    // Read the loading plugins before the listing, so that a plugin which becomes ready in between is in at least one.
    let compiling = host.loading();
    let listing = server.listing();
    let ready = listing.shown_plugins(offered).into_iter();
    let mut states: BTreeMap<PluginName, PluginState> =
        ready.map(|(plugin, tools)| (plugin.clone(), PluginState::of(PluginReadiness::Ready, tools))).collect();
    let catalog = host.catalog();
    let is_shown = |plugin: &PluginName, states: &BTreeMap<PluginName, PluginState>| {
        // A ready plugin without shown tools stays hidden, even if a newer version of its file is compiled or refused.
        states.contains_key(plugin) || catalog.plugin(plugin.as_str()).is_none() && loading::is_shown(server, plugin)
    };
    let refused = catalog.refused().iter().filter_map(|refused| Some((name(refused)?, Some(&*refused.error))));
    for (plugin, error) in refused.chain(compiling.into_iter().map(|plugin| (plugin, None))) {
        if is_shown(&plugin, &states) {
            states.entry(plugin).or_insert_with(|| PluginState::of(PluginReadiness::Compiling, 0)).put(error);
        }
    }
    states
}

/// Returns the plugin name of a refused file, or `None` if the file name is not that of a plugin.
fn name(refused: &RefusedPlugin) -> Option<PluginName> {
    PluginName::new(refused.file.strip_suffix(".wasm")?).ok()
}

impl PluginState {
    fn of(state: PluginReadiness, tools: usize) -> Self {
        Self { state, tools, newer: None, reason: None }
    }

    /// Records that the plugin's file is refused, or is being compiled, possibly after an earlier file was refused.
    fn put(&mut self, error: Option<&LoadError>) {
        let state = if error.is_some() { PluginReadiness::Refused } else { PluginReadiness::Compiling };
        match self.state {
            PluginReadiness::Ready => self.newer = Some(state),
            PluginReadiness::Compiling | PluginReadiness::Refused => self.state = state,
        }
        self.reason = error.map(reason);
    }
}

/// Returns the reason why a file is refused, for a client. It hides details of the policy and of the operator's disk.
fn reason(error: &LoadError) -> String {
    match error {
        LoadError::Grants(_) | LoadError::Audit(_) => {
            "the policy's settings for this plugin cannot be used; to see why, run `portcullis list`".to_owned()
        }
        LoadError::Server(_) => "the server cannot be used; to see why, run `portcullis list`".to_owned(),
        LoadError::Generation(_) => {
            "the tools that this plugin generates cannot be used; to see why, run `portcullis list`".to_owned()
        }
        LoadError::File(_)
        | LoadError::Refused(_)
        | LoadError::Compile(_)
        | LoadError::Describe(_)
        | LoadError::Unstable
        | LoadError::Definition(_)
        | LoadError::Descriptions(_)
        | LoadError::Preparation(_)
        | LoadError::Altered
        | LoadError::Changed => {
            let mut reason = OneLine(&WithCauses(error).to_string()).to_string();
            reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
            reason
        }
    }
}
