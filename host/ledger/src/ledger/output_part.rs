//! The content of kept outputs in a ledger that many hosts share: parts, the seals that bind them to their output, and
//! the name of the folder for parts outside of the database. A ledger in a file has no such parts.

use super::backend::params;
use super::database::LedgerChange;
use super::error::LedgerError;
use super::output::{OutputOrigin, OutputRow};
use portcullis_definitions::text::hex;
use std::collections::BTreeMap;

/// A row and the digests of its parts.
type Checked = (OutputRow, Vec<u8>);

/// Digests of parts, and the seal over them.
struct SealedHashes {
    hashes: Vec<u8>,
    seal: Vec<u8>,
}

impl LedgerChange<'_> {
    /// Writes a part of an output. Fails if the output is not in the index any more.
    pub fn put_output_part(&self, id: &str, number: i64, content: &[u8]) -> Result<(), LedgerError> {
        let insert = "INSERT INTO output_part (output, number, content) VALUES (?1, ?2, ?3) \
                      ON CONFLICT (output, number) DO UPDATE SET content = excluded.content";
        // The foreign key refuses a part whose output another host has removed.
        self.transaction.execute(insert, params![id, number, content])?;
        Ok(())
    }

    /// Returns a part of an output, if it is in the database.
    pub fn output_part(&self, id: &str, number: i64) -> Result<Option<Vec<u8>>, LedgerError> {
        let select = "SELECT content FROM output_part WHERE output = ?1 AND number = ?2";
        Ok(self.transaction.row(select, params![id, number], |row| row.get(0))?)
    }

    /// Seals a finished output with the digests of its parts. Fails if it is not in the index any more.
    pub fn seal_output(&self, origin: &OutputOrigin, row: &OutputRow, hashes: &[u8]) -> Result<(), LedgerError> {
        let seal =
            sealed_members(&origin.session, &origin.principal, row, hashes, |members| self.seal.of("output", members));
        let insert = "INSERT INTO output_seal (output, hashes, seal) VALUES (?1, ?2, ?3)";
        self.transaction.execute(insert, params![&row.id, hashes, seal.as_slice()])?;
        Ok(())
    }

    /// Returns an output that a session of a principal may read, with the digests of its parts.
    ///
    /// # Errors
    /// The seal is not valid, or the ledger cannot be read.
    pub fn sealed_output(&self, session: &str, principal: &str, id: &str) -> Result<Option<Checked>, LedgerError> {
        let Some(row) = self.output(session, principal, id)? else { return Ok(None) };
        let select = "SELECT hashes, seal FROM output_seal WHERE output = ?1";
        let read = |row: &super::backend::Row<'_>| Ok(SealedHashes { hashes: row.get(0)?, seal: row.get(1)? });
        let sealed = self.transaction.row(select, params![id], read)?;
        // A finished output always has a seal, so a missing one is damage too.
        match sealed.filter(|sealed| self.holds(session, principal, &row, sealed)) {
            Some(sealed) => Ok(Some((row, sealed.hashes))),
            None => Err(LedgerError::Seal(id.to_owned())),
        }
    }

    /// Returns all outputs that a session of a principal may read and that have a valid seal, newest first.
    pub fn sealed_outputs(&self, session: &str, principal: &str) -> Result<Vec<OutputRow>, LedgerError> {
        let select = "SELECT output, hashes, seal FROM output_seal WHERE output IN \
                      (SELECT id FROM output WHERE session = ?1 AND principal = ?2 AND owner IS NULL)";
        let read = |row: &super::backend::Row<'_>| {
            Ok((row.get::<String>(0)?, SealedHashes { hashes: row.get(1)?, seal: row.get(2)? }))
        };
        let seals: BTreeMap<_, _> =
            self.transaction.rows(select, params![session, principal], read)?.into_iter().collect();
        let mut rows = self.outputs(session, principal)?;
        rows.retain(|row| seals.get(&row.id).is_some_and(|sealed| self.holds(session, principal, row, sealed)));
        Ok(rows)
    }

    /// Returns the name of this ledger's folder in a place for outputs. The key is part of it, so that an
    /// administrator of the database cannot choose the folder of another ledger.
    pub fn output_folder(&self) -> Result<String, LedgerError> {
        let seed: String =
            self.transaction.only("SELECT seed FROM output_folder WHERE id = 1", params![], |row| row.get(0))?;
        Ok(hex(&self.seal.of("output folder", &[&seed])))
    }

    fn holds(&self, session: &str, principal: &str, row: &OutputRow, sealed: &SealedHashes) -> bool {
        let hashes = &sealed.hashes;
        sealed_members(session, principal, row, hashes, |members| self.seal.holds("output", members, &sealed.seal))
    }
}

/// Passes on everything that the seal of an output protects.
fn sealed_members<T>(
    session: &str,
    principal: &str,
    row: &OutputRow,
    hashes: &[u8],
    with: impl FnOnce(&[&str]) -> T,
) -> T {
    let OutputRow { id, call, tool, name, media_type, bytes, lines, complete, marks, kept_at } = row;
    let (bytes, kept_at) = (bytes.to_string(), kept_at.to_string());
    // A name and a number of lines can be absent, which is not the same as empty.
    let lines = lines.map_or_else(|| "-".to_owned(), |lines| lines.to_string());
    let name = name.as_ref().map_or_else(|| "-".to_owned(), |name| format!("+{name}"));
    let complete = if *complete { "complete" } else { "incomplete" };
    let (marks, hashes) = (hex(marks), hex(hashes));
    with(&[id, session, principal, call, tool, media_type, &bytes, &lines, complete, &marks, &kept_at, &name, &hashes])
}
