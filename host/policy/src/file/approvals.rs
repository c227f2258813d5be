//! The section `[approvals]`.
//!
//! This file must not know how an approver is asked.

use std::time::Duration;

use super::limits::read_amount;
use super::node::{Misplaced, TomlNode};
use crate::amount::Unit;
use crate::approvals::{
    ALWAYS_CEILING_MILLISECONDS, ApprovalSettings, PENDING_CEILING_MILLISECONDS, REPEATS_CEILING,
    SESSION_CEILING_MILLISECONDS, Unattended,
};
use crate::binding;
use crate::limits::milliseconds;

/// The keys of the section.
const KEYS: &[&str] = &["unattended", "pending-time", "session-time", "always-time", "repeats", "notify"];

/// Parses the command of the section that is run for a new request: the program and its arguments.
pub(super) fn read_notify(section: &TomlNode<'_>) -> Result<Option<Vec<String>>, Misplaced> {
    let section = section.table(KEYS)?;
    let Some(node) = section.get("notify") else { return Ok(None) };
    let words = node.list()?;
    let words: Vec<&str> = words.iter().map(TomlNode::text).collect::<Result<_, _>>()?;
    binding::read_words(&words).map(Some).map_err(|fault| node.fail(fault))
}

/// Parses the section.
pub(super) fn read(section: &TomlNode<'_>) -> Result<ApprovalSettings, Misplaced> {
    let section = section.table(KEYS)?;
    let time = |key: &str, ceiling| section.get(key).map(|node| read_time(node, ceiling)).transpose();
    let unattended = section.get("unattended");
    Ok(ApprovalSettings {
        unattended: unattended.map(|node| node.word(&Unattended::ALL, Unattended::as_str)).transpose()?,
        pending_time: time("pending-time", PENDING_CEILING_MILLISECONDS)?,
        session_time: time("session-time", SESSION_CEILING_MILLISECONDS)?,
        always_time: time("always-time", ALWAYS_CEILING_MILLISECONDS)?,
        repeats: section.get("repeats").map(read_repeats).transpose()?,
    })
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
