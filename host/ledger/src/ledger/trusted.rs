//! Trusted policies. Each is an identity: a hash over the place, the text and the places of the grants. The column is
//! called `sha256`. A row of an earlier version has the hash of a text alone, which is not an identity.

use super::backend::params;
use super::database::LedgerChange;
use super::error::LedgerError;

/// The table's name in its seals.
const TABLE: &str = "trusted";

impl LedgerChange<'_> {
    /// Trusts an identity. The path is for display, and for [`LedgerChange::distrust_path`].
    pub fn trust(&self, sha256: &str, path: &str) -> Result<(), LedgerError> {
        self.sealed.set(true);
        let at = self.now();
        let seal = self.seal.of(TABLE, &[sha256, path, &at.to_string()]);
        let insert = "INSERT INTO trusted (sha256, path, trusted_at, seal) VALUES (?1, ?2, ?3, ?4) \
                      ON CONFLICT (sha256) DO UPDATE SET path = ?2, trusted_at = ?3, seal = ?4";
        self.transaction.execute(insert, params![sha256, path, at, seal.as_slice()])?;
        Ok(())
    }

    /// Removes the trust in an identity. Returns false if it was not trusted.
    pub fn distrust(&self, sha256: &str) -> Result<bool, LedgerError> {
        // A removal makes a generation too. Otherwise, an older copy that still has the row would not be detected.
        self.sealed.set(true);
        Ok(self.transaction.execute("DELETE FROM trusted WHERE sha256 = ?1", params![sha256])? > 0)
    }

    /// Removes the trust in everything at a path. Returns false if there was none.
    pub fn distrust_path(&self, path: &str) -> Result<bool, LedgerError> {
        self.sealed.set(true);
        Ok(self.transaction.execute("DELETE FROM trusted WHERE path = ?1", params![path])? > 0)
    }

    /// Returns whether an identity is trusted.
    pub fn is_trusted(&self, sha256: &str) -> Result<bool, LedgerError> {
        let select = "SELECT path, trusted_at, seal FROM trusted WHERE sha256 = ?1";
        let found: Option<(String, i64, Vec<u8>)> =
            self.transaction.row(select, params![sha256], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(found.is_some_and(|(path, at, seal)| self.seal.holds(TABLE, &[sha256, &path, &at.to_string()], &seal)))
    }
}
