//! The section `[record]`.
//!
//! It must not know where records are kept.

use super::node::{Misplaced, Node};
use crate::record_keeping::{Durability, Payloads, RecordSettings};

/// Reads what the section sets.
pub(super) fn read(section: &Node<'_>) -> Result<RecordSettings, Misplaced> {
    let section = section.table(&["payloads", "durable"])?;
    let payloads = section.get("payloads").map(|node| node.word(&Payloads::ALL, Payloads::as_str));
    let durable = section.get("durable").map(|node| node.word(&Durability::ALL, Durability::as_str));
    Ok(RecordSettings { payloads: payloads.transpose()?, durable: durable.transpose()? })
}
