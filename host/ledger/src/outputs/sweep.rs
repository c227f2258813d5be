//! Removes leftovers of killed processes and outdated outputs when a host opens.

use super::kept::{KEPT_TIME, OutputError, Outputs, is_id};
use crate::ledger::{LedgerChange, LedgerError, milliseconds};
use std::collections::BTreeSet;
use std::io;

impl Outputs {
    /// Removes files without a row, and rows whose file does not exist, whose writer has died, or that are too old.
    pub(super) fn sweep(&self) -> Result<(), OutputError> {
        let since = |change: &LedgerChange<'_>| change.now().saturating_sub(milliseconds(KEPT_TIME));
        // Check first with a read, because opening a host for one call should not wait for other writers.
        let files = self.files()?;
        let (holding, dead) = self.0.ledger.look(|change| change.sort_outputs(&files, since(change)))?;
        if dead.is_empty() && files.iter().all(|file| holding.contains(file)) {
            return Ok(());
        }
        let orphans = self.change(|change| {
            // List the files again inside the transaction. A row is written before its file is created, so a file
            // without a row is a leftover.
            let files = self.files().map_err(LedgerError::from)?;
            let (holding, dead) = change.sort_outputs(&files, since(change))?;
            dead.iter().try_for_each(|id| change.forget_output(id))?;
            Ok::<_, LedgerError>(files.difference(&holding).cloned().collect::<Vec<_>>())
        })?;
        self.remove(&orphans);
        Ok(())
    }

    /// Returns the files that have the name of an output. Other files are ignored.
    fn files(&self) -> io::Result<BTreeSet<String>> {
        let mut files = BTreeSet::new();
        for entry in self.0.directory.entries()? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if is_id(&name) {
                files.insert(name);
            }
        }
        Ok(files)
    }
}
