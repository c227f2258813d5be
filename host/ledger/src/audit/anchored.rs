//! Compares the audit log with its anchors: heads that were written where a program that changes the log cannot write.

use super::anchor_fault::AnchorFault;
use super::chain::MAC_BYTES;
use super::error::AuditError;
use super::line::{self, Entry};
use super::log::AuditLog;
use super::verify::Verified;
use crate::ledger::{AuditAnchor, ChainHead};
use portcullis_definitions::text::hex;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Seed of the id of a chain, so that it never equals the MAC of a line or a head.
const CHAIN_ID_SEED: [u8; MAC_BYTES] = *b"portcullis audit chain, version1";

/// Bytes of the MAC that the id of a chain has. Two of them never meet by accident.
const CHAIN_ID_BYTES: usize = 16;

/// The end of a line: its MAC, and what closes the object.
const LINE_END_BYTES: usize = 2 * MAC_BYTES + "\"}\n".len();

/// What is known of a log's agreement with its anchors while it is read.
struct Comparison<'a> {
    anchors: Vec<&'a AuditAnchor>,
    agreed: u64,
    differs: Option<&'a AuditAnchor>,
}

impl<'a> Comparison<'a> {
    /// Begins with the anchors that are sealed.
    fn with(anchors: &'a [AuditAnchor]) -> Self {
        // Anyone who can write to the database can add an anchor without a seal. It says nothing about this log.
        let mut anchors: Vec<_> = anchors.iter().filter(|anchor| anchor.is_sealed && anchor.head.entries > 0).collect();
        anchors.sort_by_key(|anchor| anchor.head.entries);
        Self { anchors, agreed: 0, differs: None }
    }

    /// Notes the MAC of an entry.
    fn note(&mut self, entry: u64, mac: &[u8]) {
        let start = self.anchors.partition_point(|anchor| anchor.head.entries < entry);
        for anchor in self.anchors[start..].iter().take_while(|anchor| anchor.head.entries == entry) {
            match anchor.head.mac.as_bytes() == mac {
                true => self.agreed = entry,
                false => self.differs = self.differs.or(Some(anchor)),
            }
        }
    }

    /// Returns how the log, which has this many entries, differs.
    fn fault(&self, entries: u64) -> Option<AnchorFault> {
        let newest = self.anchors.last()?;
        match (self.differs, self.agreed) {
            (None, _) if newest.head.entries <= entries => None,
            (None, _) => Some(AnchorFault::Cut { entries, anchored: newest.head.entries, at: newest.at }),
            (Some(other), 0) => Some(AnchorFault::Replaced { anchored: other.head.entries, at: other.at }),
            (Some(other), agreed) => Some(AnchorFault::Forked { agreed, anchored: other.head.entries, at: other.at }),
        }
    }
}

impl AuditLog {
    /// Returns what identifies the log: digits that follow from the key of the state directory.
    pub fn chain_id(&self) -> String {
        hex(&self.chain().next(&CHAIN_ID_SEED, &[])[..CHAIN_ID_BYTES])
    }

    /// Returns the end of the log, if it is another one than `known`. What it names is then on the disk, so that no
    /// crash of the machine can make the log shorter.
    ///
    /// # Errors
    /// The log cannot be read, or is not what its head says.
    pub fn moved_head(&self, known: Option<&ChainHead>) -> Result<Option<ChainHead>, AuditError> {
        let (end, log) = self.alone(|files| Ok((files.end(self.chain())?, files.log.try_clone()?)))?;
        let head = ChainHead { bytes: end.bytes, entries: end.lines, mac: hex(&end.mac) };
        if head.entries == 0 || known == Some(&head) {
            return Ok(None);
        }
        // Sync outside of the lock, because others append meanwhile. It covers at least the lines up to this head.
        log.sync_data()?;
        Ok(Some(head))
    }

    /// Compares the log with its anchors, without verifying the entries before them.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn compare_with(&self, anchors: &[AuditAnchor]) -> Result<Option<AnchorFault>, AuditError> {
        let (end, log) = self.alone(|files| Ok((files.end(self.chain())?, files.log.try_clone()?)))?;
        let mut comparison = Comparison::with(anchors);
        for anchor in comparison.anchors.clone() {
            if anchor.head.entries <= end.lines {
                // If no line ends there, the log differs. The empty text equals no MAC.
                let mac = mac_before(&log, anchor.head.bytes)?;
                comparison.note(anchor.head.entries, mac.as_deref().unwrap_or_default());
            }
        }
        Ok(comparison.fault(end.lines))
    }

    /// Calls `each` with every valid entry, from the first, and compares the log with its anchors.
    ///
    /// # Errors
    /// The audit log cannot be read, or `each` fails.
    pub fn read_anchored(
        &self,
        anchors: &[AuditAnchor],
        mut each: impl FnMut(Entry) -> io::Result<()>,
    ) -> Result<(Verified, Option<AnchorFault>), AuditError> {
        let mut comparison = Comparison::with(anchors);
        let verified = self.read_lines(|(sequence, line)| {
            let mac = line::split(line).map(|(_, mac)| mac).unwrap_or_default();
            comparison.note(sequence, mac);
            Ok(each(Entry { sequence, document: serde_json::from_slice(line)? })?)
        })?;
        let fault = comparison.fault(verified.lines);
        Ok((verified, fault))
    }
}

/// Returns the MAC of the line that ends before a byte. `None` if no line ends there.
fn mac_before(log: &File, bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(from) = bytes.checked_sub(LINE_END_BYTES as u64) else { return Ok(None) };
    let mut end = [0; LINE_END_BYTES];
    match log.read_exact_at(&mut end, from) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    Ok(end.strip_suffix(b"\"}\n").map(<[u8]>::to_vec))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::Timestamp;

    fn anchor(number: u64, entries: u64, mac: &str) -> AuditAnchor {
        let head = ChainHead { bytes: entries * 100, entries, mac: mac.to_owned() };
        AuditAnchor::sealed(number, head, Timestamp::default())
    }

    #[test]
    fn a_log_is_told_from_one_that_was_cut_back_or_replaced() {
        let anchors = [anchor(1, 2, "b"), anchor(2, 4, "d")];
        let at = Timestamp::default();
        for (macs, expected) in [
            ("abcd", None),
            ("abcdef", None),
            ("abc", Some(AnchorFault::Cut { entries: 3, anchored: 4, at })),
            ("a", Some(AnchorFault::Cut { entries: 1, anchored: 4, at })),
            ("abcx", Some(AnchorFault::Forked { agreed: 2, anchored: 4, at })),
            ("xx", Some(AnchorFault::Replaced { anchored: 2, at })),
            ("xxxx", Some(AnchorFault::Replaced { anchored: 2, at })),
            ("", Some(AnchorFault::Cut { entries: 0, anchored: 4, at })),
        ] {
            let mut comparison = Comparison::with(&anchors);
            for (entry, mac) in (1..).zip(macs.as_bytes()) {
                comparison.note(entry, &[*mac]);
            }
            assert_eq!(comparison.fault(macs.len() as u64), expected, "{macs}");
        }
    }

    #[test]
    fn an_anchor_without_a_seal_says_nothing_of_the_log() {
        let forged = AuditAnchor { is_sealed: false, ..anchor(1, 9, "x") };
        assert_eq!(Comparison::with(&[forged]).fault(1), None);
    }
}
