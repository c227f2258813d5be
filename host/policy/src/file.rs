//! Parses the text of a policy file into its [`Sections`].
//!
//! Each section has its own module, and an unknown key is an error. This file must not know who wrote the text or where
//! it is stored.

mod approvals;
mod limits;
mod network;
mod node;
mod place;
mod plugin;
mod record;
mod rules;
mod subject;
mod when;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use toml::de::{DeTable, DeValue};

use crate::approvals::ApprovalSettings;
use crate::decision::Decision;
use crate::error::{PolicyError, PolicyFault};
use crate::excerpt::Excerpt;
use crate::layer::{Layer, Trust};
use crate::limit::LimitSettings;
use crate::name::PluginName;
use crate::policy_size::POLICY_BYTES;
use crate::record_keeping::RecordSettings;
use crate::rule::Rule;
pub(crate) use node::Misplaced;
use node::TomlNode;
pub(crate) use place::PolicyText;
pub(crate) use plugin::PluginSection;

/// The sections of a policy.
const SECTIONS: &[&str] = &["approvals", "defaults", "limits", "network", "plugin", "record", "rule"];

/// The parsed content of one policy text.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub(crate) default: Option<Decision>,
    pub(crate) limits: LimitSettings,
    pub(crate) plugins: BTreeMap<PluginName, PluginSection>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) approvals: ApprovalSettings,
    /// The command that is run for a new approval request.
    pub(crate) notify: Option<Vec<String>>,
    pub(crate) record: RecordSettings,
    pub(crate) name_servers: Option<Vec<SocketAddr>>,
}

/// Parses one text. It is accepted or refused as a whole, whatever its trust.
pub(crate) fn read(place: &PolicyText<'_>, layer: Layer, trust: Trust) -> Result<Sections, PolicyError> {
    if place.text.len() > POLICY_BYTES {
        return Err(place.error_at_top(PolicyFault::TooLong));
    }
    let document = DeTable::parse(place.text).map_err(|error| place.error(syntax_error(&error)))?;
    let document = DeValue::Table(document.into_inner());
    read_sections(&TomlNode::top(&document), place, layer, trust).map_err(|misplaced| place.error(misplaced))
}

fn read_sections(
    top: &TomlNode<'_>,
    place: &PolicyText<'_>,
    layer: Layer,
    trust: Trust,
) -> Result<Sections, Misplaced> {
    let table = top.table(SECTIONS)?;
    let mut sections = Sections::default();
    if let Some(section) = table.get("defaults") {
        sections.default = Some(read_default(section)?);
    }
    if let Some(section) = table.get("limits") {
        sections.limits = limits::read(section)?;
    }
    if let Some(section) = table.get("plugin") {
        sections.plugins = plugin::read(section)?;
    }
    if let Some(section) = table.get("rule") {
        sections.rules = rules::read(section, place, layer, trust)?;
    }
    if let Some(section) = table.get("approvals") {
        sections.approvals = approvals::read(section)?;
        sections.notify = approvals::read_notify(section)?;
    }
    if let Some(section) = table.get("record") {
        sections.record = record::read(section)?;
    }
    if let Some(section) = table.get("network") {
        sections.name_servers = network::read(section)?;
    }
    Ok(sections)
}

/// Parses `[defaults]`. If the section exists, `decision` is required, because the user meant to set it.
fn read_default(defaults: &TomlNode<'_>) -> Result<Decision, Misplaced> {
    let section = defaults.table(&["decision"])?;
    let decision = section.require("decision")?;
    decision.text()?.parse().map_err(|fault| decision.fail(fault))
}

fn syntax_error(error: &toml::de::Error) -> Misplaced {
    // Use only the message. The full error quotes the line, which may contain a secret.
    let message = Excerpt::of(error.message()).to_string();
    Misplaced {
        offset: error.span().map_or(0, |span| span.start),
        key: String::new(),
        fault: PolicyFault::Syntax { message },
    }
}
