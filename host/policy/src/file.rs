//! Parses the text of a policy file into its [`Sections`].
//!
//! Each section has its own module, and an unknown key is an error. This file must not know who wrote the text or where
//! it is stored.

mod approvals;
mod faults;
mod limits;
mod network;
mod node;
mod place;
mod plugin;
mod rate_limit;
mod record;
mod rules;
mod serve;
mod server;
mod subject;
mod toolset;
mod when;
mod words;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::approvals::ApprovalSettings;
use crate::client_rate::ClientRateSettings;
use crate::decision::Decision;
use crate::error::{PolicyError, PolicyFault};
use crate::excerpt::Excerpt;
use crate::layer::{Layer, Trust};
use crate::limit::LimitSettings;
use crate::name::{PluginName, ToolsetName};
use crate::own_confinement::OwnConfinement;
use crate::policy_size::POLICY_BYTES;
use crate::rate_limit::RateLimit;
use crate::record_keeping::RecordSettings;
use crate::rule::Rule;
pub use faults::POLICY_ERRORS_MAX;

use faults::FaultLog;
pub(crate) use faults::Misplaced;
use node::TomlNode;
pub(crate) use place::PolicyText;
pub(crate) use plugin::{KeyReference, PlacedValue, PluginSection};
pub(crate) use toolset::{OfferSection, ToolsetSection};

/// The sections of a policy.
const SECTIONS: &[&str] = &[
    "approvals",
    "defaults",
    "host",
    "limits",
    "network",
    "offer",
    "paused",
    "plugin",
    "rate-limit",
    "record",
    "rule",
    "serve",
    "server",
    "toolset",
];

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
    pub(crate) own_confinement: Option<OwnConfinement>,
    pub(crate) name_servers: Option<Vec<SocketAddr>>,
    pub(crate) paused: Option<Arc<str>>,
    pub(crate) toolsets: BTreeMap<ToolsetName, ToolsetSection>,
    pub(crate) offers: Vec<OfferSection>,
    pub(crate) rate_limits: Vec<RateLimit>,
    pub(crate) client_rate: ClientRateSettings,
}

/// Parses one text. It is accepted or refused as a whole, whatever its trust. The error has every independent fault.
pub(crate) fn read(place: &PolicyText<'_>, layer: Layer, trust: Trust) -> Result<Sections, PolicyError> {
    if place.text.len() > POLICY_BYTES {
        return Err(place.error_at_top(PolicyFault::TooLong));
    }
    let (document, errors) = DeTable::parse_recoverable(place.text);
    let syntax = errors.iter().take(POLICY_ERRORS_MAX).map(syntax_error).collect();
    if let Some(error) = place.errors(syntax) {
        // What a damaged text means is a guess, so its keys are not looked at.
        return Err(error);
    }
    let (document, faults) = (DeValue::Table(document.into_inner()), FaultLog::default());
    let sections = {
        let top = TomlNode::top(&document, &faults);
        top.keep(read_sections(&top, place, layer, trust))
    };
    match (place.errors(faults.into_faults()), sections) {
        (Some(error), _) => Err(error),
        (None, Some(sections)) => Ok(sections),
        // Every failure adds a fault, so this cannot be.
        (None, None) => Err(place.error_at_top(PolicyFault::Empty)),
    }
}

fn read_sections(
    top: &TomlNode<'_>,
    place: &PolicyText<'_>,
    layer: Layer,
    trust: Trust,
) -> Result<Sections, Misplaced> {
    let table = top.table(SECTIONS)?;
    let mut plugins = table.read("plugin", plugin::read).unwrap_or_default();
    for (name, server) in table.read("server", server::read).unwrap_or_default() {
        if let Some(placed) = server.server.as_ref().filter(|_| plugins.contains_key(&name)) {
            top.keep::<()>(Err(placed.misplaced(PolicyFault::ServerIsPlugin)));
        }
        plugins.insert(name, server);
    }
    let (approvals, notify) = table.read("approvals", approvals::read).unwrap_or_default();
    Ok(Sections {
        default: table.read("defaults", read_default),
        limits: table.read("limits", limits::read).unwrap_or_default(),
        plugins,
        rules: table.read("rule", |section| rules::read(section, place, layer, trust)).unwrap_or_default(),
        approvals,
        notify,
        record: table.read("record", record::read).unwrap_or_default(),
        own_confinement: table.read("host", read_host).flatten(),
        name_servers: table.read("network", network::read).flatten(),
        paused: table.read("paused", rules::read_reason),
        toolsets: table.read("toolset", toolset::read).unwrap_or_default(),
        offers: table.read("offer", toolset::read_offers).unwrap_or_default(),
        client_rate: table.read("serve", serve::read).unwrap_or_default(),
        rate_limits: table.read("rate-limit", |section| rate_limit::read(section, place, layer)).unwrap_or_default(),
    })
}

/// Parses `[defaults]`. If the section exists, `decision` is required, because the user meant to set it.
fn read_default(defaults: &TomlNode<'_>) -> Result<Decision, Misplaced> {
    let section = defaults.table(&["decision"])?;
    let decision = section.require("decision")?;
    decision.text()?.parse().map_err(|fault| decision.fail(fault))
}

/// Parses `[host]`.
fn read_host(host: &TomlNode<'_>) -> Result<Option<OwnConfinement>, Misplaced> {
    let section = host.table(&["confine"])?;
    Ok(section.read("confine", |node| node.word(&OwnConfinement::ALL, OwnConfinement::as_str)))
}

fn syntax_error(error: &toml::de::Error) -> Misplaced {
    // Use only the message. The full error quotes the line, which may contain a secret.
    let message = Excerpt::of(error.message()).to_string();
    Misplaced {
        offset: error.span().map_or(0, |span| span.start),
        span: error.span().unwrap_or_default(),
        key: String::new(),
        fault: PolicyFault::Syntax { message },
    }
}
