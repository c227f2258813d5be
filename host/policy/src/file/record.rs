//! The section `[record]`.
//!
//! This file must not know where the audit log is stored.

use super::node::{Misplaced, TomlNode};
use crate::record_keeping::{Durability, Payloads, RecordSettings, TargetKeeping};

/// Parses the section.
pub(super) fn read(section: &TomlNode<'_>) -> Result<RecordSettings, Misplaced> {
    let section = section.table(&["payloads", "targets", "durable"])?;
    let payloads = section.get("payloads").map(|node| node.word(&Payloads::ALL, Payloads::as_str));
    let targets = section.get("targets").map(|node| node.word(&TargetKeeping::ALL, TargetKeeping::as_str));
    let durable = section.get("durable").map(|node| node.word(&Durability::ALL, Durability::as_str));
    Ok(RecordSettings { payloads: payloads.transpose()?, targets: targets.transpose()?, durable: durable.transpose()? })
}
