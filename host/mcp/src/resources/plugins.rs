//! The plugins as a resource: which are ready, which are being compiled, and which are refused with the reason.
//!
//! A client learns of no plugin whose tools would all be hidden from it.

use crate::server::Server;
use crate::tools::loading;
use portcullis::Host;
use portcullis::plugins::{LoadError, RefusedPlugin};
use portcullis::policy::PluginName;
use portcullis::text::OneLine;
use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents};
use serde::Serialize;
use std::collections::BTreeMap;

/// The address.
pub(super) const URI: &str = "portcullis://plugins";

/// Maximum plugins of the answer: more than a person installs, and far below what a message can hold.
const PLUGINS_MAX: usize = 1000;

/// Maximum bytes of a reason. It may hold words of the plugin.
const REASON_BYTES_MAX: usize = 512;

/// What the text is.
const MEDIA_TYPE: &str = "application/json";

/// The plugins that the caller may know of.
#[derive(Serialize)]
struct PluginStates {
    /// By name.
    plugins: BTreeMap<String, PluginState>,
    /// How many more there are.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

/// The state of one plugin.
#[derive(Serialize)]
struct PluginState {
    state: State,
    /// The tools that the list of tools shows.
    tools: usize,
    /// The state of a newer version of the file, while the old one is ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<State>,
    /// Why it, or the newer version, is refused. It may hold words of the plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Whether the tools of a plugin can be called.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ready,
    Compiling,
    Refused,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The entry in the list of resources.
pub(super) fn resource() -> Resource {
    Resource::new(URI, "plugins")
        .with_title("The state of the plugins")
        .with_description("Which plugins are ready, being compiled, or refused with the reason.")
        .with_mime_type(MEDIA_TYPE)
}

/// The plugins as they are now.
pub(super) fn read(server: &Server) -> ReadResourceResult {
    let mut states = states(server);
    let left_out = states.len().saturating_sub(PLUGINS_MAX);
    while states.len() > PLUGINS_MAX {
        states.pop_last();
    }
    let plugins = states.into_iter().map(|(plugin, state)| (plugin.to_string(), state)).collect();
    // Text and numbers cannot fail to be written.
    let text = serde_json::to_string(&PluginStates { plugins, left_out }).unwrap_or_default();
    let contents = ResourceContents::text(text, URI).with_mime_type(MEDIA_TYPE);
    ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private)
}

fn states(server: &Server) -> BTreeMap<PluginName, PluginState> {
    let host: &Host = &server.inner().host;
    // In this order, so that a plugin which becomes ready meanwhile is in one of both.
    let compiling = host.loading();
    let listing = server.listing();
    let ready = listing.shown_plugins().into_iter();
    let mut states: BTreeMap<PluginName, PluginState> =
        ready.map(|(plugin, tools)| (plugin.clone(), PluginState::of(State::Ready, tools))).collect();
    let catalog = host.catalog();
    let is_shown = |plugin: &PluginName, states: &BTreeMap<PluginName, PluginState>| {
        // A plugin that is ready, and that nobody is shown a tool of, is hidden whatever becomes of its file.
        states.contains_key(plugin) || catalog.plugin(plugin.as_str()).is_none() && loading::is_shown(server, plugin)
    };
    let refused = catalog.refused().iter().filter_map(|refused| Some((name(refused)?, Some(&*refused.error))));
    for (plugin, error) in refused.chain(compiling.into_iter().map(|plugin| (plugin, None))) {
        if is_shown(&plugin, &states) {
            states.entry(plugin).or_insert_with(|| PluginState::of(State::Compiling, 0)).put(error);
        }
    }
    states
}

/// The plugin that a refused file would be; none for a file that could be no plugin.
fn name(refused: &RefusedPlugin) -> Option<PluginName> {
    PluginName::new(refused.file.strip_suffix(".wasm")?).ok()
}

impl PluginState {
    fn of(state: State, tools: usize) -> Self {
        Self { state, tools, newer: None, reason: None }
    }

    /// Says that the file is refused, or is being compiled: maybe again, after another one was refused.
    fn put(&mut self, error: Option<&LoadError>) {
        let state = if error.is_some() { State::Refused } else { State::Compiling };
        match self.state {
            State::Ready => self.newer = Some(state),
            State::Compiling | State::Refused => self.state = state,
        }
        self.reason = error.map(reason);
    }
}

/// Why a file is refused, for a client. What the policy grants, and what is wrong with the operator's disk, is not its
/// business.
fn reason(error: &LoadError) -> String {
    match error {
        LoadError::Grants(_) | LoadError::Audit(_) => {
            "what the policy says of it cannot be used: `portcullis list` says why".to_owned()
        }
        LoadError::File(_)
        | LoadError::Refused(_)
        | LoadError::Compile(_)
        | LoadError::Describe(_)
        | LoadError::Unstable
        | LoadError::Definition(_)
        | LoadError::Descriptions(_)
        | LoadError::Changed => {
            let mut reason = OneLine(&error.to_string()).to_string();
            reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
            reason
        }
    }
}
