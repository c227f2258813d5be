//! The sections `[toolset.NAME]` and `[[offer]]`.
//!
//! This file must not know which toolsets exist.

use std::collections::BTreeMap;

use super::faults::Misplaced;
use super::node::{TomlNode, TomlTable};
use super::plugin::PlacedValue;
use super::subject;
use crate::error::PolicyFault;
use crate::glob::Glob;
use crate::name::ToolsetName;
use crate::rule::ToolPattern;
use crate::text::TextPattern;
use crate::toolset::{TOOLSET_OFFERS, TOOLSET_PATTERNS, TOOLSETS_MAX};

/// The toolset of one section.
#[derive(Debug)]
pub(crate) struct ToolsetSection {
    pub(crate) tools: Vec<ToolPattern>,
    pub(crate) except: Vec<ToolPattern>,
    /// The toolsets whose tools it has, too.
    pub(crate) includes: Vec<PlacedValue<ToolsetName>>,
}

/// One `[[offer]]`. A missing field matches every caller.
#[derive(Debug)]
pub(crate) struct OfferSection {
    pub(crate) clients: Option<Vec<Glob>>,
    pub(crate) models: Option<Vec<Glob>>,
    pub(crate) principals: Option<Vec<TextPattern>>,
    pub(crate) toolset: PlacedValue<ToolsetName>,
}

/// Parses every toolset.
pub(super) fn read(section: &TomlNode<'_>) -> Result<BTreeMap<ToolsetName, ToolsetSection>, Misplaced> {
    let entries = section.entries()?;
    if entries.len() > TOOLSETS_MAX {
        return Err(section.fail(PolicyFault::TooMany { most: TOOLSETS_MAX }));
    }
    let mut toolsets = BTreeMap::new();
    for (name, node) in entries {
        let name = node.keep(ToolsetName::new(name).map_err(|fault| node.fail(fault)));
        let toolset = node.keep(read_toolset(&node));
        toolsets.extend(name.zip(toolset));
    }
    Ok(toolsets)
}

fn read_toolset(node: &TomlNode<'_>) -> Result<ToolsetSection, Misplaced> {
    let table = node.table(&["tools", "toolsets", "except"])?;
    // A toolset with exceptions alone would be empty.
    if table.get("toolsets").is_none() && !table.is_misspelt("tools") {
        table.require("tools")?;
    }
    Ok(ToolsetSection {
        tools: table.read("tools", read_patterns).unwrap_or_default(),
        except: table.read("except", read_patterns).unwrap_or_default(),
        includes: table.read("toolsets", read_includes).unwrap_or_default(),
    })
}

fn read_patterns(node: &TomlNode<'_>) -> Result<Vec<ToolPattern>, Misplaced> {
    let elements = node.list_of_at_most(TOOLSET_PATTERNS)?;
    Ok(node.each(&elements, |element| ToolPattern::new(element.text()?).map_err(|fault| element.fail(fault))))
}

fn read_includes(node: &TomlNode<'_>) -> Result<Vec<PlacedValue<ToolsetName>>, Misplaced> {
    Ok(node.each(&node.list_of_at_most(TOOLSETS_MAX)?, read_name))
}

fn read_name(node: &TomlNode<'_>) -> Result<PlacedValue<ToolsetName>, Misplaced> {
    let name = ToolsetName::new(node.text()?).map_err(|fault| node.fail(fault))?;
    Ok(PlacedValue::new(name, node))
}

/// Parses every offer.
pub(super) fn read_offers(section: &TomlNode<'_>) -> Result<Vec<OfferSection>, Misplaced> {
    let nodes = section.list_of_at_most(TOOLSET_OFFERS)?;
    Ok(nodes.iter().filter_map(read_offer).collect())
}

/// Parses an offer. Notes every fault of it. Returns none if there is no offer without the faulty keys.
fn read_offer(node: &TomlNode<'_>) -> Option<OfferSection> {
    let table = node.keep(node.table(&["client", "model", "principal", "toolset"]))?;
    let offer = OfferSection {
        clients: read_names(&table, "client"),
        models: read_names(&table, "model"),
        principals: table.read("principal", subject::read_principals),
        toolset: table.need("toolset", read_name)?,
    };
    Some(offer)
}

fn read_names(table: &TomlTable<'_, '_>, key: &str) -> Option<Vec<Glob>> {
    let read = |node: &TomlNode<'_>| {
        let nodes = node.one_or_more()?;
        Ok(node.each(&nodes, |one| Glob::new(one.text()?).map_err(|fault| one.fail(fault))))
    };
    table.read(key, read)
}
