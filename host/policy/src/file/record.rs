//! The section `[record]`.
//!
//! This file must not know where the audit log is stored.

use super::faults::Misplaced;
use super::node::TomlNode;
use crate::record_keeping::{Durability, Payloads, RecordSettings, TargetKeeping};

/// Parses the section.
pub(super) fn read(section: &TomlNode<'_>) -> Result<RecordSettings, Misplaced> {
    let section = section.table(&["payloads", "targets", "durable"])?;
    Ok(RecordSettings {
        payloads: section.read("payloads", |node| node.word(&Payloads::ALL, Payloads::as_str)),
        targets: section.read("targets", |node| node.word(&TargetKeeping::ALL, TargetKeeping::as_str)),
        durable: section.read("durable", |node| node.word(&Durability::ALL, Durability::as_str)),
    })
}
