//! The section `[approvals]`.
//!
//! This file must not know how an approver is asked.

use std::time::Duration;

use super::faults::Misplaced;
use super::limits::read_amount;
use super::node::TomlNode;
use super::words::read_words;
use crate::amount::Unit;
use crate::approvals::{
    ALWAYS_CEILING_MILLISECONDS, ApprovalSettings, PENDING_CEILING_MILLISECONDS, REPEATS_CEILING,
    SESSION_CEILING_MILLISECONDS, Unattended,
};
use crate::limits::milliseconds;

/// The keys of the section.
const KEYS: &[&str] = &["unattended", "pending-time", "session-time", "always-time", "repeats", "notify"];

/// Parses the section: its settings, and the command that is run for a new request.
pub(super) fn read(section: &TomlNode<'_>) -> Result<(ApprovalSettings, Option<Vec<String>>), Misplaced> {
    let section = section.table(KEYS)?;
    let time = |key: &str, ceiling| section.read(key, |node| read_time(node, ceiling));
    let settings = ApprovalSettings {
        unattended: section.read("unattended", |node| node.word(&Unattended::ALL, Unattended::as_str)),
        pending_time: time("pending-time", PENDING_CEILING_MILLISECONDS),
        session_time: time("session-time", SESSION_CEILING_MILLISECONDS),
        always_time: time("always-time", ALWAYS_CEILING_MILLISECONDS),
        repeats: section.read("repeats", read_repeats),
    };
    Ok((settings, section.read("notify", read_words)))
}

fn read_repeats(node: &TomlNode<'_>) -> Result<u64, Misplaced> {
    let admitted = Unit::Count.admit(read_amount(node, Unit::Count)?, REPEATS_CEILING);
    admitted.map(|repeats| repeats as u64).map_err(|fault| node.fail(fault))
}

fn read_time(node: &TomlNode<'_>, ceiling: usize) -> Result<Duration, Misplaced> {
    let unit = Unit::Milliseconds;
    let admitted = unit.admit(read_amount(node, unit)?, ceiling);
    admitted.map(milliseconds).map_err(|fault| node.fail(fault))
}
