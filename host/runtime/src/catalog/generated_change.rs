//! The difference between the tools that a plugin generates and those that were accepted.

use crate::text::hex;
use portcullis_definitions::tool::Tool;
use portcullis_ledger::pins::{PinSource, PinnedTools};
use portcullis_policy::{LocalName, PluginName};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Maximum names that the message lists.
const NAMES_SHOWN_MAX: usize = 8;

/// Where tools come from that are not in a plugin's manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolsOrigin {
    /// The plugin generates them.
    Generated,
    /// A server lists them.
    Listed,
}

impl ToolsOrigin {
    /// Returns the verb of a sentence about the tools.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Generated => "generates",
            Self::Listed => "lists",
        }
    }
}

/// A difference between the tools that a plugin generates, or a server lists, and those that were accepted. The old
/// tools stay in force until [`Host::accept`](crate::Host::accept).
#[derive(Clone, Debug)]
pub struct GeneratedChange {
    plugin: PluginName,
    /// The tools of the plugin's present result that are new.
    pub added: Vec<Arc<Tool>>,
    /// Those whose definition differs.
    pub changed: Vec<Arc<Tool>>,
    /// The names of the accepted tools that are missing.
    pub removed: Vec<String>,
    /// Whether the stored pin is damaged. All tools then count as added.
    pub pin_is_damaged: bool,
    /// The hash of the plugin that generates them.
    pub(crate) sha256: [u8; 32],
    pub(crate) origin: ToolsOrigin,
    pub(crate) source: PinSource,
    pub(crate) next: PinnedTools,
}

impl GeneratedChange {
    /// Compares generated tools with a pin. `pinned` is `None` if the pin is damaged. Returns `None` if nothing
    /// differs.
    ///
    /// `next` is what would be pinned of the tools.
    pub(super) fn between(
        (plugin, sha256): (&PluginName, [u8; 32]),
        origin: ToolsOrigin,
        source: PinSource,
        pinned: Option<&PinnedTools>,
        (tools, next): (&BTreeMap<LocalName, Arc<Tool>>, PinnedTools),
    ) -> Option<Self> {
        if pinned == Some(&next) {
            return None;
        }
        let before = |name: &str| pinned.and_then(|pinned| pinned.get(name));
        let (mut added, mut changed) = (Vec::new(), Vec::new());
        for (name, tool) in tools {
            match before(name.as_str()) {
                None => added.push(Arc::clone(tool)),
                Some(sha256) if next.get(name.as_str()) != Some(sha256) => changed.push(Arc::clone(tool)),
                Some(_) => {}
            }
        }
        let removed = pinned.iter().flat_map(|pinned| pinned.keys()).filter(|name| !next.contains_key(*name));
        let removed = removed.cloned().collect();
        let pin_is_damaged = pinned.is_none();
        Some(Self { plugin: plugin.clone(), added, changed, removed, pin_is_damaged, sha256, origin, source, next })
    }

    /// Returns whether a tool, by its full name, is new or differs.
    pub(crate) fn names(&self, tool: &str) -> bool {
        self.added.iter().chain(&self.changed).any(|changed| changed.name().to_string() == tool)
    }

    /// Returns the name of the plugin.
    pub fn plugin(&self) -> &PluginName {
        &self.plugin
    }
}

/// Returns what is pinned of generated tools.
pub(super) fn pinned_tools(tools: &BTreeMap<LocalName, Arc<Tool>>) -> PinnedTools {
    tools.iter().map(|(name, tool)| (name.to_string(), hex(&tool.sha256()))).collect()
}

impl std::error::Error for GeneratedChange {}

impl fmt::Display for GeneratedChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = self.origin.verb();
        match self.pin_is_damaged {
            true => write!(formatter, "the pin of the tools that it {verb} is damaged")?,
            false => write!(formatter, "the tools that it {verb} differ from those that were accepted")?,
        }
        let name = |tool: &Arc<Tool>| tool.name().tool.to_string();
        let groups = [
            ("added", self.added.iter().map(name).collect()),
            ("changed", self.changed.iter().map(name).collect()),
            ("removed", self.removed.clone()),
        ];
        let mut before = " (";
        for (what, names) in &groups {
            if !names.is_empty() {
                write!(formatter, "{before}{what}: {}", shown(names))?;
                before = "; ";
            }
        }
        let close = if before == "; " { ")" } else { "" };
        write!(formatter, "{close}: to review and accept them, run `portcullis accept {}`", self.plugin)
    }
}

/// Returns the first names.
fn shown(names: &[String]) -> String {
    let first = names.iter().take(NAMES_SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMES_SHOWN_MAX) {
        None | Some(0) => first,
        Some(more) => format!("{first} and {more} more"),
    }
}
