//! From the text of a policy file to its [`Sections`], and what may stand in them.
//!
//! Each section has a file of its own, and each key is either known or refused. It must not know who wrote the text or
//! where it is kept.

mod approvals;
mod limits;
mod network;
mod node;
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
use crate::policy::POLICY_BYTES;
use crate::record_keeping::RecordSettings;
use crate::rule::Rule;
pub(crate) use node::Misplaced;
use node::Node;
pub(crate) use plugin::PluginSection;

/// The sections of a policy.
const SECTIONS: &[&str] = &["approvals", "defaults", "limits", "network", "plugin", "record", "rule"];

/// What one text says.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub(crate) default: Option<Decision>,
    pub(crate) limits: LimitSettings,
    pub(crate) plugins: BTreeMap<PluginName, PluginSection>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) approvals: ApprovalSettings,
    pub(crate) record: RecordSettings,
    pub(crate) name_servers: Option<Vec<SocketAddr>>,
}

/// Reads one text. It is accepted as a whole or refused as a whole, whatever its trust.
pub(crate) fn read(place: &Place<'_>, layer: Layer, trust: Trust) -> Result<Sections, PolicyError> {
    if place.text.len() > POLICY_BYTES {
        return Err(place.error_at_top(PolicyFault::TooLong));
    }
    let document = DeTable::parse(place.text).map_err(|error| place.error(syntax_error(&error)))?;
    let document = DeValue::Table(document.into_inner());
    read_sections(&Node::top(&document), place, layer, trust).map_err(|misplaced| place.error(misplaced))
}

fn read_sections(top: &Node<'_>, place: &Place<'_>, layer: Layer, trust: Trust) -> Result<Sections, Misplaced> {
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
    }
    if let Some(section) = table.get("record") {
        sections.record = record::read(section)?;
    }
    if let Some(section) = table.get("network") {
        sections.name_servers = network::read(section)?;
    }
    Ok(sections)
}

/// Reads `[defaults]`. A section that is there has a decision: somebody meant to write one.
fn read_default(defaults: &Node<'_>) -> Result<Decision, Misplaced> {
    let section = defaults.table(&["decision"])?;
    let decision = section.require("decision")?;
    decision.text()?.parse().map_err(|fault| decision.fail(fault))
}

fn syntax_error(error: &toml::de::Error) -> Misplaced {
    // Only the message: the error as a whole would quote the line, which may hold a secret.
    let message = Excerpt::of(error.message()).to_string();
    Misplaced {
        offset: error.span().map_or(0, |span| span.start),
        key: String::new(),
        fault: PolicyFault::Syntax { message },
    }
}

/// The text, for lines and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'t> {
    pub(crate) text: &'t str,
}

impl Place<'_> {
    /// The line on which `offset` is, counted from 1.
    fn line(&self, offset: usize) -> usize {
        1 + self.before(offset).bytes().filter(|byte| *byte == b'\n').count()
    }

    /// The lines of ascending offsets; each counts on from the one before, since counting all from the top takes
    /// quadratic time.
    fn lines(&self, offsets: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
        offsets.scan((0, 1), |(counted, line), offset| {
            let between = self.text.as_bytes().get(*counted..offset).unwrap_or_default();
            *line += between.iter().filter(|byte| **byte == b'\n').count();
            *counted = offset;
            Some(*line)
        })
    }

    fn column(&self, offset: usize) -> usize {
        let line = self.before(offset).rsplit('\n').next().unwrap_or_default();
        1 + line.chars().count()
    }

    fn before(&self, offset: usize) -> &str {
        let offset = offset.min(self.text.len());
        self.text.get(..offset).unwrap_or(self.text)
    }

    /// The error for what is wrong with the text as a whole.
    pub(crate) fn error_at_top(&self, fault: PolicyFault) -> PolicyError {
        self.error(Misplaced { offset: 0, key: String::new(), fault })
    }

    /// The error for what is wrong at one place.
    pub(crate) fn error(&self, misplaced: Misplaced) -> PolicyError {
        PolicyError {
            line: self.line(misplaced.offset),
            column: self.column(misplaced.offset),
            key: misplaced.key,
            fault: misplaced.fault,
        }
    }
}
