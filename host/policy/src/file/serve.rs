//! The section `[serve]`.
//!
//! This file must not know how a server counts calls.

use super::faults::Misplaced;
use super::node::TomlNode;
use super::rate_limit::read_count;
use crate::client_rate::ClientRateSettings;
use crate::rate_limit::RATE_CALLS_MAX;

/// Parses the section.
pub(super) fn read(section: &TomlNode<'_>) -> Result<ClientRateSettings, Misplaced> {
    let section = section.table(&["calls-per-second", "calls-burst"])?;
    let calls = |key| section.read(key, |node| read_count(node, RATE_CALLS_MAX));
    Ok(ClientRateSettings { calls_per_second: calls("calls-per-second"), calls_burst: calls("calls-burst") })
}
