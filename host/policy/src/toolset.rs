//! Toolsets: named groups of tools, and the callers that they are offered to.
//!
//! A toolset decides which tools a caller is shown and can call by name. It grants nothing: rules decide on every call.
//! Each layer can only narrow what earlier layers offer. This file must not know how a text is parsed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::caller::Principal;
use crate::excerpt::Excerpt;
use crate::glob::{Glob, LetterCase};
use crate::layer::Layer;
use crate::name::{ToolName, ToolsetName};
use crate::nearest::nearest;
use crate::permission::{Permission, Permissions};
use crate::rule::ToolPattern;
use crate::text::TextPattern;

/// Maximum toolsets in one text, and toolsets that one includes. A listing checks each tool against all of them.
pub const TOOLSETS_MAX: usize = 64;
/// Maximum patterns in a list of a toolset. Longer lists are split into several toolsets.
pub const TOOLSET_PATTERNS: usize = 128;
/// Maximum `[[offer]]` in one text. Every call compares its caller with all of them.
pub const TOOLSET_OFFERS: usize = 64;

/// The toolset of every tool.
pub const ALL_TOOLS: &str = "all";
/// The toolset of the tools that declare neither `write` nor `execute`.
pub const READ_ONLY_TOOLS: &str = "read-only";

/// The toolsets that exist without a definition.
const BUILT_IN: [(&str, ToolsetContent); 2] =
    [(ALL_TOOLS, ToolsetContent::All), (READ_ONLY_TOOLS, ToolsetContent::ReadOnly)];

/// Who is offered tools.
#[derive(Debug, Clone, Copy)]
pub struct Audience<'a> {
    /// The name that the client gives itself, such as `claude-code`. Nothing proves it.
    pub client: Option<&'a str>,
    /// The name of the model.
    pub model: Option<&'a str>,
    /// The principal. Its parents' offers apply to it, too.
    pub principal: &'a Principal,
    /// The toolset that the operator or the embedder chose.
    pub toolset: Option<&'a str>,
    /// The session. No offer depends on it, but a plugin may.
    pub session: &'a str,
    /// Whether a schedule or a program started the session. No offer depends on it, but a plugin may.
    pub automated: bool,
}

impl<'a> Audience<'a> {
    /// Returns the audience of a principal in a session that a person started, without anything else.
    pub fn new(principal: &'a Principal, session: &'a str) -> Self {
        Self { client: None, model: None, principal, toolset: None, session, automated: false }
    }
}

/// The error for a name that is no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no toolset {shown}{}; the toolsets are {}", meant(similar.as_ref()), known.join(", "))]
pub struct UnknownToolset {
    shown: Excerpt,
    similar: Option<ToolsetName>,
    known: Vec<String>,
}

fn meant(similar: Option<&ToolsetName>) -> String {
    similar.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// A place in the list of all toolsets.
pub(crate) type ToolsetIndex = usize;

/// What is in a toolset.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToolsetContent {
    All,
    ReadOnly,
    /// No tool: the toolset may be defined by a layer that is not known.
    Nothing,
    Listed {
        tools: Vec<ToolPattern>,
        includes: Vec<ToolsetIndex>,
        except: Vec<ToolPattern>,
    },
    /// The tools that are in both, because two layers define it.
    Both(ToolsetIndex, ToolsetIndex),
}

/// An `[[offer]]`: the toolset that some callers are offered. A missing field matches every caller.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolsetOffer {
    pub(crate) layer: Layer,
    pub(crate) clients: Option<Vec<Glob>>,
    pub(crate) models: Option<Vec<Glob>>,
    pub(crate) principals: Option<Vec<TextPattern>>,
    pub(crate) toolset: ToolsetName,
}

impl ToolsetOffer {
    fn matches(&self, audience: &Audience<'_>, principal: &str) -> bool {
        let named = |patterns: &Option<Vec<Glob>>, name: Option<&str>| match (patterns, name) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(patterns), Some(name)) => patterns.iter().any(|one| one.matches_in(name, LetterCase::Folded)),
        };
        named(&self.clients, audience.client)
            && named(&self.models, audience.model)
            && self.principals.as_ref().is_none_or(|all| all.iter().any(|one| one.matches_exactly(principal)))
    }
}

/// All toolsets and offers of a policy. A toolset includes only earlier ones in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Toolsets {
    contents: Vec<ToolsetContent>,
    names: BTreeMap<ToolsetName, ToolsetIndex>,
    pub(crate) offers: Vec<ToolsetOffer>,
}

impl Default for Toolsets {
    /// Returns the toolsets that exist without a definition.
    fn default() -> Self {
        let mut toolsets = Self { contents: Vec::new(), names: BTreeMap::new(), offers: Vec::new() };
        for (name, content) in BUILT_IN {
            // These names are valid, so none is dropped below.
            let index = toolsets.push(content);
            toolsets.names.extend(ToolsetName::new(name).ok().map(|name| (name, index)));
        }
        toolsets
    }
}

impl Toolsets {
    /// Adds a toolset without a name.
    pub(crate) fn push(&mut self, content: ToolsetContent) -> ToolsetIndex {
        self.contents.push(content);
        self.contents.len() - 1
    }

    pub(crate) fn index(&self, name: &str) -> Option<ToolsetIndex> {
        // The name comes from a caller and may be invalid, so it cannot become a key of the map.
        self.names.iter().find(|(known, _)| known.as_str() == name).map(|(_, index)| *index)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &ToolsetName> {
        self.names.keys()
    }

    /// Names a toolset. A definition of an earlier layer still applies. Only the user's policy replaces a built-in
    /// toolset.
    pub(crate) fn define(&mut self, layer: Layer, name: &ToolsetName, index: ToolsetIndex) {
        let earlier = self.index(name.as_str());
        let replaces = |earlier: ToolsetIndex| layer != Layer::Project && earlier < BUILT_IN.len();
        let index = match earlier {
            Some(earlier) if !replaces(earlier) => self.push(ToolsetContent::Both(earlier, index)),
            Some(_) | None => index,
        };
        self.names.insert(name.clone(), index);
    }

    /// Returns the tools that are offered: those of the chosen toolset that every layer offers to the caller and to
    /// each of its parents.
    pub(crate) fn select(self: &Arc<Self>, audience: &Audience<'_>) -> Result<ToolSelection, UnknownToolset> {
        let mut all_of = Vec::new();
        if let Some(name) = audience.toolset {
            all_of.push(self.index(name).ok_or_else(|| self.unknown(name))?);
        }
        for principal in audience.principal.lineage() {
            // Each layer selects for itself, so that an offer of a project never replaces one of the user.
            for layer in Layer::ALL {
                let mut written = self.offers.iter().filter(|offer| offer.layer == layer);
                let Some(offer) = written.find(|offer| offer.matches(audience, principal)) else { continue };
                let index = self.index(offer.toolset.as_str()).ok_or_else(|| self.unknown(offer.toolset.as_str()))?;
                all_of.push(index);
            }
        }
        all_of.sort_unstable();
        all_of.dedup();
        Ok(ToolSelection { toolsets: Arc::clone(self), all_of })
    }

    /// Returns the tools of one toolset.
    pub(crate) fn one(self: &Arc<Self>, name: &str) -> Result<ToolSelection, UnknownToolset> {
        let index = self.index(name).ok_or_else(|| self.unknown(name))?;
        Ok(ToolSelection { toolsets: Arc::clone(self), all_of: vec![index] })
    }

    /// Returns the toolsets that a text defines.
    pub(crate) fn defined(&self) -> impl Iterator<Item = &ToolsetName> {
        self.names.iter().filter(|(_, index)| **index >= BUILT_IN.len()).map(|(name, _)| name)
    }

    fn unknown(&self, name: &str) -> UnknownToolset {
        let similar = nearest(name, self.names().map(ToolsetName::as_str));
        let similar = similar.and_then(|similar| self.names().find(|known| known.as_str() == similar)).cloned();
        let known = self.names().map(|name| format!("`{name}`")).collect();
        UnknownToolset { shown: Excerpt::of(name), similar, known }
    }

    /// Returns whether a tool is in a toolset. `known` has the results of the toolsets that were computed before, so
    /// that no toolset is computed twice.
    fn has(&self, index: ToolsetIndex, tool: &ToolName, permissions: Permissions, known: &mut [Option<bool>]) -> bool {
        if let Some(Some(has)) = known.get(index) {
            return *has;
        }
        let has = match self.contents.get(index) {
            Some(ToolsetContent::All) => true,
            Some(ToolsetContent::ReadOnly) => {
                !permissions.contains(Permission::Write) && !permissions.contains(Permission::Execute)
            }
            Some(ToolsetContent::Nothing) | None => false,
            Some(ToolsetContent::Both(one, other)) => {
                self.has(*one, tool, permissions, known) && self.has(*other, tool, permissions, known)
            }
            Some(ToolsetContent::Listed { tools, includes, except }) => {
                let matches = |patterns: &[ToolPattern]| patterns.iter().any(|pattern| pattern.matches(tool));
                // Exceptions come first, because they also apply to the included toolsets.
                !matches(except)
                    && (matches(tools) || includes.iter().any(|index| self.has(*index, tool, permissions, known)))
            }
        };
        if let Some(place) = known.get_mut(index) {
            *place = Some(has);
        }
        has
    }

    /// Returns the patterns of the toolsets with a definition.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = &ToolPattern> {
        self.contents.iter().flat_map(|content| match content {
            ToolsetContent::Listed { tools, except, .. } => tools.iter().chain(except),
            ToolsetContent::All | ToolsetContent::ReadOnly | ToolsetContent::Nothing | ToolsetContent::Both(..) => {
                [].iter().chain(&[])
            }
        })
    }
}

/// The tools that a caller is offered.
#[derive(Debug, Clone)]
pub struct ToolSelection {
    toolsets: Arc<Toolsets>,
    /// The toolsets that a tool must all be in.
    all_of: Vec<ToolsetIndex>,
}

impl ToolSelection {
    /// Selects every tool.
    #[must_use]
    pub fn everything() -> Self {
        Self { toolsets: Arc::default(), all_of: Vec::new() }
    }

    /// Returns whether every tool is offered, because neither a toolset nor an offer applies.
    pub fn is_everything(&self) -> bool {
        self.all_of.is_empty()
    }

    /// Returns whether a tool is offered. `permissions` are all that it declares, required and optional.
    pub fn contains(&self, tool: &ToolName, permissions: Permissions) -> bool {
        let mut known = vec![None; self.toolsets.contents.len()];
        self.all_of.iter().all(|index| self.toolsets.has(*index, tool, permissions, &mut known))
    }
}
